// moodycamel: `ReaderWriterQueue` for an arc with one producer, `ConcurrentQueue` with tokens for
// one with several. Both are lists of blocks, so they hold what was asked for, rounded up to their
// blocks.
#pragma once

#if __has_include(<concurrentqueue/concurrentqueue.h>)
#include <concurrentqueue/concurrentqueue.h>
#elif __has_include(<concurrentqueue/moodycamel/concurrentqueue.h>)
#include <concurrentqueue/moodycamel/concurrentqueue.h>
#elif __has_include(<concurrentqueue.h>)
#include <concurrentqueue.h>
#else
#error the header of ConcurrentQueue is not installed (Debian: libconcurrentqueue-dev)
#define LACKS_A_HEADER
#endif

#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#elif __has_include(<readerwriterqueue.h>)
#include <readerwriterqueue.h>
#else
#error the header of ReaderWriterQueue is not installed (Debian: libreaderwriterqueue-dev)
#define LACKS_A_HEADER
#endif

#ifndef LACKS_A_HEADER

#include <algorithm>
#include <cstddef>
#include <utility>

#include "queue.hpp"

template <class T>
class MoodycamelSpsc {
public:
    MoodycamelSpsc(std::size_t capacity, std::size_t) : queue_(capacity) {
        T message{};
        while (queue_.try_enqueue(message)) {
        }
        while (queue_.try_dequeue(message)) {
        }
    }

    struct Sender {
        MoodycamelSpsc* own;
        void send(const T& message) {
            until([&] { return own->queue_.try_enqueue(message); });
        }
        void send_all(const T* messages, std::size_t count) { send_each(*this, messages, count); }
    };

    struct Receiver {
        MoodycamelSpsc* own;
        T receive() {
            T message;
            until([&] { return own->queue_.try_dequeue(message); });
            return message;
        }
        template <class F>
        std::size_t drain(F use) {
            return drain_one(*this, use);
        }
    };

    Sender sender() { return {this}; }
    Receiver receiver() { return {this}; }

private:
    moodycamel::ReaderWriterQueue<T> queue_;
};

// A producer with a token keeps the blocks that it once got, so one that got all of them would
// starve the others for ever. Each therefore gets its share before the clock runs; `try_enqueue`
// allocates no more.
template <class T>
class MoodycamelMpsc {
public:
    MoodycamelMpsc(std::size_t capacity, std::size_t producers)
        : queue_(0), share_(std::max<std::size_t>(1, capacity / producers)) {}

    class Sender {
    public:
        Sender(MoodycamelMpsc* own) : own_(own), token_(own->queue_) {
            for (std::size_t count = 0; count < own->share_; ++count) {
                own->queue_.enqueue(token_, T());
            }
            T message;
            while (own->queue_.try_dequeue_from_producer(token_, message)) {
            }
        }
        void send(const T& message) {
            until([&] { return own_->queue_.try_enqueue(token_, message); });
        }
        // All or nothing, and it begins within a block, so never more at once than its other blocks
        // hold.
        void send_all(const T* messages, std::size_t count) {
            const std::size_t surely = own_->share_ < BLOCK ? 1 : own_->share_ - BLOCK + 1;
            const std::size_t most = std::min(surely, MAX_BULK);
            for (std::size_t sent = 0; sent < count;) {
                const std::size_t part = std::min(most, count - sent);
                until([&] { return own_->queue_.try_enqueue_bulk(token_, messages + sent, part); });
                sent += part;
            }
        }

    private:
        MoodycamelMpsc* own_;
        moodycamel::ProducerToken token_;
    };

    class Receiver {
    public:
        Receiver(MoodycamelMpsc* own) : own_(own), token_(own->queue_) {}
        T receive() {
            T message;
            until([&] { return own_->queue_.try_dequeue(token_, message); });
            return message;
        }
        template <class F>
        std::size_t drain(F use) {
            std::size_t count = 0;
            until([&] {
                count = own_->queue_.try_dequeue_bulk(token_, messages_, MAX_BULK);
                return count > 0;
            });
            std::for_each(messages_, messages_ + count, use);
            return count;
        }

    private:
        MoodycamelMpsc* own_;
        moodycamel::ConsumerToken token_;
        T messages_[MAX_BULK];
    };

    Sender sender() { return Sender(this); }
    Receiver receiver() { return Receiver(this); }

private:
    static constexpr std::size_t BLOCK = moodycamel::ConcurrentQueue<T>::BLOCK_SIZE;

    moodycamel::ConcurrentQueue<T> queue_;
    std::size_t share_;
};

struct Rival {
    template <class T>
    using Spsc = MoodycamelSpsc<T>;
    template <class T>
    using Mpsc = MoodycamelMpsc<T>;
};

#endif
