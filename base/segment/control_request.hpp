// Requests from a task to its node's daemon over the job's control socket. They are datagrams of
// fixed size between processes of one user on one node. The socket is a file in the job's
// directory, which only that user can enter; MP_CONTROL names it.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace poe {

inline constexpr std::uint32_t kControlMagic = 0x4c54'4350;  // "PCTL" in memory

// Asks the daemon to flush the standard output of all tasks, and optionally to change the output
// mode from then on. The answer comes when every task has asked for the flush or has ended.
struct FlushRequest {
    std::uint32_t magic = kControlMagic;
    TaskId task = -1;
    std::int32_t has_mode = 0;  // 1: the request also changes the mode
    std::int32_t mode = 0;      // a task number, or one of the following
};
inline constexpr std::int32_t kFlushUnordered = -1;
inline constexpr std::int32_t kFlushOrdered = -2;

struct FlushAnswer {
    std::uint32_t magic = kControlMagic;
    std::int32_t agreed = 0;  // 0: the tasks asked for different modes; the old mode stays
};

}  // namespace poe
