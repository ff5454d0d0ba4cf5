// Creates, checks and maps the node segment. See segment_layout.hpp for the layout.
#include "base/segment/node_segment.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include "base/cache_size.hpp"
#include "base/check.hpp"
#include "base/error.hpp"
#include "base/fence.hpp"
#include "base/futex.hpp"

namespace poe {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

// Returns the ring size per pipe, in bytes. With more tasks the rings are smaller, because each
// pair that communicates has two rings, and the number of pairs grows with local_tasks^2.
constexpr std::uint64_t ring_bytes_for(std::uint32_t local_tasks) {
    if (local_tasks <= 8) return 512 << 10;
    if (local_tasks <= 16) return 256 << 10;
    if (local_tasks <= 32) return 128 << 10;
    if (local_tasks <= 128) return 64 << 10;
    return 32 << 10;
}

std::string in_kilobytes(std::uint64_t bytes) {
    return std::to_string((bytes + 1023) / 1024) + " KB";
}

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of_filesystem(const std::string& path) {
    return path.rfind("/dev/shm/", 0) == 0 ? "/dev/shm" : directory_of(path);
}

[[noreturn]] void throw_full(const std::string& path, std::uint64_t needed, const std::string& what,
                             int cause) {
    if (path.starts_with("/proc/"))
        throw Error("cannot reserve " + in_kilobytes(needed) + " of memory for " + what +
                        "; start fewer tasks on this node",
                    cause);
    struct statvfs state {};
    std::string free_text = "unknown";
    if (::statvfs(directory_of(path).c_str(), &state) == 0) {
        free_text = in_kilobytes(static_cast<std::uint64_t>(state.f_bavail) * state.f_frsize);
    }
    const std::string where = name_of_filesystem(path);
    throw Error("cannot reserve " + in_kilobytes(needed) + " in " + where + " for " + what + " (" +
                    free_text + " free there). Remove what is not needed in " + where +
                    ", start fewer tasks on this node, or have it enlarged "
                    "(mount -o remount,size=... " +
                    where + ")",
                cause);
}

// Returns the processors that this process may use; an empty set if the kernel does not report it.
cpu_set_t usable_cpus() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
    return set;
}

unsigned number_of(const cpu_set_t& cpus) {
    if (CPU_COUNT(&cpus) > 0) return static_cast<unsigned>(CPU_COUNT(&cpus));
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<unsigned>(online) : 1u;
}

std::uint64_t monotonic_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

SegmentFacts facts_of(const NodeSegmentSpec& spec) {
    POE_CHECK(!spec.job_id.empty() && spec.job_id.size() <= kMaxJobId, spec.job_id);
    const auto local = std::count(spec.node_of_task.begin(), spec.node_of_task.end(), spec.node);
    if (local < 1 || local > static_cast<long>(kMaxLocalTasks) ||
        spec.node_of_task.size() > kMaxTasks) {
        throw Error("cannot run " + std::to_string(spec.node_of_task.size()) + " tasks, " +
                    std::to_string(local) + " of them on this node: a job has at most " +
                    std::to_string(kMaxTasks) + " and a node 1 to " +
                    std::to_string(kMaxLocalTasks));
    }
    SegmentFacts facts;
    facts.header_bytes = sizeof(SegmentHeader);
    facts.tasks = static_cast<std::uint32_t>(spec.node_of_task.size());
    facts.local_tasks = static_cast<std::uint32_t>(local);
    facts.node = spec.node;
    facts.nodes = static_cast<std::uint32_t>(
        *std::max_element(spec.node_of_task.begin(), spec.node_of_task.end()) + 1);
    facts.wait_mode = static_cast<std::uint32_t>(spec.wait_mode);
    const cpu_set_t cpus = usable_cpus();
    facts.cpus = spec.cpus != 0 ? spec.cpus : number_of(cpus);
    facts.cache_bytes = last_level_cache(cpus);
    facts.pmd_pid = spec.pmd_pid;
    facts.owner_uid = ::geteuid();
    facts.buffer_mem = spec.buffer_mem;
    facts.eager_limit = spec.eager_limit;
    facts.single_copy = spec.single_copy ? 1 : 0;
    facts.euilib = static_cast<std::uint32_t>(spec.euilib);
    facts.reports_stops = spec.reports_stops ? 1 : 0;
    facts.job_key = spec.job_key;
    facts.created_ns = monotonic_ns();
    facts.asymmetric_fences = membarrier_available() ? 1 : 0;
    std::memcpy(facts.job_id, spec.job_id.data(), spec.job_id.size());
    facts.layout = SegmentLayout::of(facts.tasks, facts.local_tasks, facts.nodes);
    return facts;
}

