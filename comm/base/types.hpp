// The units that every room shares.
#pragma once

#include <cstdint>

namespace poe {

using TaskId = std::int32_t;     // 0..n-1 over the whole job
using NodeIndex = std::int32_t;  // 0..nodes-1, in order of first appearance in the task map
using Bytes = std::uint64_t;

// How a task waits for a message (MP_WAIT_MODE). kAdaptive: by tasks per core on the node.
enum class WaitMode : std::uint32_t { kAdaptive = 0, kPoll = 1, kYield = 2, kSleep = 3 };

}  // namespace poe
