// Implementation of region.hpp.
#include "tracer/read/region.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tracer/probe/library_regions.hpp"

namespace poe::trace {
namespace {

constexpr std::uint64_t kCall = 0;
constexpr std::uint64_t kCollectiveCall = 1;
constexpr std::uint64_t kStretch = 2;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string lower(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return name;
}

// MPL's nonblocking calls have plain names; MPI's begin with an I.
bool only_starts(std::string_view name) {
    if (name == "mpc_send" || name == "mpc_recv" || name == "mpc_rcvncall") return true;
    if (name.starts_with("mpi_start")) return true;
    return name.starts_with("mpi_i") && (contains(name, "send") || contains(name, "recv"));
}

bool only_looks(std::string_view name) {
    return name == "mpc_status" || name == "mpc_probe" || contains(name, "iprobe") ||
           contains(name, "improbe") || contains(name, "test") ||
           contains(name, "request_get_status");
}

// Classifies message calls by their names, which MPL and MPI form alike.
Region call_of(std::string name) {
    const std::string plain = lower(name);
    Region region{.name = std::move(name), .state = State::kOther};
    region.synchronises_window =
        plain == "mpi_win_start" || plain == "mpi_win_wait" || plain == "mpi_win_test";
    if (only_looks(plain)) {
        region.state = State::kPolling;
        return region;
    }
    const bool receives = contains(plain, "recv") || contains(plain, "rcv");
    const bool sends = contains(plain, "send");
    const bool waits = contains(plain, "wait") || contains(plain, "probe");
    if (receives || waits)
        region.state = State::kReceiving;
    else if (sends)
        region.state = State::kSending;
    if (region.synchronises_window) {
        region.state = State::kReceiving;
        region.awaits_sender = true;
        return region;
    }
    region.locks_window = plain == "mpi_win_lock" || plain == "mpi_win_lock_all" ||
                          plain == "mpi_win_unlock" || plain == "mpi_win_unlock_all";
    region.starts_only = only_starts(plain);
    region.awaits_sender = !region.starts_only && (receives || waits);
    region.awaits_receiver = !region.starts_only && (sends || contains(plain, "wait"));
    return region;
}

// A call that starts or ends operations of any kind does not tell their data flow.
bool is_of_any_operation(std::string_view name) {
    return contains(name, "collwait") || contains(name, "colltest");
}

Region collective_of(std::string name) {
    const std::string plain = lower(name);
    Region region{.name = std::move(name), .state = State::kCollective};
    if (only_looks(plain)) region.state = State::kPolling;
    if (!is_of_any_operation(plain)) region.flow = data_flow_of(plain);
    return region;
}

}  // namespace

std::string_view state_word(State state) {
    constexpr std::array<std::string_view, kStates> kWords{
        "not traced", "computing", "sending", "receiving", "collective", "other call", "polling"};
    return kWords[static_cast<std::size_t>(state)];
}

Region region_of(std::string name, std::uint64_t what) {
    // In traces of earlier versions, a fence is a plain call.
    if (what == kCall && name != "MPI_Win_fence") return call_of(std::move(name));
    if (what == kCall) what = kCollectiveCall;
    if (what == kCollectiveCall) return collective_of(std::move(name));
    return {.name = std::move(name), .of_user = true};
}

Region undefined_region(std::uint32_t id) {
    const LibraryRegion known = library_region(id);
    if (id >= kFirstPathRegion) return region_of(fmt::format("path {}", id), kCollectiveCall);
    if (known.name.empty()) return region_of(fmt::format("region {}", id), kStretch);
    return region_of(known.name, known.collective ? kCollectiveCall : kCall);
}

}  // namespace poe::trace
