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

// Asks the debugger to attach to a process of a task, such as a program that a shell script has
// started. The process waits for the answer and repeats the request while it waits.
inline constexpr std::uint32_t kDebuggerMagic = 0x4742'4450;  // "PDBG" in memory
struct DebuggerRequest {
    std::uint32_t magic = kDebuggerMagic;
    TaskId task = -1;
    std::int32_t pid = 0;
};
static_assert(sizeof(DebuggerRequest) != sizeof(FlushRequest));

// The debugger has attached to the process, or does not want it.
struct DebuggerAnswer {
    std::uint32_t magic = kDebuggerMagic;
};

}  // namespace poe
