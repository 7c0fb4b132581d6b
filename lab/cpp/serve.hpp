// The protocol's frame: a request on one line of standard input, its reply on one line of standard
// output, until the input ends. Its end ends the process at once, even within a run: whoever asked
// is gone.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

// Lines of standard input, read by a thread of their own.
class Requests {
public:
    Requests() {
        std::thread([this] { read(); }).detach();
    }

    std::string next() {
        std::unique_lock<std::mutex> lock(mutex_);
        arrived_.wait(lock, [this] { return !lines_.empty(); });
        const std::string line = lines_.front();
        lines_.pop_front();
        return line;
    }

private:
    void read() {
        for (std::string line; std::getline(std::cin, line);) {
            std::lock_guard<std::mutex> lock(mutex_);
            lines_.push_back(line);
            arrived_.notify_one();
        }
        _exit(EXIT_SUCCESS);
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> lines_;
};

// Answers every request by `reply`, for ever.
template <class Reply>
[[noreturn]] void serve(Reply reply) {
    Requests requests;
    for (;;) {
        std::string answer;
        try {
            answer = reply(requests.next());
        } catch (const std::exception& error) {
            answer = std::string("error ") + error.what();
        }
        std::cout << answer << std::endl;
    }
}
