// The layout of the node segment: the one shared-memory file per node and job. pmd creates it;
// tasks and watchers attach to it. All offsets follow from three numbers (tasks of the job, tasks
// on this node, nodes). There is therefore no allocator and no offset to trust: a process that
// attaches computes the layout again and compares it.
//
//   header        4 KiB
//   node map      NodeIndex per task of the job
//   ports         per task of the job: the TCP port that it listens on, 0 while unknown
//   nodes         per node: its address and name
//   slots         per local task: one TaskSlot
//   markers       per local task: its row of the marker array (marker_row.hpp)
//   boards        per local task: doorbell bits, then polled flags (one each per local sender)
//   -- page boundary: everything above is reserved (fallocate) when the segment is created --
//   pipes         one per ordered pair of local tasks, receiver-major:
//                 control page(s) with the cells, then the data ring
//   groups        kGroupSegments group segments, for collective calls
//                 (collectives/shm/group_segment.hpp)
//
// The file is sparse. No process may touch memory before it is reserved, because touching a hole
// could end in SIGBUS when /dev/shm is full:
//   - a pipe is reserved in steps by its first user;
//   - a group segment is reserved for one group by a task of that group;
//   - its staging part is reserved by the group's first call on long data.
//
//   part                   written by
//   header                 pmd, before any process attaches; `ending` and `ends` also later
//     group_segments_taken   tasks (also core_move)
//   node map, nodes        pmd, before any process attaches
//   ports                  pmd; those of tasks on other nodes also later (a task waits while 0)
//   slot                   its task, with the following exceptions
//     started_pid, ended     pmd (also listener, before the task starts, and tracing)
//     doing.since            its task; pmd if the task is observed
//     sleeping, doorbell     its task and the senders that wake it
//   doorbell bits          its senders set them, the task clears them
//   markers                its task and the programs that the task starts
//   pipes                  see comm/shm/shm_pipe.hpp
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/segment/endpoint.hpp"
#include "base/segment/marker_row.hpp"
#include "base/segment/task_activity.hpp"
#include "base/segment/task_traffic.hpp"
#include "base/segment/wait_notes.hpp"
#include "base/types.hpp"

