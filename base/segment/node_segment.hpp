// NodeSegment: the node segment of segment_layout.hpp as an object. pmd creates it, tasks and
// watchers attach to it. The file itself belongs to the job directory, which pmd removes: nothing
// here unlinks it, except a creation that failed half-way. Where there is no pmd
// (foreign_launch.hpp) the file has no name: it goes with the last process that has it open,
// however that ends.
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
    std::string job_id;                   // [a-z0-9-]{1,40}
    std::string path;                     // absolute path of the file to make; empty: nameless
    NodeIndex node = 0;                   // the node this segment is for
    std::vector<NodeIndex> node_of_task;  // one per task of the job; at least one is `node`
    WaitMode wait_mode = WaitMode::kAdaptive;
    unsigned cpus = 0;  // that the tasks of this node may use; 0: ask the system
    pid_t pmd_pid = 0;
    Bytes buffer_mem = 0;     // per pair of tasks, 0 = default
    Bytes eager_limit = 0;    // 0 = default
    bool single_copy = true;  // tasks may read each other's memory, where the system lets them
    Euilib euilib = Euilib::kUs;
    // Only in a job with TCP: its key and its nodes' addresses; names as far as known.
    JobKey job_key{};
    std::vector<NodeAddress> node_addresses;
    std::vector<std::string> node_names;
};

// One mapped piece of the segment file; unmapped by its destructor. Movable.
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

// Thread-safe as far as the shared words are atomics; the object itself is for one thread.
class NodeSegment {
  public:
    // Makes the file (it must not exist), sparse, with header and slots reserved. Does not block.
    // Throws Error; a full /dev/shm is named with the size needed, the size free and the way out.
    static NodeSegment create(const NodeSegmentSpec& spec);

    // Maps an existing one, by its path(), after checking magic, version, sizes, offsets and owner.
    // Throws Error that names the file and what is wrong with it. Never trusts a number that it did
    // not check.
    static NodeSegment attach(const std::string& path);

    // The same for somebody who only looks: nothing is written, and the object's slots must not be.
    // Root may watch other users' jobs.
    static NodeSegment watch(const std::string& path);

    SegmentHeader& header() const noexcept { return *header_; }
    TaskSlot& slot(std::uint32_t local_index) const noexcept;      // local_index < local_tasks()
    MarkerRow& markers(std::uint32_t local_index) const noexcept;  // likewise

    // The checked facts; private memory, so a scribbling peer cannot change them.
    const SegmentFacts& facts() const noexcept { return facts_; }
    std::uint32_t tasks() const noexcept { return facts_.tasks; }
    std::uint32_t local_tasks() const noexcept { return facts_.local_tasks; }
    // Precondition: 0 <= task < tasks().
    NodeIndex node_of(TaskId task) const noexcept {
        return node_of_task_[static_cast<std::size_t>(task)];
    }
    // Where the tasks of a node listen; family 0 in a job without TCP. Precondition: node < nodes.
    const NodeRecord& node_record(NodeIndex node) const noexcept {
        return nodes_[static_cast<std::size_t>(node)];
    }
    // The port that a task listens on, 0 while it is not known. pmd writes it, tasks read it.
    // Precondition: 0 <= task < tasks().
    std::atomic<std::uint32_t>& port_of(TaskId task) const noexcept;
    // The file that this is in; of a nameless one the descriptor of its creator below /proc, which
    // processes of the same user can open while the creator lives.
    const std::string& path() const noexcept { return path_; }
    bool nameless() const noexcept { return is_nameless(path_); }
    // Position among the tasks of this node, in task order; nothing for a task of another node.
    std::optional<std::uint32_t> local_index(TaskId task) const noexcept;
    TaskId task_at(std::uint32_t local_index) const noexcept { return local_tasks_[local_index]; }

    // The board of a local task: one doorbell bit per local sender (atomic words), and one byte per
    // local sender that says whether the task polls that pipe by itself.
    std::span<std::atomic<std::uint64_t>> doorbell_bits(std::uint32_t local_index) const noexcept;
    std::span<std::atomic<std::uint8_t>> polled(std::uint32_t local_index) const noexcept;

    // pmd: says that the job is being ended, and wakes every waiting task so that it notices.
    // Never blocks.
    void announce_ending() const noexcept;

    // Maps the pipe of an ordered pair of local tasks. The memory behind it is not reserved yet:
    // call reserve_pipe for a range before touching it. Throws Error.
    SegmentMapping map_pipe(std::uint32_t sender, std::uint32_t receiver) const;
    // Reserves [from, to) of that pipe (idempotent). Throws Error naming /dev/shm when it is full.
    void reserve_pipe(std::uint32_t sender, std::uint32_t receiver, std::uint64_t from,
                      std::uint64_t to) const;

    // Takes a common piece that nobody uses, and reserves its memory without that for long data; it
    // is zero unless who gave it back left something. Nothing: all are in use. Throws Error when
    // memory is short.
    std::optional<std::uint32_t> take_common() const;
    void give_back_common(std::uint32_t index) const noexcept;
    // Reserves `bytes` of what is for long data, from `from` on, in a piece that somebody has taken
    // (idempotent). Throws Error.
    void reserve_staging(std::uint32_t index, Bytes from, Bytes bytes) const;
    // Maps one that somebody has taken, all of it. Throws Error.
    SegmentMapping map_common(std::uint32_t index) const;

    // What the segment costs, for reports.
    struct Cost {
        Bytes fixed_per_task = 0;     // reserved at creation, header and map shared out
        Bytes per_used_pipe_min = 0;  // first message over an ordered pair of local tasks
        Bytes per_used_pipe_max = 0;  // after as much data as the ring holds
        Bytes in_use = 0;             // memory that the file holds now
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