// Returns what is wrong with facts that were read from a file; empty if they are valid.
std::optional<std::string> fault_in(const SegmentFacts& facts, std::uint64_t file_bytes,
                                    uid_t owner) {
    if (facts.magic != kSegmentMagic) return "it is not a node segment";
    if (facts.version != kSegmentVersion) {
        return "its version is " + std::to_string(facts.version) + ", this program knows version " +
               std::to_string(kSegmentVersion) +
               ": poe and the MPL library are of different releases";
    }
    if (facts.header_bytes != sizeof(SegmentHeader)) return "its header has the wrong size";
    if (facts.tasks == 0 || facts.tasks > kMaxTasks) return "its number of tasks is impossible";
    if (facts.local_tasks == 0 || facts.local_tasks > facts.tasks ||
        facts.local_tasks > kMaxLocalTasks) {
        return "its number of local tasks is impossible";
    }
    if (facts.nodes == 0 || facts.nodes > facts.tasks || facts.node < 0 ||
        static_cast<std::uint32_t>(facts.node) >= facts.nodes) {
        return "its node number is impossible";
    }
    if (facts.wait_mode > static_cast<std::uint32_t>(WaitMode::kSleep))
        return "its wait mode is unknown";
    if (facts.euilib > static_cast<std::uint32_t>(Euilib::kIp))
        return "its choice of devices is unknown";
    if (facts.cpus == 0 || facts.asymmetric_fences > 1)
        return "its facts about the node are impossible";
    if (facts.owner_uid != owner) return "it says that it belongs to another user";
    if (std::memchr(facts.job_id, 0, sizeof facts.job_id) == nullptr)
        return "its job name is not ended";
    if (facts.layout != SegmentLayout::of(facts.tasks, facts.local_tasks, facts.nodes))
        return "its layout is wrong";
    if (facts.layout.file_bytes != file_bytes) return "its size is wrong";
    return std::nullopt;
}

}  // namespace

SegmentLayout SegmentLayout::of(std::uint32_t tasks, std::uint32_t local_tasks,
                                std::uint32_t nodes) noexcept {
    SegmentLayout layout;
    layout.node_map_offset = kPage;
    layout.ports_offset = round_up(kPage + std::uint64_t{tasks} * sizeof(NodeIndex), kLine);
    layout.nodes_offset =
        round_up(layout.ports_offset + std::uint64_t{tasks} * sizeof(std::uint32_t), kLine);
    layout.slots_offset = layout.nodes_offset + std::uint64_t{nodes} * sizeof(NodeRecord);
    layout.markers_offset = layout.slots_offset + std::uint64_t{local_tasks} * sizeof(TaskSlot);
    layout.boards_offset = layout.markers_offset + std::uint64_t{local_tasks} * sizeof(MarkerRow);
    layout.polled_offset = round_up(round_up(local_tasks, 64) / 8, kLine);
    layout.board_stride = layout.polled_offset + round_up(local_tasks, kLine);
    layout.fixed_bytes =
        round_up(layout.boards_offset + std::uint64_t{local_tasks} * layout.board_stride, kPage);
    layout.control_bytes = local_tasks <= 64 ? 2 * kPage : kPage;
    layout.ring_bytes = ring_bytes_for(local_tasks);
    layout.group_segments_offset =
        layout.fixed_bytes + std::uint64_t{local_tasks} * local_tasks * layout.pipe_bytes();
    layout.staging_offset = round_up(poe::group_segment_bytes(local_tasks), kPage);
    layout.group_segment_bytes =
        layout.staging_offset + round_up(staging_bytes(local_tasks), kPage);
    layout.file_bytes = layout.group_segments_offset + kGroupSegments * layout.group_segment_bytes;
    return layout;
}

