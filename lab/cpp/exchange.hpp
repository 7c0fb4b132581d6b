// Numbers through one queue and back through another: the answer is the sum of what came back.
#pragma once

#include "topologies.hpp"

inline Finish ping_pong(std::size_t slots, std::uint64_t exchanges,
                        const Placement& placement) {
    Single<std::uint64_t> there(slots), back(slots);
    std::uint64_t sum = 0;
    Crew crew(placement);
    crew.enlist([&] {
        std::uint64_t total = 0;
        for (std::uint64_t number = 1; number <= exchanges; ++number) {
            there.sender().send(number);
            total += back.receiver.receive();
        }
        sum = total;
    });
    crew.enlist([&] {
        for (std::uint64_t number = 1; number <= exchanges; ++number) {
            back.sender().send(there.receiver.receive());
        }
    });
    const Timing timing = crew.run();
    return {timing, exchanges, {sum}};
}
