// Boost.Lockfree: `spsc_queue` for an arc with one producer, `queue` for one with several. The
// latter with `bounded_push` over reserved nodes: the one of fixed size ends at 65535 nodes, less
// than a usual ring.
#pragma once

#if !__has_include(<boost/lockfree/spsc_queue.hpp>)
#error the headers of Boost.Lockfree are not installed (Debian: libboost-dev)
#define LACKS_A_HEADER
#else

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>

#include "queue.hpp"

template <class T>
class BoostSpsc {
public:
    BoostSpsc(std::size_t capacity, std::size_t) : queue_(capacity) {
        while (queue_.push(T())) {
        }
        queue_.reset();
    }

    struct Sender {
        BoostSpsc* own;
        void send(const T& message) {
            until([&] { return own->queue_.push(message); });
        }
        void send_all(const T* messages, std::size_t count) {
            std::size_t sent = 0;
            until([&] {
                sent += own->queue_.push(messages + sent, count - sent);
                return sent == count;
            });
        }
    };

    struct Receiver {
        BoostSpsc* own;
        T receive() {
            T message;
            until([&] { return own->queue_.pop(message); });
            return message;
        }
        // In place, one store of the index for all of them.
        template <class F>
        std::size_t drain(F use) {
            std::size_t count = 0;
            until([&] {
                count = own->queue_.consume_all([&](T& message) { use(message); });
                return count > 0;
            });
            return count;
        }
    };

    Sender sender() { return {this}; }
    Receiver receiver() { return {this}; }

private:
    boost::lockfree::spsc_queue<T> queue_;
};

template <class T>
class BoostMpsc {
public:
    BoostMpsc(std::size_t capacity, std::size_t) : queue_(capacity) {
        T message{};
        while (queue_.bounded_push(message)) {
        }
        while (queue_.pop(message)) {
        }
    }

    struct Sender {
        BoostMpsc* own;
        void send(const T& message) {
            until([&] { return own->queue_.bounded_push(message); });
        }
        void send_all(const T* messages, std::size_t count) { send_each(*this, messages, count); }
    };

    struct Receiver {
        BoostMpsc* own;
        T receive() {
            T message;
            until([&] { return own->queue_.pop(message); });
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
    boost::lockfree::queue<T> queue_;
};

struct Rival {
    template <class T>
    using Spsc = BoostSpsc<T>;
    template <class T>
    using Mpsc = BoostMpsc<T>;
};

#endif
