// WaitSums: the wait states of a History, summed by task, call site, communicator and phase. Pure.
#pragma once

#include <array>
#include <map>

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

struct WaitTotal {
    std::uint64_t count = 0;
    Time time{0};
    WaitTotal& operator+=(Time length) {
        ++count;
        time += length;
        return *this;
    }
};

// A place in the program where a task calls the library.
struct CallSite {
    std::uint32_t region = 0;
    std::uint32_t site = 0;
    auto operator<=>(const CallSite&) const = default;
};

// What waits have in common.
struct WaitPlace {
    TaskId task = 0;
    CallSite site;
    std::uint32_t communicator = 0;
    std::uint32_t phase = 0;
    auto operator<=>(const WaitPlace&) const = default;
};

// The sums of one wait state. Each of the maps adds up to `all`.
struct PatternSums {
    WaitTotal all;
    std::map<TaskId, WaitTotal> by_task;
    std::map<CallSite, WaitTotal> by_site;
    std::map<std::uint32_t, WaitTotal> by_communicator;
    std::map<std::uint32_t, WaitTotal> by_phase;  // by the outermost user's region, 0: none
    std::map<WaitPlace, WaitTotal> by_place;
};
using WaitSums = std::array<PatternSums, kWaitPatterns>;

WaitSums sum_waits(const History& history);

}  // namespace poe::trace
