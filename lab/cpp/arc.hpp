// An arc of a topology: a queue and its ends, and what a worker does at them. A worker knows how
// many events to expect, so a stream needs no mark at its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "queue.hpp"
#include "work.hpp"

// Bytes between what two threads write: a pair of cache lines, as they are fetched in pairs.
constexpr std::size_t APART = 128;

template <class Queue>
class Arc {
public:
    using Sender = decltype(std::declval<Queue&>().sender());
    using Receiver = decltype(std::declval<Queue&>().receiver());

    explicit Arc(std::size_t capacity, std::size_t producers = 1)
        : queue_(capacity, producers), receiver(queue_.receiver()) {
        for (std::size_t producer = 0; producer < producers; ++producer) {
            senders_.emplace_back(queue_);
        }
    }

    Sender& sender(std::size_t producer = 0) { return senders_[producer].end; }

private:
    struct alignas(APART) End {
        Sender end;
        explicit End(Queue& queue) : end(queue.sender()) {}
    };

    alignas(APART) Queue queue_;
    std::deque<End> senders_;

public:
    alignas(APART) Receiver receiver;
};

// How a producer sends: so many events at once.
struct Shipment {
    std::uint64_t events;
    std::uint8_t origin;
    std::size_t batch;
};

// Sends the events numbered `0..events` into every one of `senders`.
template <class M, class... Senders>
void produce(const Shipment& shipment, Senders&... senders) {
    std::array<M, MAX_BULK> messages;
    const std::size_t most = std::min(shipment.batch, MAX_BULK);
    for (std::uint64_t next = 0; next < shipment.events;) {
        const std::size_t count = std::min<std::uint64_t>(most, shipment.events - next);
        for (std::size_t index = 0; index < count; ++index) {
            messages[index].write(static_cast<std::uint32_t>(next++), shipment.origin);
        }
        if (count == 1) {
            (senders.send(messages[0]), ...);
        } else {
            (senders.send_all(messages.data(), count), ...);
        }
    }
}

// Hands `events` to `use`; how many times it received.
template <class Receiver, class Use>
std::uint64_t receive_all(Receiver& from, std::uint64_t events, Use use) {
    std::uint64_t batches = 0;
    for (std::uint64_t count = 0; count < events; ++batches) {
        count += from.drain(use);
    }
    return batches;
}

// Receives `events`, changes each by `step` and sends it on.
template <class Receiver, class Sender, class Step>
std::uint64_t relay(Receiver& from, Sender& to, std::uint64_t events, Step step) {
    return receive_all(from, events, [&](auto& message) {
        step(message);
        to.send(message);
    });
}

// Receives `events` and folds each into `answer`.
template <class Receiver>
std::uint64_t consume(Receiver& from, std::uint64_t events, std::uint64_t& answer) {
    Fold fold;
    const std::uint64_t batches =
        receive_all(from, events, [&](auto& message) { fold.add(message.digest()); });
    answer = fold.answer;
    return batches;
}
