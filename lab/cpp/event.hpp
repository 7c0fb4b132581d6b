// What is moved: the same bytes, the same words and the same digest as `lab/src/load/event.rs`.
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

    // The number and the properties: 32, 8 and 8 bits from the lowest on.
    std::uint64_t first;

    // Writes every word, as the producer numbered `origin`.
    void write(std::uint32_t number, std::uint8_t origin) {
        first = number | std::uint64_t{origin} << LEFT_SHIFT;
        if constexpr (Pad > 0) {
            for (std::size_t index = 0; index < Pad; ++index) {
                this->words[index] = number;
            }
        }
    }

    std::uint32_t value() const { return static_cast<std::uint32_t>(first); }
    std::uint8_t left() const { return static_cast<std::uint8_t>(first >> LEFT_SHIFT); }
    std::uint8_t right() const { return static_cast<std::uint8_t>(first >> RIGHT_SHIFT); }

    // Puts `number` in the place of its number.
    void change(std::uint32_t number) { first = first >> LEFT_SHIFT << LEFT_SHIFT | number; }

    // Leaves a property, of an event that had none.
    void leave_left(std::uint8_t property) { first |= std::uint64_t{property} << LEFT_SHIFT; }
    void leave_right(std::uint8_t property) { first |= std::uint64_t{property} << RIGHT_SHIFT; }

    // Reads every word.
    std::uint64_t digest() const {
        std::uint64_t sum = value();
        if constexpr (Pad > 0) {
            for (std::size_t index = 0; index < Pad; ++index) {
                sum += this->words[index];
            }
        }
        return sum;
    }

private:
    static constexpr unsigned LEFT_SHIFT = 32;
    static constexpr unsigned RIGHT_SHIFT = 40;
};

static_assert(sizeof(Message<0>) == 8 && sizeof(Message<3>) == 32);
static_assert(sizeof(Message<7>) == 64 && sizeof(Message<31>) == 256);
