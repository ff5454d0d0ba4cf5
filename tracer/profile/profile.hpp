// StackProfile: the samples of a trace, and what its tasks did when each was taken. Plain data.
// docs/sampling.md says how the samples are taken.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/analysis/job_state.hpp"
#include "tracer/probe/format.hpp"
#include "tracer/read/region.hpp"

namespace poe::trace {

// A place in the program and the path of its caller. Path 0 is that of no caller.
struct CallPath {
    std::uint32_t caller = 0;
    std::uint32_t site = Definitions::kNoSite;
};

struct StackSample {
    Time at{0};
    TaskId task = 0;
    std::uint32_t thread = 0;
    std::uint32_t path = 0;
    std::uint32_t phase = 0;  // the outermost user's region that the task was in; 0: none
    State state = State::kOff;
    std::uint8_t flags = 0;   // kSampleCut and so on
    std::uint16_t count = 1;  // how many samples it stands for

    bool waiting() const { return (flags & kSampleWaiting) != 0; }
};

// The time that all tasks have spent in calls from one place of the program.
struct CallTime {
    State state = State::kOff;
    std::uint32_t region = 0;  // the call
    std::uint32_t site = Definitions::kNoSite;
    Time time{0};
};

// The values of a counter by state, and the time in which they were counted.
struct CounterSums {
    std::array<double, kStates> counts{};
    std::array<Time, kStates> times{};
};

struct StackProfile {
    std::vector<StackSample> samples;  // in order of time
    std::vector<CallPath> paths;       // by number
    std::vector<Site> sites;           // by number
    std::vector<std::string> regions;  // names, by number
    Time period{0};          // of a thread's time that a sample stands for; 0: nothing was sampled
    Time cost{0};            // processor time of the samplers
    std::uint64_t lost = 0;  // samples that found no room
    std::uint64_t left_out = 0;     // samples beyond the memory that a profile may take
    bool without_kernel = false;    // no samples in system calls
    bool without_sleepers = false;  // the kernel does not allow to look at sleeping threads
    bool without_counters = false;  // the computer has no hardware counters
    bool by_signals = false;        // a timer signal took the samples of a node (SampleOrigin)
    std::vector<CallTime> calls;    // longest first
    std::map<Metric, CounterSums> counters;
    std::array<Time, kStates> spent{};  // by all tasks

    bool sampled() const { return period > Time{0}; }
};

}  // namespace poe::trace
