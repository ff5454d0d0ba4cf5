// WaitPattern: the wait states, by the names that Scalasca gives them. docs/wait-states.md defines
// each by a formula over time stamps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace poe::trace {

enum class WaitPattern : std::uint8_t {
    kLateSender,      // a message was not sent yet
    kWrongOrder,      // the same, although an older message was there that was received later
    kLateReceiver,    // a message was not asked for yet
    kBarrier,         // members of a barrier had not entered yet
    kNxN,             // the same in a call in which all need the data of all
    kEarlyReduce,     // the root had entered before a member
    kLateBroadcast,   // the root had not entered yet
    kEarlyScan,       // a member before this one had not entered yet
    kLateMember,      // a member that the data flow does not need, but the algorithm does
    kFence,           // members of a fence of a window had not entered yet
    kLatePost,        // a target had not opened its window with MPI_Win_post yet
    kLateComplete,    // an origin had not ended its accesses with MPI_Win_complete yet
    kLockContention,  // another task had locked the window
};
inline constexpr std::size_t kWaitPatterns = 13;

// Returns "late sender", "wrong order" ...; all kWaitPatterns are different.
std::string_view pattern_word(WaitPattern pattern);

}  // namespace poe::trace