SegmentMapping::SegmentMapping(SegmentMapping&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SegmentMapping& SegmentMapping::operator=(SegmentMapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    return *this;
}

SegmentMapping::~SegmentMapping() {
    if (start_ != nullptr) ::munmap(start_, size_);
}

NodeSegment NodeSegment::create(const NodeSegmentSpec& spec) {
    NodeSegment segment;
    segment.facts_ = facts_of(spec);
    segment.make_file(spec);
    try {
        const SegmentLayout& layout = segment.facts_.layout;
        if (::ftruncate(segment.file_.get(), static_cast<off_t>(layout.file_bytes)) != 0) {
            throw_errno("cannot size the node segment " + segment.path_ + " to " +
                        in_kilobytes(layout.file_bytes) + " (sparse)" +
                        (errno == EFBIG ? "; raise the limit of file sizes (`ulimit -f`)" : ""));
        }
        segment.reserve(0, layout.fixed_bytes, "the node segment of job " + spec.job_id);
        segment.map_fixed_part(segment.path_, Access::kReadWrite);
    } catch (...) {
        if (!segment.nameless()) ::unlink(segment.path_.c_str());
        throw;
    }
    segment.header_ = new (segment.fixed_.data()) SegmentHeader{};
    std::memcpy(segment.fixed_.data() + segment.facts_.layout.node_map_offset,
                spec.node_of_task.data(), spec.node_of_task.size() * sizeof(NodeIndex));
    segment.write_nodes(spec);
    // The rest is zero pages, and zero is the initial value of every slot and board word. The facts
    // are written last, so that a process that attaches too early finds no magic number.
    segment.header_->facts = segment.facts_;
    segment.read_node_map(segment.path_);
    segment.read_nodes(segment.path_);
    return segment;
}

void NodeSegment::make_file(const NodeSegmentSpec& spec) {
    if (spec.path.empty()) {
        path_ = "a nameless file";
        file_ = UniqueFd(::memfd_create(("poe-" + spec.job_id).c_str(), MFD_CLOEXEC));
    } else {
        path_ = spec.path;
        file_ = UniqueFd(
            ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    }
    if (!file_) throw_errno("cannot create the node segment " + path_);
    if (spec.path.empty())
        path_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.get());
}

NodeSegment NodeSegment::attach(const std::string& path) {
    return open_existing(path, Access::kReadWrite);
}

NodeSegment NodeSegment::watch(const std::string& path) {
    return open_existing(path, Access::kRead);
}

NodeSegment NodeSegment::open_existing(const std::string& path, Access access) {
    const std::string refusal = "cannot attach to the node segment " + path;
    const int mode = access == Access::kRead ? O_RDONLY : O_RDWR;
    const bool any_owner = access == Access::kRead && ::geteuid() == 0;
    NodeSegment segment;
    segment.path_ = path;
    // Descriptors below /proc are symbolic links. They must lead to a file of the same user, which
    // is checked below.
    const int links = is_nameless(path) ? 0 : O_NOFOLLOW;
    segment.file_ = UniqueFd(::open(path.c_str(), mode | O_CLOEXEC | O_NONBLOCK | links));
    if (!segment.file_) throw_errno(refusal);
    struct stat state {};
    if (::fstat(segment.file_.get(), &state) != 0) throw_errno(refusal);
    if (!S_ISREG(state.st_mode)) throw Error(refusal + ": it is not a plain file");
    if (state.st_uid != ::geteuid() && !any_owner)
        throw Error(refusal + ": it belongs to another user");
    const ssize_t got = ::pread(segment.file_.get(), &segment.facts_, sizeof(SegmentFacts), 0);
    if (got < 0) throw_errno(refusal);
    if (static_cast<std::size_t>(got) < sizeof(SegmentFacts)) {
        throw Error(refusal + ": it is too short");
    }
    if (const auto fault =
            fault_in(segment.facts_, static_cast<std::uint64_t>(state.st_size), state.st_uid)) {
        throw Error(refusal + ": " + *fault);
    }
    segment.map_fixed_part(path, access);
    segment.header_ = std::launder(reinterpret_cast<SegmentHeader*>(segment.fixed_.data()));
    segment.read_node_map(path);
    segment.read_nodes(path);
    return segment;
}

void NodeSegment::map_fixed_part(const std::string& path, Access access) {
    const std::size_t size = facts_.layout.fixed_bytes;
    const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
    void* start = ::mmap(nullptr, size, protection, MAP_SHARED, file_.get(), 0);
    if (start == MAP_FAILED) throw_errno("cannot map the node segment " + path);
    fixed_ = SegmentMapping(static_cast<std::byte*>(start), size);
}

void NodeSegment::read_node_map(const std::string& path) {
    const std::byte* map = fixed_.data() + facts_.layout.node_map_offset;
    node_of_task_.resize(facts_.tasks);
    std::memcpy(node_of_task_.data(), map, facts_.tasks * sizeof(NodeIndex));
    local_tasks_.reserve(facts_.local_tasks);
    for (std::uint32_t task = 0; task < facts_.tasks; ++task) {
        const NodeIndex node = node_of_task_[task];
        if (node < 0 || static_cast<std::uint32_t>(node) >= facts_.nodes) {
            throw Error("cannot attach to the node segment " + path + ": task " +
                        std::to_string(task) + " is on an impossible node");
        }
        if (node == facts_.node) local_tasks_.push_back(static_cast<TaskId>(task));
    }
    if (local_tasks_.size() != facts_.local_tasks) {
        throw Error("cannot attach to the node segment " + path + ": its node map has " +
                    std::to_string(local_tasks_.size()) + " local tasks, its header " +
                    std::to_string(facts_.local_tasks));
    }
}

void NodeSegment::write_nodes(const NodeSegmentSpec& spec) const {
    std::byte* at = fixed_.data() + facts_.layout.nodes_offset;
    for (std::size_t node = 0; node < facts_.nodes; ++node, at += sizeof(NodeRecord)) {
        NodeRecord record;
        if (node < spec.node_addresses.size()) record.address = spec.node_addresses[node];
        if (node < spec.node_names.size())
            spec.node_names[node].copy(record.name, sizeof record.name - 1);
        std::memcpy(at, &record, sizeof record);
    }
}

void NodeSegment::read_nodes(const std::string& path) {
    nodes_.resize(facts_.nodes);
    std::memcpy(nodes_.data(), fixed_.data() + facts_.layout.nodes_offset,
                nodes_.size() * sizeof(NodeRecord));
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        const NodeRecord& record = nodes_[node];
        if (!record.address.valid() || record.name[sizeof record.name - 1] != 0)
            throw Error("cannot attach to the node segment " + path + ": the address of node " +
                        std::to_string(node) + " is impossible");
    }
}

