// The textbook's bounded queue: a ring in a mutex, a condition variable for "not full" and one for
// "not empty". Waiters are counted, as a notification is a call into the kernel.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "queue.hpp"

template <class T>
class MutexQueue {
public:
    MutexQueue(std::size_t capacity, std::size_t) : ring_(capacity) {}

    struct Sender {
        MutexQueue* queue;
        void send(const T& message) { queue->push(message); }
        void send_all(const T* messages, std::size_t count) { send_each(*this, messages, count); }
    };

    struct Receiver {
        MutexQueue* queue;
        T receive() { return queue->pop(); }
        template <class F>
        std::size_t drain(F use) {
            return drain_one(*this, use);
        }
    };

    Sender sender() { return {this}; }
    Receiver receiver() { return {this}; }

private:
    void push(const T& message) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (length_ == ring_.size()) {
            ++waiting_senders_;
            not_full_.wait(lock);
            --waiting_senders_;
        }
        ring_[next(first_ + length_)] = message;
        ++length_;
        const bool somebody_waits = waiting_receivers_ > 0;
        lock.unlock();
        if (somebody_waits) {
            not_empty_.notify_one();
        }
    }

    T pop() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (length_ == 0) {
            ++waiting_receivers_;
            not_empty_.wait(lock);
            --waiting_receivers_;
        }
        const T message = ring_[first_];
        first_ = next(first_ + 1);
        --length_;
        const bool somebody_waits = waiting_senders_ > 0;
        lock.unlock();
        if (somebody_waits) {
            not_full_.notify_one();
        }
        return message;
    }

    // `index`, which is less than two laps, within the ring.
    std::size_t next(std::size_t index) const {
        return index < ring_.size() ? index : index - ring_.size();
    }

    std::vector<T> ring_;
    std::size_t first_ = 0;
    std::size_t length_ = 0;
    std::size_t waiting_senders_ = 0;
    std::size_t waiting_receivers_ = 0;
    std::mutex mutex_;
    std::condition_variable not_full_;
    std::condition_variable not_empty_;
};

struct Rival {
    template <class T>
    using Spsc = MutexQueue<T>;
    template <class T>
    using Mpsc = MutexQueue<T>;
};
