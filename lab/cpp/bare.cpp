// The bare exchange of `lapwing-lab ping-pong` as a child process of the laboratory: two words, each on
// lines of its own and written by one thread. The request is `ping-pong SLOTS EXCHANGES PLACEMENT`;
// it has no slots.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "crew.hpp"
#include "request.hpp"
#include "serve.hpp"

namespace {

struct alignas(128) Word {
    std::atomic<std::uint64_t> value{0};

    void wait_for(std::uint64_t number) const {
        while (value.load(std::memory_order_acquire) != number) {
        }
    }
};

std::string reply(const std::string& line) {
    Request request(line);
    const std::string what = request.word();
    if (what != "ping-pong") {
        throw std::runtime_error("unknown request: " + what);
    }
    request.number();
    const std::uint64_t exchanges = request.number();
    Word there, back;
    std::uint64_t sum = 0;
    Crew crew(request.placement());
    crew.enlist([&] {
        std::uint64_t total = 0;
        for (std::uint64_t number = 1; number <= exchanges; ++number) {
            there.value.store(number, std::memory_order_release);
            back.wait_for(number);
            total += number;
        }
        sum = total;
    });
    crew.enlist([&] {
        for (std::uint64_t number = 1; number <= exchanges; ++number) {
            there.wait_for(number);
            back.value.store(number, std::memory_order_release);
        }
    });
    const Timing timing = crew.run();
    return "ok " + std::to_string(timing.elapsed_ns) + ' ' + std::to_string(timing.cpu_ns) + ' ' +
           std::to_string(exchanges) + ' ' + std::to_string(sum);
}

}  // namespace

int main() { serve(reply); }
