// The words of a request. What is wrong with them is an exception, whose text becomes the reply.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

#include "crew.hpp"

class Request {
public:
    explicit Request(const std::string& line) : words_(line) {}

    std::string word() {
        std::string word;
        if (!(words_ >> word)) {
            throw std::runtime_error("the request ends too early");
        }
        return word;
    }

    // The next word as a number of at least 1.
    std::uint64_t number() { return number(word()); }

    // How many events a producer sends at once: `one` or `batch:N`.
    std::size_t batch() {
        const std::string text = word();
        return text == "one" ? 1 : number(after(text, "batch:"));
    }

    // `free`, or `pinned:C0,C1,..`.
    Placement placement() {
        const std::string text = word();
        Placement cpus;
        if (text != "free") {
            std::istringstream list(after(text, "pinned:"));
            for (std::string cpu; std::getline(list, cpu, ',');) {
                cpus.push_back(std::stoi(cpu));
            }
        }
        return cpus;
    }

private:
    static std::uint64_t number(const std::string& text) {
        const std::uint64_t value = std::stoull(text);
        if (value == 0) {
            throw std::runtime_error("a number must be at least 1");
        }
        return value;
    }

    static std::string after(const std::string& text, const std::string& prefix) {
        if (text.compare(0, prefix.size(), prefix) != 0) {
            throw std::runtime_error("unknown word: " + text);
        }
        return text.substr(prefix.size());
    }

    std::istringstream words_;
};
