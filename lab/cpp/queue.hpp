// What a rival must offer. `RIVAL` names the header that is compiled in; it defines `struct Rival`
// with
//
//   template <class T> using Spsc;   an arc with one producer
//   template <class T> using Mpsc;   an arc with several
//
// and each of the two has
//
//   Queue(std::size_t capacity, std::size_t producers);   its memory touched
//   Sender sender();         called once for each producer, before the clock runs
//   Receiver receiver();     called once
//   void Sender::send(const T&);                          waits while it is full
//   void Sender::send_all(const T*, std::size_t);         in bulk, where the library can
//   T Receiver::receive();                                waits while it is empty
//   std::size_t Receiver::drain(F);                       waits for one, gives F(T&) what is there
#pragma once

#include <cstddef>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
inline void pause_cpu() { _mm_pause(); }
#elif defined(__aarch64__)
inline void pause_cpu() { asm volatile("isb" ::: "memory"); }
#else
inline void pause_cpu() {}
#endif

// The most events that a bulk operation takes at once: a few cache lines of copies.
constexpr std::size_t MAX_BULK = 64;

// How the ends of a queue wait that cannot wait itself: a moment of spinning, then yields.
class Backoff {
public:
    void wait() {
        if (spins_ < MOST_SPINS) {
            ++spins_;
            pause_cpu();
        } else {
            std::this_thread::yield();
        }
    }

private:
    // About a microsecond.
    static constexpr unsigned MOST_SPINS = 32;
    unsigned spins_ = 0;
};

// Waits until `attempt` succeeds.
template <class Attempt>
void until(Attempt attempt) {
    Backoff backoff;
    while (!attempt()) {
        backoff.wait();
    }
}

// Sends one by one: for a queue without a bulk operation.
template <class Sender, class T>
void send_each(Sender& sender, const T* messages, std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
        sender.send(messages[index]);
    }
}

// Receives one: for a queue without a bulk operation.
template <class Receiver, class F>
std::size_t drain_one(Receiver& receiver, F& use) {
    auto message = receiver.receive();
    use(message);
    return 1;
}
