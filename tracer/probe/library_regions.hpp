// The regions of the libraries' own calls in a trace: their ids, names and kinds. The tracer
// defines them; readers need them for traces whose definitions are lost. Pure.
//
//   id           region
//   1..127       the call of MPL with that number (base/calls.hpp)
//   128 + call   the non-blocking form of that collective call: 128 + kBcast is mpc_ibcast,
//                128 + kCollwait is mpc_colltest
//   256..4095    the call of MPI with that number
//   4096..       regions of the program
#pragma once

#include <cstdint>
#include <string>

#include "base/calls.hpp"

namespace poe::trace {

inline constexpr std::uint32_t kNonBlocking = 128;
inline constexpr std::uint32_t kFirstMpiRegion = kFirstMpiCall;

struct LibraryRegion {
    std::string name;  // empty: there is no such region
    bool collective = false;
};

inline bool has_non_blocking(Call call) {
    return is_collective(call) && call != Call::kGroup && call != Call::kPartition;
}

// True for calls of MPL and MPI that take part in a collective operation, blocking or not.
inline bool is_collective_region(std::uint32_t id) noexcept {
    const auto call = static_cast<Call>(id < kFirstMpiRegion ? id % kNonBlocking : id);
    const CallKind kind = call_kind(call);
    return kind == CallKind::kCollective || kind == CallKind::kStartsCollective;
}

inline LibraryRegion library_region(std::uint32_t id) {
    const auto call = static_cast<Call>(id < kFirstMpiRegion ? id % kNonBlocking : id);
    const std::string name(call_name(call));
    if (call_kind(call) == CallKind::kNone || name == "?") return {};
    if (id < kNonBlocking || id >= kFirstMpiRegion) return {name, is_collective_region(id)};
    if (!has_non_blocking(call)) return {};
    if (call == Call::kCollwait) return {"mpc_colltest", true};
    constexpr std::size_t kPrefix = 4;  // "mpc_"
    return {name.substr(0, kPrefix) + "i" + name.substr(kPrefix), true};
}

}  // namespace poe::trace
