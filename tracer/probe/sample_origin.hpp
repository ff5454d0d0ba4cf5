// What took the samples of a node: the word `extra` of the record that says their period
// (SamplingFact::kPeriod).
#pragma once

#include <cstdint>

namespace poe::trace {

enum class SampleOrigin : std::uint16_t {
    kPerfEvents = 0,
    kTimerSignals = 1,  // the kernel allows no perf events
};

}  // namespace poe::trace
