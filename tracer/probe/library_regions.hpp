// The regions of MPL's own calls in a trace: their ids, names and kinds. The tracer defines them;
// readers need them for traces whose definitions are lost. Pure.
//
//   id           region
//   1..127       the call with that number (base/segment/task_activity.hpp)
//   128 + call   the non-blocking form of that collective call: 128 + kBcast is mpc_ibcast,
//                128 + kCollwait is mpc_colltest
//   256..4095    calls of MPI
//   4096..       regions of the program
#pragma once

#include <cstdint>
#include <string>

#include "base/segment/task_activity.hpp"

namespace poe::trace {

inline constexpr std::uint32_t kNonBlocking = 128;

struct LibraryRegion {
    std::string name;  // empty: there is no such region
    bool collective = false;
};

inline bool has_non_blocking(Call call) {
    return is_collective(call) && call != Call::kGroup && call != Call::kPartition;
}

inline LibraryRegion library_region(std::uint32_t id) {
    const auto call = static_cast<Call>(id % kNonBlocking);
    const std::string name = call_name(call);
    if (id == 0 || id >= 2 * kNonBlocking || name == "?" || call == Call::kNone) return {};
    if (id < kNonBlocking) return {name, is_collective(call)};
    if (!has_non_blocking(call)) return {};
    if (call == Call::kCollwait) return {"mpc_colltest", true};
    constexpr std::size_t kPrefix = 4;  // "mpc_"
    return {name.substr(0, kPrefix) + "i" + name.substr(kPrefix), true};
}

}  // namespace poe::trace
