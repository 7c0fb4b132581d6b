// The three stage pipeline under a load: event i is due at `start + i * interval`, and its time
// counts from then, however late it is sent. A late producer catches up in a burst.
#pragma once

#include <cstdint>

#include "histogram.hpp"
#include "topologies.hpp"

// An event with the time when it was due, and when the last stage received it.
struct Stamped {
    std::uint64_t value;
    std::int64_t due_ns;
    std::int64_t stamp_ns;
};

// A histogram for each hop, and one from end to end.
struct Latency {
    Timing timing;
    std::uint64_t answer;
    Histogram hops[3];
    Histogram end_to_end;
};

// Stamps the receipt of `event`; the time since the stage before.
inline std::int64_t stamp(Stamped& event) {
    const std::int64_t now = now_ns();
    const std::int64_t since = now - event.stamp_ns;
    event.stamp_ns = now;
    return since;
}

// From the release of the producer to its first event: the stages are in place by then.
constexpr std::int64_t LEAD_NS = 1'000'000;
// The producer and three stages.
constexpr unsigned THREADS = 4;

// Sends each event when it is due. Meanwhile it spins, or yields if there are more threads than
// CPUs.
template <class Sender>
void send_when_due(Sender& sender, std::uint64_t events, double interval_ns) {
    const bool yields = std::thread::hardware_concurrency() < THREADS;
    const std::int64_t start = now_ns() + LEAD_NS;
    for (std::uint64_t value = 0; value < events; ++value) {
        const double after_ns = static_cast<double>(value) * interval_ns;
        const std::int64_t due = start + static_cast<std::int64_t>(after_ns);
        while (now_ns() < due) {
            if (yields) {
                std::this_thread::yield();
            } else {
                pause_cpu();
            }
        }
        sender.send(Stamped{value, due, due});
    }
}

template <class Receiver, class Sender>
void pass_on(Receiver& from, Sender& to, std::uint64_t events, Histogram& hop) {
    relay(from, to, events, [&hop](Stamped& event) { hop.record(stamp(event)); });
}

inline Latency latency(const Workload& load, double interval_ns) {
    Latency result{};
    Single<Stamped> first(load.ring), second(load.ring), third(load.ring);
    Crew crew(load.placement);
    crew.enlist([&] { send_when_due(first.sender(), load.events, interval_ns); });
    crew.enlist([&] { pass_on(first.receiver, second.sender(), load.events, result.hops[0]); });
    crew.enlist([&] { pass_on(second.receiver, third.sender(), load.events, result.hops[1]); });
    crew.enlist([&] {
        Fold fold;
        receive_all(third.receiver, load.events, [&](Stamped& event) {
            result.hops[2].record(stamp(event));
            result.end_to_end.record(event.stamp_ns - event.due_ns);
            fold.add(event.value);
        });
        result.answer = fold.answer;
    });
    result.timing = crew.run();
    return result;
}