namespace poe {

inline constexpr std::uint64_t kSegmentMagic = 0x4745'5345'444f'4e50ull;  // "PNODESEG" in memory
inline constexpr std::uint32_t kSegmentVersion = 30;
inline constexpr std::uint32_t kMaxTasks = 1u << 20;
inline constexpr std::uint32_t kMaxLocalTasks = 4096;
inline constexpr std::uint32_t kGroupSegments = 16;
// Returns the number of calls on a few bytes that a group member may run ahead of another, so that
// a member can make many calls each time it runs on a shared core. Smaller for groups with many
// members.
constexpr std::uint32_t short_depth(std::size_t members) noexcept {
    return members <= 64 ? 256 : 64;
}
// Returns the size of a group segment in bytes, without its staging part. A group of any size up to
// `members` fits into it.
constexpr std::size_t group_segment_bytes(std::size_t members) noexcept {
    constexpr std::size_t kBase = std::size_t{20} * 16384 + 30 * kPage;
    constexpr std::size_t kDeep = std::size_t{83} * 1024;
    constexpr std::size_t kLess = std::size_t{56} * 1024;
    const std::size_t deep = kDeep * (members < 64 ? members : 64);
    return kBase + (deep > kLess * members ? deep : kLess * members);
}
// Staging memory, which is reserved at the first call on long data: kStages stages, each with
// stage_bytes() and a cache line per member. With many members stage_bytes() is smaller, so that
// the whole stage stays in caches.
inline constexpr std::uint32_t kStages = 4;
inline constexpr std::size_t kMostOfStage = std::size_t{4} << 20;
constexpr std::size_t stage_bytes(std::size_t members) noexcept {
    constexpr std::size_t kMost = std::size_t{256} << 10;
    constexpr std::size_t kLeast = 4096;
    const std::size_t share = kMostOfStage / members / kLine * kLine;
    return share > kMost ? kMost : share < kLeast ? kLeast : share;
}
// Returns the bytes that suffice for a group of `members` or of any smaller size; 0 below two
// members.
constexpr std::size_t staging_bytes(std::size_t members) noexcept {
    if (members < 2) return 0;
    const std::size_t few = members * stage_bytes(1);
    const std::size_t many = members * stage_bytes(members) + kMostOfStage;
    return kStages * ((few < many ? few : many) + members * kLine) + members * kLine + kPage;
}
inline constexpr std::size_t kMaxJobId = 40;

// A node of the job, for tasks that connect to tasks on that node.
struct NodeRecord {
    NodeAddress address;  // family 0 in a job without TCP
    char name[104] = {};  // for diagnostics; truncated if longer
};
static_assert(sizeof(NodeRecord) == 2 * kLine && std::is_trivially_copyable_v<NodeRecord>);

// The offsets for a job of `tasks` on `nodes`, `local_tasks` of which run on this node. Pure.
struct SegmentLayout {
    std::uint64_t node_map_offset = 0;
    std::uint64_t ports_offset = 0;
    std::uint64_t nodes_offset = 0;
    std::uint64_t slots_offset = 0;
    std::uint64_t markers_offset = 0;
    std::uint64_t boards_offset = 0;
    std::uint64_t board_stride = 0;
    std::uint64_t polled_offset = 0;  // within a board
    std::uint64_t fixed_bytes = 0;    // the part reserved at creation; the pipes start here
    std::uint64_t control_bytes = 0;  // per pipe
    std::uint64_t ring_bytes = 0;     // per pipe; a power of two
    std::uint64_t group_segments_offset = 0;
    std::uint64_t group_segment_bytes = 0;  // per group segment, staging included
    std::uint64_t staging_offset = 0;       // of the staging part within a group segment
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

// The facts that pmd knows when it creates the segment; they never change afterwards. NodeSegment
// keeps a checked copy, and nothing reads the shared original again.
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
    std::uint64_t buffer_mem = 0;   // bytes per pair of tasks; 0 = default
    std::uint64_t eager_limit = 0;  // bytes, 0 = default
    std::uint64_t created_ns = 0;   // CLOCK_MONOTONIC
    std::uint64_t cache_bytes = 0;  // of this node's last-level caches together; 0: unknown
    // 1: membarrier works on this node, so senders need no fence (see base/fence.hpp).
    std::uint32_t asymmetric_fences = 0;
    std::uint32_t single_copy = 0;  // 1: tasks may read each other's memory
    std::uint32_t euilib = 0;       // Euilib
    // 1: poe reports why a task has ended the job, so the task does not print it.
    std::uint32_t reports_stops = 0;
    JobKey job_key{};  // all zero in a job without TCP
    char job_id[kMaxJobId + 8] = {};
    SegmentLayout layout;

