// Implementation of wait_pattern.hpp.
#include "tracer/analysis/wait_pattern.hpp"

#include <array>

namespace poe::trace {

std::string_view pattern_word(WaitPattern pattern) {
    constexpr std::array<std::string_view, kWaitPatterns> kWords{
        "late sender",  "wrong order",    "late receiver",  "wait at barrier", "wait at NxN",
        "early reduce", "late broadcast", "early scan",     "late member",     "wait at fence",
        "late post",    "late complete",  "lock contention"};
    return kWords[static_cast<std::size_t>(pattern)];
}

}  // namespace poe::trace
