// The layout of the node segment: the one shared-memory file per node and job. pmd creates it,
// tasks and watchers attach to it. Everything in it lies at an offset that follows from two numbers
// (tasks of the job, tasks on this node), so there is no allocator and nothing to trust: whoever
// attaches works the layout out again and compares.
//
//   header        4 KiB
//   node map      NodeIndex per task of the job
//   ports         per task of the job: the TCP port that it listens on, 0 while unknown
//   nodes         per node: its address and name
//   slots         one TaskSlot per local task
//   markers       per local task: its row of the marker array (marker_row.hpp)
//   boards        per local task: doorbell bits (one per local sender), then polled flags (ditto)
//   -- page boundary: all above is reserved (fallocate) when the segment is created --
//   pipes         one per ordered pair of local tasks, receiver-major:
//                 control page(s) with the cells, then the data ring
//   commons       kCommons pieces of shared memory for groups of tasks (collectives/shm/commons.hpp)
//
// The file is sparse. The memory of a pipe exists only after its first user has reserved it, in
// steps, that of a common piece after who took it has, its part for long data after the first user
// of that has; nobody may touch memory before that (a touch
// of a hole could end in SIGBUS when /dev/shm is full).
//
// Who writes what: pmd the header, the node map and the nodes (before anyone attaches; `ending` and
// ports of other nodes' tasks later: a task waits for a port that is still 0); a task its own slot,
// except `started_pid` and `ended`, which pmd writes, `sleeping` and `doorbell`, which its wakers
// write too, and its doorbell bits, which its senders set and it clears; a task and the programs
// that it starts its markers. Pipes: see comm/shm/shm_pipe.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/segment/endpoint.hpp"
#include "base/segment/marker_row.hpp"
#include "base/segment/task_doing.hpp"
#include "base/segment/task_traffic.hpp"
#include "base/segment/wait_notes.hpp"
#include "base/types.hpp"

namespace poe {

inline constexpr std::uint64_t kSegmentMagic = 0x4745'5345'444f'4e50ull;  // "PNODESEG" in memory
inline constexpr std::uint32_t kSegmentVersion = 16;
inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kMaxTasks = 1u << 20;
inline constexpr std::uint32_t kMaxLocalTasks = 4096;
inline constexpr std::uint32_t kCommons = 16;
// Of a common piece: how many calls of a few bytes a member may be ahead of another, so that a turn
// on a core is worth many; less where there are many members. And enough for any group of so many.
constexpr std::uint32_t short_depth(std::size_t members) noexcept {
    return members <= 64 ? 256 : 64;
}
constexpr std::size_t common_bytes(std::size_t members) noexcept {
    constexpr std::size_t kBase = std::size_t{16} * 16384 + 24 * kPage;
    constexpr std::size_t kDeep = std::size_t{55} * 1024;
    constexpr std::size_t kLess = std::size_t{28} * 1024;
    const std::size_t deep = kDeep * (members < 64 ? members : 64);
    return kBase + (deep > kLess * members ? deep : kLess * members);
}
// Of a common piece, for long data, reserved when some are exchanged: kStages times what members
// put there at once, each at most stage_bytes; as much again for calls whose members run ahead of
// each other; and kPairStages times pair_bytes for calls between two and two, with a line.
inline constexpr std::uint32_t kStages = 4;
inline constexpr std::uint32_t kPairStages = 4;
// Less for each where there are many, so that all of it stays in caches.
struct StageShare {
    std::size_t most = 0;
    std::size_t least = 0;
    std::size_t all = 0;

    constexpr std::size_t of(std::size_t members) const noexcept {
        const std::size_t share = all / members / kLine * kLine;
        return share > most ? most : share < least ? least : share;
    }
    // What as many members need, or any fewer.
    constexpr std::size_t together(std::size_t members) const noexcept {
        const std::size_t few = members * most;
        const std::size_t many = members * of(members) + all;
        return few < many ? few : many;
    }
};
inline constexpr StageShare kStageShare{131072, 2048, std::size_t{2} << 20};
inline constexpr StageShare kPairShare{262144, 4096, std::size_t{4} << 20};
constexpr std::size_t stage_bytes(std::size_t members) noexcept {
    return kStageShare.of(members);
}
constexpr std::size_t pair_bytes(std::size_t members) noexcept {
    return kPairShare.of(members);
}
// Enough for as many members and any fewer, two at least.
constexpr std::size_t staging_bytes(std::size_t members) noexcept {
    if (members < 2) return 0;
    return std::size_t{2} * kStages * kStageShare.together(members) +
           kPairStages * (kPairShare.together(members) + members * kLine) +
           3 * (members * kLine + kPage);
}
inline constexpr std::size_t kMaxJobId = 40;

// A node of the job, for tasks that connect to its tasks.
struct NodeRecord {
    NodeAddress address;  // family 0 in a job without TCP
    char name[104] = {};  // for messages; cut when longer
};
static_assert(sizeof(NodeRecord) == 2 * kLine && std::is_trivially_copyable_v<NodeRecord>);

// Where everything lies, for a job of `tasks` on `nodes` of which `local_tasks` run here. Pure.
struct SegmentLayout {
    std::uint64_t node_map_offset = 0;
    std::uint64_t ports_offset = 0;
    std::uint64_t nodes_offset = 0;
    std::uint64_t slots_offset = 0;
    std::uint64_t markers_offset = 0;
    std::uint64_t boards_offset = 0;
    std::uint64_t board_stride = 0;
    std::uint64_t polled_offset = 0;  // inside a board
    std::uint64_t fixed_bytes = 0;    // up to here reserved at creation; the pipes start here
    std::uint64_t control_bytes = 0;  // of one pipe
    std::uint64_t ring_bytes = 0;     // of one pipe, a power of two
    std::uint64_t commons_offset = 0;
    std::uint64_t common_bytes = 0;    // of one
    std::uint64_t staging_offset = 0;  // in it, of the part for long data
    std::uint64_t file_bytes = 0;

