// The threads of one run: they start together, and the clock runs from their release until the last
// one is done. A job that throws ends the process: its neighbours would wait for ever.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

using Answers = std::vector<std::uint64_t>;

// CPUs for the threads, in the order of enlistment; none if they run where the system puts them.
using Placement = std::vector<int>;

inline std::int64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// CPU time of the whole process.
inline std::int64_t cpu_ns() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// What one run took.
struct Timing {
    std::int64_t elapsed_ns = 0;
    std::int64_t cpu_ns = 0;
};

// Binds the calling thread to `cpu`.
inline void pin(int cpu) {
#ifdef __linux__
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) == 0) {
        return;
    }
#endif
    throw std::runtime_error("cannot pin a thread: cpu=" + std::to_string(cpu));
}

class Crew {
public:
    explicit Crew(Placement placement) : placement_(std::move(placement)) {}

    void enlist(std::function<void()> job) { jobs_.push_back(std::move(job)); }

    // Starts every job at the same moment and waits for all.
    Timing run() {
        if (!placement_.empty() && placement_.size() < jobs_.size()) {
            throw std::runtime_error("too few CPUs to pin to: threads=" +
                                     std::to_string(jobs_.size()));
        }
        std::vector<std::thread> threads;
        for (std::size_t index = 0; index < jobs_.size(); ++index) {
            threads.emplace_back([this, index] { work(index); });
        }
        const Timing start = open();
        for (std::thread& thread : threads) {
            thread.join();
        }
        if (!failure_.empty()) {
            throw std::runtime_error(failure_);
        }
        return {last_ns_ - start.elapsed_ns, cpu_ns() - start.cpu_ns};
    }

private:
    // One worker's thread. It is pinned before it arrives, so that a refusal stops the run.
    void work(std::size_t index) {
        std::string failure;
        try {
            if (!placement_.empty()) {
                pin(placement_[index]);
            }
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (!arrive(failure)) {
            return;
        }
        jobs_[index]();
        const std::int64_t end = now_ns();
        std::lock_guard<std::mutex> lock(mutex_);
        last_ns_ = std::max(last_ns_, end);
    }

    // Waits for the start; false if there will be none.
    bool arrive(const std::string& failure) {
        std::unique_lock<std::mutex> lock(mutex_);
        ++arrived_;
        if (!failure.empty()) {
            failure_ = failure;
        }
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        return failure_.empty();
    }

    // Releases the workers when all have arrived; the moment, and the CPU time until then.
    Timing open() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return arrived_ == jobs_.size(); });
        open_ = true;
        const Timing start{now_ns(), cpu_ns()};
        changed_.notify_all();
        return start;
    }

    Placement placement_;
    std::vector<std::function<void()>> jobs_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
    bool open_ = false;
    std::string failure_;
    std::int64_t last_ns_ = 0;
};
