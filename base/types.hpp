// Basic types that every room shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace poe {

using TaskId = std::int32_t;  // 0..n-1 over the whole job
// For watchers: a task of another job. No task has this number.
inline constexpr TaskId kTaskOfOtherJob = 0x1ffffe;
using NodeIndex = std::int32_t;  // 0..nodes-1, in order of first appearance in the task map
using Bytes = std::uint64_t;
inline constexpr std::size_t kLine = 64;    // bytes of a cache line
inline constexpr std::size_t kPage = 4096;  // bytes of a page of memory

// How a task waits for a message (MP_WAIT_MODE). kAdaptive chooses by tasks per core on the node.
enum class WaitMode : std::uint32_t { kAdaptive = 0, kPoll = 1, kYield = 2, kSleep = 3 };

// How a task has ended the whole job.
enum class StopKind : std::uint32_t {
    kNone,
    kStopall,   // mpc_stopall
    kMpiAbort,  // MPI_Abort
    kMpiError,  // an error of an MPI call with the error handler MPI_ERRORS_ARE_FATAL
};

// Which devices carry messages (MP_EUILIB). kUs: the fastest device for each task; kIp: TCP
// everywhere.
enum class Euilib : std::uint32_t { kUs = 0, kIp = 1 };

// The secret shared by the tasks of one job. With it, a peer that connects proves that it belongs
// to the job.
inline constexpr std::size_t kJobKeyBytes = 32;
using JobKey = std::array<std::uint8_t, kJobKeyBytes>;

}  // namespace poe