    static SegmentLayout of(std::uint32_t tasks, std::uint32_t local_tasks,
                            std::uint32_t nodes) noexcept;

    std::uint64_t pipe_bytes() const noexcept { return control_bytes + ring_bytes; }
    std::uint64_t pipe_offset(std::uint32_t sender, std::uint32_t receiver,
                              std::uint32_t local_tasks) const noexcept {
        return fixed_bytes +
               (static_cast<std::uint64_t>(receiver) * local_tasks + sender) * pipe_bytes();
    }
    bool operator==(const SegmentLayout&) const = default;
};

// What pmd knows when it makes the segment; never changes afterwards. NodeSegment keeps a checked
// copy and nobody reads the shared one again.
struct SegmentFacts {
    std::uint64_t magic = kSegmentMagic;
    std::uint32_t version = kSegmentVersion;
    std::uint32_t header_bytes = 0;
    std::uint32_t tasks = 0;
    std::uint32_t local_tasks = 0;
    std::int32_t node = 0;
    std::uint32_t nodes = 0;
    std::uint32_t wait_mode = 0;  // WaitMode
    std::uint32_t cpus = 0;       // of this node, for the choice between spinning and yielding
    std::int32_t pmd_pid = 0;
    std::uint32_t owner_uid = 0;
    std::uint64_t buffer_mem = 0;   // bytes per pair, 0 = default
    std::uint64_t eager_limit = 0;  // bytes, 0 = default
    std::uint64_t created_ns = 0;   // CLOCK_MONOTONIC
    std::uint64_t cache_bytes = 0;  // of this node's last caches together; 0: not known
    // 1: membarrier works here, so senders need no fence (see base/fence.hpp).
    std::uint32_t asymmetric_fences = 0;
    std::uint32_t single_copy = 0;  // 1: tasks may read each other's memory
    std::uint32_t euilib = 0;       // Euilib
    JobKey job_key{};               // all zero in a job without TCP
    char job_id[kMaxJobId + 8] = {};
    SegmentLayout layout;

    // Tasks have to share cores.
    bool crowded() const noexcept { return local_tasks > cpus; }
    std::uint32_t tasks_per_core() const noexcept {
        return crowded() ? (local_tasks + cpus - 1) / cpus : 1;
    }
};
static_assert(std::is_trivially_copyable_v<SegmentFacts>);

struct SegmentHeader {
    SegmentFacts facts;
    // Futex word, set to 1 by pmd when the job is being ended (NodeSegment::announce_ending).
    alignas(kLine) std::atomic<std::uint32_t> ending;
    // A bit for each common piece that is in use.
    alignas(kLine) std::atomic<std::uint32_t> commons_taken;
    // When a task was moved to another core last, and how long none is after that
    // (comm/progress/core_share.hpp).
    alignas(kLine) std::atomic<std::uint64_t> core_move;
};
static_assert(sizeof(SegmentHeader) <= kPage);

// Of TaskSlot::sleeping: how to wake the task (comm/progress/wait.hpp).
enum SleepState : std::uint32_t { kAwake = 0, kAsleepOnDoorbell = 1, kAsleepOnFifo = 2 };

struct TaskSlot {
    // Line 0: written by the task, read by pmd and watchers.
    alignas(kLine) std::atomic<std::uint32_t> attached;  // 1: the MPL runtime came up
    std::atomic<std::uint32_t> finished;                 // 1: its exit handlers ran
    std::atomic<std::uint32_t> stopall_called;           // stored after stopall_code
    std::int32_t stopall_code;
    std::int32_t pid;  // of the attached process
    // pmd, before the task starts: the number of the descriptor of its listening socket; 0 for
    // none.
    std::int32_t listener;
    DoingWords doing;
    WaitPulse pulse;
    AwaitedWord awaited;
    // Written by pmd.
    std::atomic<std::int32_t> started_pid;  // of the process that pmd started as this task
    std::atomic<std::uint32_t> ended;       // task_end(wait status) once that process is gone

    // Line 1: read by every sender after every message, written only around sleeps.
    alignas(kLine) std::atomic<std::uint32_t> sleeping;  // SleepState
    std::atomic<std::uint32_t> doorbell;                 // futex word
    // Written by the task when it makes its FIFO, in a nameless segment only: its descriptor.
    std::int32_t wake_fd;
    // Written by pmd, read by every call of the task: what to trace (tracer/probe/tracer.hpp); 0:
    // off.
    std::atomic<std::uint32_t> tracing;
    // Written by the task every few milliseconds in which it yields: when and where it last did
    // (comm/progress/core_share.hpp).
    std::atomic<std::uint64_t> core;

    // Line 2: how often a doorbell bit was set; the owner looks here before it scans its board.
    alignas(kLine) std::atomic<std::uint32_t> rings;

    // Lines 3 and 4: written by the task before it sleeps, read by watchers.
    alignas(kLine) UnexpectedNotes unexpected;

    // Line 5: written by the task with every message, read by watchers.
    alignas(kLine) TrafficWords traffic;
};
static_assert(sizeof(TaskSlot) == 6 * kLine);

// TaskSlot::ended of a task that ended with this status of wait(2). Never 0.
inline constexpr std::uint32_t kTaskEnded = 1u << 31;
inline constexpr std::uint32_t task_end(int wait_status) noexcept {
    return kTaskEnded | (static_cast<std::uint32_t>(wait_status) & 0xffffu);
}

}  // namespace poe
