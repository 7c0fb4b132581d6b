// Counts of times, rounded down to three significant digits as HdrHistogram does: values below 2048
// as they are, larger ones by their eleven highest bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

class Histogram {
public:
    void record(std::int64_t nanoseconds) {
        const std::int64_t within = std::clamp<std::int64_t>(nanoseconds, 1, MOST_NS);
        const std::uint64_t value = static_cast<std::uint64_t>(within);
        const unsigned bits = 64 - static_cast<unsigned>(__builtin_clzll(value));
        const unsigned shift = bits > KEPT_BITS ? bits - KEPT_BITS : 0;
        ++counts_[shift * HALF + (value >> shift)];
    }

    // `value:count`, separated by commas, for every value that occurred.
    void print(std::ostream& output) const {
        const char* separator = "";
        for (std::size_t index = 0; index < counts_.size(); ++index) {
            if (counts_[index] > 0) {
                output << separator << value_of(index) << ':' << counts_[index];
                separator = ",";
            }
        }
    }

private:
    static constexpr std::int64_t MOST_NS = 100'000'000'000;
    static constexpr unsigned KEPT_BITS = 11;
    static constexpr std::size_t HALF = 1 << (KEPT_BITS - 1);
    // A hundred seconds have 37 bits.
    static constexpr std::size_t LENGTH = (37 - KEPT_BITS + 2) * HALF;

    static std::uint64_t value_of(std::size_t index) {
        const std::size_t lap = index / HALF;
        const unsigned shift = lap > 1 ? static_cast<unsigned>(lap - 1) : 0;
        return static_cast<std::uint64_t>(index - shift * HALF) << shift;
    }

    std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(LENGTH);
};
