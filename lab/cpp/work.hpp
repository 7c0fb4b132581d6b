// What the stages compute: the same numbers as `lab/src/load/fold.rs` and `lab/src/load/topologies`.
#pragma once

#include <cstdint>

inline std::uint64_t rotate_left(std::uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

inline std::uint32_t rotate_left(std::uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

// A running answer over digests, in order.
struct Fold {
    std::uint64_t answer = 0x9E3779B97F4A7C15u;

    void add(std::uint64_t digest) { answer = rotate_left(answer, 5) ^ digest; }
};

// The value after the first step of a pipeline.
inline std::uint32_t step_one(std::uint32_t value, std::uint64_t digest) {
    return rotate_left(value, 7) ^ static_cast<std::uint32_t>(digest);
}

// The value after the second step.
inline std::uint32_t step_two(std::uint32_t value, std::uint64_t digest) {
    return value * 0x9E3779B1u + static_cast<std::uint32_t>(digest);
}

inline std::uint8_t fizz(std::uint64_t digest) { return digest % 3 == 0; }
inline std::uint8_t buzz(std::uint64_t digest) { return digest % 5 == 0; }

// What the joining stage of a diamond computes.
struct FizzBuzz {
    std::uint64_t both = 0;
    Fold fold;

    void add(std::uint64_t digest, std::uint8_t fizz, std::uint8_t buzz) {
        both += fizz & buzz;
        fold.add(digest ^ (std::uint64_t{fizz} << 62 | std::uint64_t{buzz} << 63));
    }
};
