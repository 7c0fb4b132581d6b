// One rival as a child process of the laboratory. `RIVAL` is its header. Requests:
//
//   run TOPOLOGY EVENTS RING EVENT_BYTES PUBLISH PLACEMENT
//   ping-pong SLOTS EXCHANGES PLACEMENT
//   latency INTERVAL_NS EVENTS RING PLACEMENT
#include RIVAL

#ifndef LACKS_A_HEADER

#include <sstream>
#include <stdexcept>
#include <string>

#include "event.hpp"
#include "exchange.hpp"
#include "latency.hpp"
#include "request.hpp"
#include "serve.hpp"
#include "topologies.hpp"

namespace {

template <class M>
Finish run_of(const std::string& topology, const Workload& load) {
    if (topology == "unicast") return unicast<M>(load);
    if (topology == "pipeline") return pipeline<M>(load);
    if (topology == "sequencer") return sequencer<M>(load);
    if (topology == "multicast") return multicast<M>(load);
    if (topology == "diamond") return diamond<M>(load);
    throw std::runtime_error("unknown topology: " + topology);
}

Finish run(Request& request) {
    const std::string topology = request.word();
    Workload load{};
    load.events = request.number();
    load.ring = request.number();
    const std::uint64_t event_bytes = request.number();
    load.batch = request.batch();
    load.placement = request.placement();
    switch (event_bytes) {
        case 8: return run_of<Message<0>>(topology, load);
        case 32: return run_of<Message<3>>(topology, load);
        case 64: return run_of<Message<7>>(topology, load);
        case 256: return run_of<Message<31>>(topology, load);
        default: throw std::runtime_error("an event has 8, 32, 64 or 256 bytes");
    }
}

std::string text_of(const Finish& finish) {
    std::ostringstream reply;
    reply << "ok " << finish.timing.elapsed_ns << ' ' << finish.timing.cpu_ns << ' '
          << finish.batches;
    for (const std::uint64_t answer : finish.answers) {
        reply << ' ' << answer;
    }
    return reply.str();
}

std::string measure_latency(Request& request) {
    const double interval_ns = std::stod(request.word());
    Workload load{};
    load.events = request.number();
    load.ring = request.number();
    load.placement = request.placement();
    const Latency latency_of_run = latency(load, interval_ns);
    std::ostringstream reply;
    reply << "ok " << latency_of_run.timing.elapsed_ns << ' ' << latency_of_run.timing.cpu_ns << ' '
          << latency_of_run.answer;
    for (const Histogram& hop : latency_of_run.hops) {
        hop.print(reply << ' ');
    }
    latency_of_run.end_to_end.print(reply << ' ');
    return reply.str();
}

std::string reply(const std::string& line) {
    Request request(line);
    const std::string what = request.word();
    if (what == "run") {
        return text_of(run(request));
    }
    if (what == "ping-pong") {
        const std::size_t slots = request.number();
        const std::uint64_t exchanges = request.number();
        return text_of(ping_pong(slots, exchanges, request.placement()));
    }
    if (what == "latency") {
        return measure_latency(request);
    }
    throw std::runtime_error("unknown request: " + what);
}

}  // namespace

int main() { serve(reply); }

#endif