std::atomic<std::uint32_t>& NodeSegment::port_of(TaskId task) const noexcept {
    POE_CHECK(task >= 0 && static_cast<std::uint32_t>(task) < facts_.tasks, task);
    auto* ports =
        reinterpret_cast<std::atomic<std::uint32_t>*>(fixed_.data() + facts_.layout.ports_offset);
    return ports[task];
}

TaskSlot& NodeSegment::slot(std::uint32_t local_index) const noexcept {
    POE_CHECK(local_index < facts_.local_tasks, local_index, facts_.local_tasks);
    auto* slots = reinterpret_cast<TaskSlot*>(fixed_.data() + facts_.layout.slots_offset);
    return slots[local_index];
}

MarkerRow& NodeSegment::markers(std::uint32_t local_index) const noexcept {
    POE_CHECK(local_index < facts_.local_tasks, local_index, facts_.local_tasks);
    auto* rows = reinterpret_cast<MarkerRow*>(fixed_.data() + facts_.layout.markers_offset);
    return rows[local_index];
}

std::optional<std::uint32_t> NodeSegment::local_index(TaskId task) const noexcept {
    const auto found = std::lower_bound(local_tasks_.begin(), local_tasks_.end(), task);
    if (found == local_tasks_.end() || *found != task) return std::nullopt;
    return static_cast<std::uint32_t>(found - local_tasks_.begin());
}

std::span<std::atomic<std::uint64_t>> NodeSegment::doorbell_bits(
    std::uint32_t local_index) const noexcept {
    POE_CHECK(local_index < facts_.local_tasks, local_index, facts_.local_tasks);
    std::byte* board =
        fixed_.data() + facts_.layout.boards_offset + local_index * facts_.layout.board_stride;
    return {reinterpret_cast<std::atomic<std::uint64_t>*>(board), (facts_.local_tasks + 63) / 64};
}

std::span<std::atomic<std::uint8_t>> NodeSegment::polled(std::uint32_t local_index) const noexcept {
    POE_CHECK(local_index < facts_.local_tasks, local_index, facts_.local_tasks);
    std::byte* board =
        fixed_.data() + facts_.layout.boards_offset + local_index * facts_.layout.board_stride;
    return {reinterpret_cast<std::atomic<std::uint8_t>*>(board + facts_.layout.polled_offset),
            facts_.local_tasks};
}

void NodeSegment::announce_ending() const noexcept {
    header_->ending.store(1, std::memory_order_seq_cst);
    futex_wake(header_->ending);
    for (std::uint32_t index = 0; index < facts_.local_tasks; ++index) {
        TaskSlot& task = slot(index);
        task.doorbell.fetch_add(1, std::memory_order_seq_cst);
        futex_wake(task.doorbell);
    }
}

