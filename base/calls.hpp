// The calls of MPL and MPI: number, C name, and kind, which says what a task in the call does.
// The numbers are in the node segment (base/segment/task_activity.hpp) and in traces
// (tracer/probe/library_regions.hpp).
//
//   1..127      calls of MPL
//   256..2047   calls of MPI, in the order of the table of functions (mpi/table/functions.tsv)
#pragma once

#include <cstdint>
#include <string_view>

namespace poe {

// New calls of MPL may only be added at the end, because the numbers of these calls are part of the
// trace format. The numbers of MPI calls may change between versions of POE, so each trace contains
// a table of their names.
enum class Call : std::uint16_t {
    kNone = 0,
    kBsend = 1,
    kBrecv = 2,
    kSync = 3,
    kBsendrecv = 4,
    kBvsend = 5,
    kBvrecv = 6,
    kSend = 7,
    kRecv = 8,
    kRcvncall = 9,
    kWait = 10,
    kStatus = 11,
    kProbe = 12,
    kFlush = 13,
    kBcast = 14,
    kCombine = 15,
    kReduce = 16,
    kPrefix = 17,
    kConcat = 18,
    kIndex = 19,
    kGather = 20,
    kScatter = 21,
    kShift = 22,
    kGroup = 23,
    kPartition = 24,
    kCollwait = 25,
};
inline constexpr std::uint16_t kFirstMpiCall = 256;
inline constexpr std::uint16_t kLastCall = 2047;

enum class CallKind : std::uint8_t {
    kNone,              // no call: the task computes
    kSends,             // sends a message to one task
    kReceives,          // receives or awaits a message
    kExchanges,         // sends one message and receives another
    kCompletes,         // waits for requests that were started before, or tests them
    kFlushes,           // waits for all messages of this task
    kCollective,        // all members of a group or communicator take part
    kStartsCollective,  // starts a collective operation and does not wait for it
    kOther,             // anything else
};

// Returns the C name of the call; "computing" for kNone, "?" for a number that is no call. The text
// ends with a null character and exists as long as the process.
std::string_view call_name(Call call) noexcept;

// Returns kOther for a number that is no call.
CallKind call_kind(Call call) noexcept;

// True if all members of a group take part in the call and wait in it.
inline bool is_collective(Call call) noexcept {
    return call_kind(call) == CallKind::kCollective;
}
inline bool is_mpi(Call call) noexcept {
    return static_cast<std::uint16_t>(call) >= kFirstMpiCall;
}

}  // namespace poe