    // True if tasks have to share cores.
    bool oversubscribed() const noexcept { return local_tasks > cpus; }
    std::uint32_t tasks_per_core() const noexcept {
        return oversubscribed() ? (local_tasks + cpus - 1) / cpus : 1;
    }
};
static_assert(std::is_trivially_copyable_v<SegmentFacts>);

struct SegmentHeader {
    SegmentFacts facts;
    // Futex word, set to 1 by pmd when the job is being ended (NodeSegment::announce_ending).
    alignas(kLine) std::atomic<std::uint32_t> ending;
    // The number of tasks of this node that have ended. pmd increments it after it has stored
    // TaskSlot::ended.
    std::atomic<std::uint32_t> ends;
    // One bit per group segment; set while it is in use.
    alignas(kLine) std::atomic<std::uint32_t> group_segments_taken;
    // The time at which a task was last moved to another core, and the pause after it in
    // milliseconds (comm/progress/core_balancer.hpp).
    alignas(kLine) std::atomic<std::uint64_t> core_move;
};
static_assert(sizeof(SegmentHeader) <= kPage);

// Values of TaskSlot::sleeping: how to wake the task (comm/progress/wait.hpp).
enum SleepState : std::uint32_t { kAwake = 0, kAsleepOnDoorbell = 1, kAsleepOnFifo = 2 };

// Values of TaskSlot::attached: which library's calls the slot shows.
enum Attached : std::uint32_t {
    kNotAttached = 0,
    kOwnLibrary = 1,  // the runtime of MPL and MPI is initialized
    kObserved = 2,    // another MPI library, whose calls are observed (mpi/observe)
};

// Bytes of TaskSlot::stop_text. Longer texts are cut.
inline constexpr std::size_t kMaxStopText = 504;

struct TaskSlot {
    // Line 0: written by the task, read by pmd and watchers.
    alignas(kLine) std::atomic<std::uint32_t> attached;  // Attached
    std::atomic<std::uint32_t> finished;                 // 1: the task's exit handlers have run
    std::atomic<std::uint32_t> stop_kind;                // StopKind; stored after the code and text
    std::int32_t stop_code;
    std::int32_t pid;  // of the attached process
    // Written by pmd before the task starts: the descriptor number of the task's listening socket;
    // 0: none.
    std::int32_t listener;
    TaskActivityWords doing;
    WaitPulse pulse;

    // Line 1: read by every sender after every message; written only around sleeps.
    alignas(kLine) std::atomic<std::uint32_t> sleeping;  // SleepState
    std::atomic<std::uint32_t> doorbell;                 // futex word
    // In a nameless segment only: the descriptor of the task's FIFO. The task writes it when it
    // creates the FIFO.
    std::int32_t wake_fd;
    // Written by pmd, read by every call of the task: what to trace (tracer/probe/tracer.hpp); 0:
    // off.
    std::atomic<std::uint32_t> tracing;
    // Written by the task every few milliseconds while it yields: the time and the core of its last
    // yield (comm/progress/core_balancer.hpp).
    std::atomic<std::uint64_t> core;
    AwaitedWords awaited;  // written by the task in waits that last
    // Written by pmd.
    std::atomic<std::int32_t> started_pid;  // of the process that pmd started as this task
    std::atomic<std::uint32_t> ended;       // task_end(wait status) once that process has ended
    // The address of the tables for the daemon in the task's own memory: MatcherTables with
    // kOwnLibrary, ObservedTables with kObserved. 0: none.
    std::atomic<std::uint64_t> observed_tables;
    // The address of the ThreadWaitsTable of a task of kOwnLibrary, in the memory of that task. 0
    // if only one thread of the task may call.
    std::atomic<std::uint64_t> thread_waits;

    // Line 2: the number of times that a doorbell bit was set. The owner scans its board only if it
    // has changed.
    alignas(kLine) std::atomic<std::uint32_t> rings;

    // Lines 3 to 5: written by the task before it sleeps, read by watchers.
    alignas(kLine) UnexpectedNotes unexpected;

    // Line 6: written by the task at every message, read by watchers.
    alignas(kLine) TrafficWords traffic;
    ContextName context_name;  // written by the task in waits that last

    // Lines 7 to 14, written by the task.
    alignas(kLine) std::atomic<std::uint64_t> calls;  // of an observed task: how many it has begun
    char stop_text
        [kMaxStopText];  // the message of an error that ends the job, with a zero at its end
};
static_assert(sizeof(TaskSlot) == 15 * kLine);
static_assert(offsetof(TaskSlot, rings) == 2 * kLine && offsetof(TaskSlot, traffic) == 6 * kLine);

// The value of TaskSlot::ended for a task with this wait(2) status. Never 0.
inline constexpr std::uint32_t kTaskEnded = 1u << 31;
inline constexpr std::uint32_t task_end(int wait_status) noexcept {
    return kTaskEnded | (static_cast<std::uint32_t>(wait_status) & 0xffffu);
}

}  // namespace poe
