// What a profile says in few numbers: the functions that take longest, the source lines of each
// state, the rates of the counters. As text and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tracer/analysis/symbols.hpp"
#include "tracer/profile/profile.hpp"

namespace poe::trace {

struct FunctionSum {
    std::string name;
    std::uint64_t self = 0;  // samples in the function itself
    std::uint64_t total =
        0;  // and in what it has called; once for each sample, also in a recursion
};

struct LineSum {
    State state = State::kOff;
    bool waiting = false;  // the thread slept outside of calls
    std::string line;      // "solve at heat.c:120"
    Time time{0};
};

// The samples of a task with equal stacks, in a phase.
struct StackSum {
    TaskId task = 0;
    std::string phase;                   // the outermost region of the user; empty: none
    bool waiting = false;                // the threads slept
    std::vector<std::string> functions;  // outermost first
    std::uint64_t samples = 0;
};

struct ProfileSums {
    std::uint64_t samples = 0;           // of threads that ran
    std::uint64_t waiting = 0;           // of threads that slept
    std::uint64_t cut = 0;               // without their outermost callers
    std::uint64_t in_kernel = 0;         // in system calls
    std::vector<FunctionSum> functions;  // most samples first
    // Outside of calls: from samples of all threads. Of calls: from the records of the calls.
    // Longest first in each state.
    std::vector<LineSum> lines;
    std::vector<StackSum>
        stacks;  // by task, phase and whether the threads slept; most samples first
};

ProfileSums sum_profile(const StackProfile& profile, Symbols& symbols);

// Empty if the trace has neither samples nor call sites.
std::string profile_text(const StackProfile& profile, const ProfileSums& sums);
nlohmann::json profile_json(const StackProfile& profile, const ProfileSums& sums);

}  // namespace poe::trace