SegmentMapping NodeSegment::map_pipe(std::uint32_t sender, std::uint32_t receiver) const {
    POE_CHECK(sender < facts_.local_tasks && receiver < facts_.local_tasks, sender, receiver);
    const SegmentLayout& layout = facts_.layout;
    const std::uint64_t offset = layout.pipe_offset(sender, receiver, facts_.local_tasks);
    void* start = ::mmap(nullptr, layout.pipe_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
                         file_.get(), static_cast<off_t>(offset));
    if (start == MAP_FAILED) throw_errno("cannot map a pipe of the node segment " + path_);
    ::madvise(start, layout.pipe_bytes(), MADV_DONTDUMP);
    return {static_cast<std::byte*>(start), layout.pipe_bytes()};
}

void NodeSegment::reserve_pipe(std::uint32_t sender, std::uint32_t receiver, std::uint64_t from,
                               std::uint64_t to) const {
    POE_CHECK(from <= to && to <= facts_.layout.pipe_bytes(), from, to);
    const std::uint64_t start = facts_.layout.pipe_offset(sender, receiver, facts_.local_tasks);
    reserve(start + from, start + to,
            "messages from task " + std::to_string(task_at(sender)) + " to task " +
                std::to_string(task_at(receiver)));
}

std::optional<std::uint32_t> NodeSegment::reserve_group_segment() const {
    std::uint32_t taken = header_->group_segments_taken.load(std::memory_order_relaxed);
    for (;;) {
        const auto free = static_cast<std::uint32_t>(__builtin_ctz(~taken | 1u << kGroupSegments));
        if (free >= kGroupSegments) return std::nullopt;
        if (!header_->group_segments_taken.compare_exchange_weak(taken, taken | 1u << free,
                                                                 std::memory_order_acq_rel)) {
            continue;
        }
        const std::uint64_t start =
            facts_.layout.group_segments_offset + free * facts_.layout.group_segment_bytes;
        try {
            reserve(start, start + facts_.layout.staging_offset, "shared memory of a group");
        } catch (const Error&) {
            release_group_segment(free);
            throw;
        }
        return free;
    }
}

void NodeSegment::reserve_staging(std::uint32_t index, Bytes bytes) const {
    POE_CHECK(index < kGroupSegments && bytes <= staging_bytes(facts_.local_tasks), index, bytes);
    const std::uint64_t start = facts_.layout.group_segments_offset +
                                index * facts_.layout.group_segment_bytes +
                                facts_.layout.staging_offset;
    reserve(start, start + bytes, "long data of a group");
}

void NodeSegment::release_group_segment(std::uint32_t index) const noexcept {
    header_->group_segments_taken.fetch_and(~(1u << index), std::memory_order_acq_rel);
}

SegmentMapping NodeSegment::map_group_segment(std::uint32_t index) const {
    POE_CHECK(index < kGroupSegments, index);
    const std::size_t size = facts_.layout.group_segment_bytes;
    const std::uint64_t offset = facts_.layout.group_segments_offset + index * size;
    void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
                         static_cast<off_t>(offset));
    if (start == MAP_FAILED) throw_errno("cannot map the shared memory of a group in " + path_);
    return {static_cast<std::byte*>(start), size};
}

void NodeSegment::reserve(std::uint64_t from, std::uint64_t to, const std::string& what) const {
    int result = 0;
    do {
        result =
            ::fallocate(file_.get(), 0, static_cast<off_t>(from), static_cast<off_t>(to - from));
    } while (result != 0 && errno == EINTR);
    if (result == 0) return;
    if (errno == ENOSPC || errno == ENOMEM || errno == EDQUOT)
        throw_full(path_, to - from, what, errno);
    throw_errno("cannot reserve memory for " + what + " in " + path_);
}

NodeSegment::Cost NodeSegment::cost() const {
    const SegmentLayout& layout = facts_.layout;
    Cost cost;
    cost.fixed_per_task = layout.fixed_bytes / facts_.local_tasks;
    cost.per_used_pipe_min = layout.control_bytes;
    cost.per_used_pipe_max = layout.pipe_bytes();
    struct stat state {};
    if (::fstat(file_.get(), &state) != 0) throw_errno("cannot look at " + path_);
    cost.in_use = static_cast<Bytes>(state.st_blocks) * 512;
    cost.in_use_per_task = cost.in_use / facts_.local_tasks;
    return cost;
}

}  // namespace poe
