// The bare exchange of `lapwing ping-pong` in C++: two counters, each written by its own thread.
// Arguments: exchanges. Prints nanoseconds and the sum of what came back.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <thread>

namespace {

struct alignas(128) Word {
    std::atomic<std::uint64_t> value{0};
};

Word there;
Word back;

void echo(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t number = first; number <= last; ++number) {
        while (there.value.load(std::memory_order_acquire) != number) {
        }
        back.value.store(number, std::memory_order_release);
    }
}

std::uint64_t call(std::uint64_t first, std::uint64_t last) {
    std::uint64_t sum = 0;
    for (std::uint64_t number = first; number <= last; ++number) {
        there.value.store(number, std::memory_order_release);
        std::uint64_t answer;
        do {
            answer = back.value.load(std::memory_order_acquire);
        } while (answer != number);
        sum += answer;
    }
    return sum;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: ping_pong EXCHANGES\n";
        return 2;
    }
    const std::uint64_t exchanges = std::strtoull(arguments[1], nullptr, 10);
    const std::uint64_t warm_up = 1000;
    std::thread other(echo, 1, warm_up + exchanges);
    call(1, warm_up);
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t sum = call(warm_up + 1, warm_up + exchanges);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    other.join();
    std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() << ' '
              << sum - warm_up * exchanges << '\n';
    return 0;
}
