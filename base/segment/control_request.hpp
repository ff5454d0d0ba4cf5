// What a task asks its node's daemon for, over the job's control socket: datagrams of fixed size
// between processes of one user on one node. The socket is a file of the job's directory, which
// only that user can enter; MP_CONTROL names it.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace poe {

inline constexpr std::uint32_t kControlMagic = 0x4c54'4350;  // "PCTL" in memory

// To flush what all tasks have written to their standard outputs, and perhaps to show the outputs
// in another mode from then on. Answered when all tasks have asked for it or ended.
struct FlushRequest {
    std::uint32_t magic = kControlMagic;
    TaskId task = -1;
    std::int32_t has_mode = 0;  // 1: with a change of the mode
    std::int32_t mode = 0;      // a task, or one of the following
};
inline constexpr std::int32_t kFlushUnordered = -1;
inline constexpr std::int32_t kFlushOrdered = -2;

struct FlushAnswer {
    std::uint32_t magic = kControlMagic;
    std::int32_t agreed = 0;  // 0: the tasks asked for different modes, and the old one stays
};

}  // namespace poe
