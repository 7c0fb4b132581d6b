// What is moved: the same bytes, the same words and the same digest as `perf/src/event.rs`.
#pragma once

#include <cstddef>
#include <cstdint>

template <std::size_t Pad>
struct Padding {
    std::uint64_t words[Pad];
};

// An array of no words is not C++; an empty base takes no room.
template <>
struct Padding<0> {};

// An event in a queue: `Pad` words behind the first one.
template <std::size_t Pad>
struct Message : Padding<Pad> {
    static constexpr std::size_t pad = Pad;

    std::uint32_t value;
    std::uint8_t left;
    std::uint8_t right;
    std::uint8_t reserved[2];

    // Writes every word, as the producer numbered `origin`.
    void write(std::uint32_t number, std::uint8_t origin) {
        value = number;
        left = origin;
        right = 0;
        reserved[0] = reserved[1] = 0;
        if constexpr (Pad > 0) {
            for (std::size_t index = 0; index < Pad; ++index) {
                this->words[index] = std::uint64_t{number} + index;
            }
        }
    }

    // Reads every word.
    std::uint64_t digest() const {
        std::uint64_t sum = value;
        if constexpr (Pad > 0) {
            for (std::size_t index = 0; index < Pad; ++index) {
                sum += this->words[index];
            }
        }
        return sum;
    }
};

static_assert(sizeof(Message<0>) == 8 && sizeof(Message<3>) == 32);
static_assert(sizeof(Message<7>) == 64 && sizeof(Message<31>) == 256);
