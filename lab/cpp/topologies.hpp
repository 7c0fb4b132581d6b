// The five configurations of the paper over queues: the shapes and answers of
// `lab/src/load/topologies`. Placements and answers are in the order of enlistment: producers first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "arc.hpp"
#include "crew.hpp"
#include "event.hpp"
#include "work.hpp"

// Producers of the topology that has several.
constexpr std::uint64_t PRODUCERS = 3;

// How much is moved.
struct Workload {
    std::uint64_t events;
    std::size_t ring;
    std::size_t batch;
    Placement placement;

    Shipment all() const { return {events, 0, batch}; }
};

// A run that came to its end.
struct Finish {
    Timing timing;
    std::uint64_t batches;
    Answers answers;
};

// What the consumers counted, each far from the others.
struct Batches {
    struct alignas(APART) Count {
        std::uint64_t value = 0;
    };
    Count of[3];

    std::uint64_t sum() const { return of[0].value + of[1].value + of[2].value; }
};

template <class M>
using Single = Arc<Rival::Spsc<M>>;

template <class M>
Finish unicast(const Workload& load) {
    Single<M> arc(load.ring);
    std::uint64_t answer = 0;
    Batches batches;
    Crew crew(load.placement);
    crew.enlist([&] { produce<M>(load.all(), arc.sender()); });
    crew.enlist([&] { batches.of[0].value = consume(arc.receiver, load.events, answer); });
    const Timing timing = crew.run();
    return {timing, batches.sum(), {answer}};
}

template <class M>
Finish pipeline(const Workload& load) {
    Single<M> first(load.ring), second(load.ring), third(load.ring);
    std::uint64_t answer = 0;
    Batches batches;
    Crew crew(load.placement);
    crew.enlist([&] { produce<M>(load.all(), first.sender()); });
    crew.enlist([&] {
        batches.of[0].value = relay(first.receiver, second.sender(), load.events, [](M& message) {
            message.change(step_one(message.value(), message.digest()));
        });
    });
    crew.enlist([&] {
        batches.of[1].value = relay(second.receiver, third.sender(), load.events, [](M& message) {
            message.change(step_two(message.value(), message.digest()));
        });
    });
    crew.enlist([&] { batches.of[2].value = consume(third.receiver, load.events, answer); });
    const Timing timing = crew.run();
    return {timing, batches.sum(), {answer}};
}

template <class M>
Finish sequencer(const Workload& load) {
    Arc<Rival::Mpsc<M>> arc(load.ring, PRODUCERS);
    Answers answers;
    Batches batches;
    Crew crew(load.placement);
    for (std::uint64_t origin = 0; origin < PRODUCERS; ++origin) {
        const std::uint64_t one_more = origin < load.events % PRODUCERS;
        const Shipment share{load.events / PRODUCERS + one_more,
                             static_cast<std::uint8_t>(origin), load.batch};
        crew.enlist([&arc, share, origin] { produce<M>(share, arc.sender(origin)); });
    }
    crew.enlist([&] {
        Fold folds[PRODUCERS];
        batches.of[0].value = receive_all(arc.receiver, load.events, [&](M& message) {
            folds[message.left()].add(message.digest());
        });
        for (const Fold& fold : folds) {
            answers.push_back(fold.answer);
        }
    });
    const Timing timing = crew.run();
    return {timing, batches.sum(), answers};
}

template <class M>
Finish multicast(const Workload& load) {
    Single<M> first(load.ring), second(load.ring), third(load.ring);
    Single<M>* const arcs[] = {&first, &second, &third};
    Answers answers(3);
    Batches batches;
    Crew crew(load.placement);
    crew.enlist([&] {
        produce<M>(load.all(), first.sender(), second.sender(), third.sender());
    });
    for (std::size_t index = 0; index < 3; ++index) {
        crew.enlist([&, index] {
            auto& from = arcs[index]->receiver;
            batches.of[index].value = consume(from, load.events, answers[index]);
        });
    }
    const Timing timing = crew.run();
    return {timing, batches.sum(), answers};
}

// Receives `events` from both sides. One that is not the other's twin changes the answer.
template <class M>
FizzBuzz join(Single<M>& left, Single<M>& right, std::uint64_t events) {
    FizzBuzz joined;
    for (std::uint64_t count = 0; count < events; ++count) {
        const M with_fizz = left.receiver.receive();
        const M with_buzz = right.receiver.receive();
        const std::uint64_t mismatch = with_fizz.value() ^ with_buzz.value();
        joined.add(with_fizz.digest() + mismatch, with_fizz.left(), with_buzz.right());
    }
    return joined;
}

template <class M>
Finish diamond(const Workload& load) {
    Single<M> to_fizz(load.ring), to_buzz(load.ring), left(load.ring), right(load.ring);
    FizzBuzz joined;
    Batches batches;
    batches.of[2].value = load.events;
    Crew crew(load.placement);
    crew.enlist([&] { produce<M>(load.all(), to_fizz.sender(), to_buzz.sender()); });
    crew.enlist([&] {
        batches.of[0].value = relay(to_fizz.receiver, left.sender(), load.events, [](M& message) {
            message.leave_left(fizz(message.digest()));
        });
    });
    crew.enlist([&] {
        batches.of[1].value = relay(to_buzz.receiver, right.sender(), load.events, [](M& message) {
            message.leave_right(buzz(message.digest()));
        });
    });
    crew.enlist([&] { joined = join(left, right, load.events); });
    const Timing timing = crew.run();
    return {timing, batches.sum(), {joined.both, joined.fold.answer}};
}
