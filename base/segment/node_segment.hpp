// NodeSegment: the node segment of segment_layout.hpp as an object. pmd creates it; tasks and
// watchers attach to it. The file belongs to the job directory, which pmd removes. This class
// unlinks the file only if its creation fails halfway. A job without a pmd (foreign_launch.hpp)
// uses a file without a name. It disappears when the last process that has it open ends, in
// whatever way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"
#include "base/unique_fd.hpp"

namespace poe {

struct NodeSegmentSpec {
    std::string job_id;  // [a-z0-9-]{1,40}
    std::string path;    // absolute path of the file to create; empty: a nameless file
    NodeIndex node = 0;  // the node that this segment is for
    std::vector<NodeIndex> node_of_task;  // one per task of the job; at least one is `node`
    WaitMode wait_mode = WaitMode::kAdaptive;
    unsigned cpus = 0;  // processors that the tasks of this node may use; 0: ask the system
    pid_t pmd_pid = 0;
    Bytes buffer_mem = 0;     // bytes per pair of tasks; 0 = default
    Bytes eager_limit = 0;    // bytes; 0 = default
    bool single_copy = true;  // tasks may read each other's memory if the system permits it
    Euilib euilib = Euilib::kUs;
    bool reports_stops = false;  // the creator reports it if a task ends the job
    // Only in a job with TCP: the job's key, the nodes' addresses, and the names that are known.
    JobKey job_key{};
    std::vector<NodeAddress> node_addresses;
    std::vector<std::string> node_names;
};

// A mapped part of the segment file. The destructor unmaps it. Movable.
class SegmentMapping {
  public:
    SegmentMapping() = default;
    SegmentMapping(std::byte* start, std::size_t size) noexcept : start_(start), size_(size) {}
    SegmentMapping(SegmentMapping&& other) noexcept;
    SegmentMapping& operator=(SegmentMapping&& other) noexcept;
    ~SegmentMapping();

    std::byte* data() const noexcept { return start_; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::byte* start_ = nullptr;
    std::size_t size_ = 0;
};

// The shared words are atomics and may be used by any thread. The object itself is for one thread.
class NodeSegment {
  public:
    // Creates the file, which must not exist yet. The file is sparse; the fixed part (header to
    // boards) is reserved. Does not block. Throws Error; if /dev/shm is full, the text says how
    // much is needed, how much is free and what the user can do.
    static NodeSegment create(const NodeSegmentSpec& spec);

    // Maps an existing segment by its path(), after checking its magic, version, sizes, offsets and
    // owner. No unchecked number is used. Throws Error that names the file and the fault.
    static NodeSegment attach(const std::string& path);

    // Like attach(), but maps the segment read-only: the caller must not write to the object's
    // slots. Root may watch other users' jobs.
    static NodeSegment watch(const std::string& path);

    SegmentHeader& header() const noexcept { return *header_; }
    TaskSlot& slot(std::uint32_t local_index) const noexcept;      // local_index < local_tasks()
    MarkerRow& markers(std::uint32_t local_index) const noexcept;  // likewise

    // The checked facts. They are in private memory, so a peer that overwrites the segment cannot
    // change them.
    const SegmentFacts& facts() const noexcept { return facts_; }
    std::uint32_t tasks() const noexcept { return facts_.tasks; }
    std::uint32_t local_tasks() const noexcept { return facts_.local_tasks; }
    // Precondition: 0 <= task < tasks().
    NodeIndex node_of(TaskId task) const noexcept {
        return node_of_task_[static_cast<std::size_t>(task)];
    }
    // The address at which the tasks of a node listen; family 0 in a job without TCP. Precondition:
    // 0 <= node < nodes.
    const NodeRecord& node_record(NodeIndex node) const noexcept {
        return nodes_[static_cast<std::size_t>(node)];
    }
    // The port that a task listens on; 0 while unknown. pmd writes it, tasks read it.
    // Precondition: 0 <= task < tasks().
    std::atomic<std::uint32_t>& port_of(TaskId task) const noexcept;
    // The path of the segment's file. For a nameless file: the creator's descriptor below /proc,
    // which processes of the same user can open while the creator lives.
    const std::string& path() const noexcept { return path_; }
    bool nameless() const noexcept { return is_nameless(path_); }
    // The task's position among the tasks of this node, in task order; empty for a task of another
    // node.
    std::optional<std::uint32_t> local_index(TaskId task) const noexcept;
    TaskId task_at(std::uint32_t local_index) const noexcept { return local_tasks_[local_index]; }

    // The board of a local task: one doorbell bit per local sender (atomic words), and one byte per
    // local sender that is nonzero if the task polls that sender's pipe without being notified.
    std::span<std::atomic<std::uint64_t>> doorbell_bits(std::uint32_t local_index) const noexcept;
    std::span<std::atomic<std::uint8_t>> polled(std::uint32_t local_index) const noexcept;

    // For pmd: publishes that the job is being ended, and wakes every waiting task so that it
    // notices. Never blocks.
    void announce_ending() const noexcept;

    // Maps the pipe of an ordered pair of local tasks. Its memory is not reserved: call
    // reserve_pipe() for a range before touching it. Throws Error.
    SegmentMapping map_pipe(std::uint32_t sender, std::uint32_t receiver) const;
    // Reserves bytes [from, to) of that pipe; idempotent. Throws Error that names /dev/shm if it is
    // full.
    void reserve_pipe(std::uint32_t sender, std::uint32_t receiver, std::uint64_t from,
                      std::uint64_t to) const;

    // Takes a group segment that is not in use, and reserves its memory except the staging part.
    // Returns its index; empty if all are in use. The memory is zero unless the previous group left
    // data in it. Throws Error if memory is short.
    std::optional<std::uint32_t> reserve_group_segment() const;
    void release_group_segment(std::uint32_t index) const noexcept;
    // Reserves the first `bytes` bytes of the staging part of a group segment that is taken;
    // idempotent. Throws Error.
    void reserve_staging(std::uint32_t index, Bytes bytes) const;
    // Maps a group segment that is taken. Throws Error.
    SegmentMapping map_group_segment(std::uint32_t index) const;

    // The memory that the segment uses, in bytes, for reports.
    struct Cost {
        Bytes fixed_per_task = 0;     // reserved at creation, divided among the local tasks
        Bytes per_used_pipe_min = 0;  // after the first message over an ordered pair of local tasks
        Bytes per_used_pipe_max = 0;  // after the ring was filled once
        Bytes in_use = 0;             // memory that the file occupies now
        Bytes in_use_per_task = 0;
    };
    Cost cost() const;

  private:
    enum class Access { kReadWrite, kRead };

    NodeSegment() = default;
    static NodeSegment open_existing(const std::string& path, Access access);
    static bool is_nameless(const std::string& path) noexcept { return path.starts_with("/proc/"); }
    void make_file(const NodeSegmentSpec& spec);
    void map_fixed_part(const std::string& path, Access access);
    void read_node_map(const std::string& path);
    void write_nodes(const NodeSegmentSpec& spec) const;
    void read_nodes(const std::string& path);
    void reserve(std::uint64_t from, std::uint64_t to, const std::string& what) const;

    std::string path_;
    UniqueFd file_;
    SegmentFacts facts_;
    SegmentMapping fixed_;
    SegmentHeader* header_ = nullptr;
    std::vector<NodeIndex> node_of_task_;
    std::vector<TaskId> local_tasks_;  // ascending
    std::vector<NodeRecord> nodes_;
};

}  // namespace poe
