// See perf_rings.hpp.
#include "partition_manager/sampling/perf_rings.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/proc_files.hpp"

namespace poe::pm {

struct PerfRings::Ring {
    int processor = 0;
    UniqueFd file;
    void* memory = nullptr;
    std::size_t mapped = 0;
    std::size_t page = 0;
    std::size_t bytes = 0;  // of the data

    ~Ring() {
        if (memory != nullptr) ::munmap(memory, mapped);
    }
    perf_event_mmap_page& head() const { return *static_cast<perf_event_mmap_page*>(memory); }
};

namespace {

constexpr std::size_t kRingPages =
    128;  // what kernel.perf_event_mlock_kb allows by default, less a page
constexpr std::size_t kFewestPages = 16;

int open_event(perf_event_attr& attributes, pid_t thread, int processor) {
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, thread, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr attributes_of(std::uint32_t type, std::uint64_t config) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = config;
    attributes.exclude_hv = 1;
    return attributes;
}

// All events of a ring must use the same clock: that of traces.
void use_clock_of_traces(perf_event_attr& attributes) {
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
}

perf_event_attr sampling_attributes(std::uint64_t period, bool sees_kernel) {
    perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    use_clock_of_traces(attributes);
    attributes.sample_period = period;
    attributes.sample_type = sample_fields();
    attributes.sample_regs_user = copied_registers();
    attributes.sample_stack_user = kCopiedStack;
    attributes.sample_id_all = 1;
    attributes.inherit = 1;
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    attributes.exclude_kernel = sees_kernel ? 0 : 1;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<std::uint32_t>(kRingPages * 4096 / 4);
    return attributes;
}

struct CountedEvent {
    std::uint32_t type;
    std::uint64_t config;
    trace::Metric metric;
};
constexpr CountedEvent kCounted[] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, trace::Metric::kCycles},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, trace::Metric::kInstructions},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, trace::Metric::kCacheMisses},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, trace::Metric::kTaskClock},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, trace::Metric::kPageFaults},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, trace::Metric::kContextSwitches},
};

int paranoia() {
    std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
    int level = 0;
    file >> level;
    return level;
}

std::string refusal(int error) {
    constexpr int kMostParanoid = 2;
    if (error == EACCES || error == EPERM) {
        const int level = paranoia();
        if (level <= kMostParanoid)
            return "this computer does not allow perf events, although kernel.perf_event_paranoid "
                   "is " +
                   std::to_string(level) + ": a container or a security policy forbids them";
        return "the kernel does not allow perf events, because kernel.perf_event_paranoid is " +
               std::to_string(level) + "; allow them with: sysctl kernel.perf_event_paranoid=2";
    }
    if (error == ENOSYS) return "the kernel has no perf events";
    if (error == EMFILE)
        return "there are too few file descriptors for the perf events of all tasks (ulimit -n)";
    return "perf events fail: " + std::string(std::strerror(error));
}

// Returns by how much CLOCK_MONOTONIC of this process is ahead of the kernel's, which perf events
// use. They differ in a time namespace.
std::int64_t clock_offset() {
    std::ifstream file("/proc/self/timens_offsets");
    std::string clock;
    for (std::int64_t seconds = 0, ns = 0; file >> clock >> seconds >> ns;)
        if (clock == "monotonic") return seconds * 1'000'000'000 + ns;
    return 0;
}

}  // namespace

PerfRings::PerfRings(int rate, bool software)
    : period_(1'000'000'000u / static_cast<std::uint64_t>(rate)),
      counts_software_(software),
      clock_offset_(clock_offset()) {
    // Tried on this process. An ordinary user may not always sample what happens in system calls.
    for (const bool kernel : {true, false}) {
        perf_event_attr attributes = sampling_attributes(period_, kernel);
        const UniqueFd trial(open_event(attributes, 0, -1));
        sees_kernel_ = kernel;
        if (trial) break;
        if (!kernel) throw Error(refusal(errno));
    }
    perf_event_attr cycles = attributes_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    cycles.exclude_kernel = 1;
    has_hardware_counters_ = static_cast<bool>(UniqueFd(open_event(cycles, 0, -1)));
    open_rings();
}

PerfRings::~PerfRings() = default;

void PerfRings::open_rings() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
    for (int processor = 0; processor < processors; ++processor) {
        perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
        use_clock_of_traces(attributes);
        attributes.exclude_kernel = 1;
        attributes.sample_type =
            sample_fields() & ~std::uint64_t{PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER};
        attributes.sample_id_all = 1;
        attributes.watermark = 1;
        attributes.wakeup_watermark = static_cast<std::uint32_t>(kRingPages * page / 4);
        auto ring = std::make_unique<Ring>();
        ring->processor = processor;
        ring->page = page;
        ring->file.reset(open_event(attributes, 0, processor));
        if (!ring->file) {
            if (errno == ENODEV || errno == EINVAL) continue;  // the processor is switched off
            throw Error(refusal(errno));
        }
        for (std::size_t pages = kRingPages; pages >= kFewestPages; pages /= 2) {
            ring->bytes = pages * page;
            ring->mapped = ring->bytes + page;
            ring->memory = ::mmap(nullptr, ring->mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
                                  ring->file.get(), 0);
            if (ring->memory != MAP_FAILED) break;
            ring->memory = nullptr;
        }
        if (ring->memory == nullptr)
            throw Error(
                "there is no memory for the kernel's samples (kernel.perf_event_mlock_kb, "
                "ulimit -l)");
        rings_.push_back(std::move(ring));
    }
}

// Returns an error number; ESRCH if the thread has ended.
int PerfRings::open_events(TaskId task, pid_t thread, bool doubtful) {
    perf_event_attr attributes = sampling_attributes(period_, sees_kernel_);
    for (std::size_t place = 0; place < rings_.size(); ++place) {
        const auto& ring = rings_[place];
        UniqueFd file(open_event(attributes, thread, ring->processor));
        std::uint64_t event = 0;
        if (!file || ::ioctl(file.get(), PERF_EVENT_IOC_SET_OUTPUT, ring->file.get()) != 0 ||
            ::ioctl(file.get(), PERF_EVENT_IOC_ID, &event) != 0)
            return errno;
        const auto after = std::upper_bound(
            known_.begin(), known_.end(), event,
            [](std::uint64_t added, const Known& known) { return added < known.event; });
        known_.insert(after, {event, task, thread, place});
        if (doubtful)
            doubts_[event].file = std::move(file);
        else
            files_.push_back(std::move(file));
    }
    return 0;
}

void PerfRings::add_counters(TaskId task, pid_t thread) {
    for (const CountedEvent& counted : kCounted) {
        const bool hardware = counted.type == PERF_TYPE_HARDWARE;
        if (!(hardware ? has_hardware_counters_ : counts_software_)) continue;
        perf_event_attr attributes = attributes_of(counted.type, counted.config);
        attributes.inherit = 1;
        attributes.exclude_kernel = sees_kernel_ ? 0 : 1;
        UniqueFd file(open_event(attributes, thread, -1));
        if (file) counters_.push_back({task, counted.metric, std::move(file)});
    }
}

namespace {

// Appends the threads of the process and of the processes that it has started.
void list_threads(pid_t process, std::vector<PerfRings::ListedThread>& threads) {
    const std::string folder = "/proc/" + std::to_string(process) + "/task/";
    for (const pid_t thread : threads_of(process)) {
        threads.push_back({process, thread});
        std::ifstream children(folder + std::to_string(thread) + "/children");
        for (pid_t child = 0; children >> child;) list_threads(child, threads);
    }
}

}  // namespace

// Lists the threads repeatedly, until the events of all threads in a list are open. A program that
// makes short threads all the time ends this by the limit.
std::string PerfRings::add(TaskId task, pid_t process) {
    constexpr int kMostLists = 10;
    std::string trouble;
    for (int list = 0; list < kMostLists && trouble.empty(); ++list) {
        std::vector<ListedThread> threads;
        list_threads(process, threads);
        if (!open_unopened(task, threads, list > 0, trouble)) break;
    }
    // Its sleeping threads are recorded in any case.
    if (on_added && !opened_.contains(process)) on_added(task, process);
    return trouble;
}

// Opens the events of those of the threads that have none. Returns whether there were any.
// `trouble` gets what is not possible.
bool PerfRings::open_unopened(TaskId task, const std::vector<ListedThread>& threads, bool doubtful,
                              std::string& trouble) {
    bool any = false;
    std::set<pid_t> added;  // processes
    for (const ListedThread& each : threads) {
        if (opened_.contains(each.thread)) continue;
        const int error = open_events(task, each.thread, doubtful);
        if (error == ESRCH) continue;  // it has ended
        if (error != 0) {
            trouble = refusal(error);
            return true;
        }
        any = true;
        opened_.insert(each.thread);
        unforked_.insert(each.thread);
        if (doubtful)
            uncounted_.insert(each.thread);
        else
            add_counters(task, each.thread);
        if (added.insert(each.process).second && on_added) on_added(task, each.process);
    }
    return any;
}

// Returns false for a record that another event of the same thread has written, too.
bool PerfRings::counts(const PerfEvent& event) {
    // What there was before is of an ended thread that had the same number.
    if (event.kind == PerfEvent::Kind::kForked || event.kind == PerfEvent::Kind::kThreadMade)
        forget_records(event.thread);
    const Known* const known = find(event.event);
    if (known == nullptr || event.kind == PerfEvent::Kind::kLost) return true;
    const auto [lowest, is_first] =
        lowest_.try_emplace({event.recorded_by, known->ring}, event.event);
    if (lowest->second != event.event) {
        doubts_.erase(std::max(lowest->second, event.event));
        lowest->second = std::min(lowest->second, event.event);
        return false;
    }
    // The second sample in sequence that has no twin: the thread has inherited nothing.
    const auto doubt = doubts_.find(event.event);
    if (event.kind == PerfEvent::Kind::kSample && doubt != doubts_.end() &&
        ++doubt->second.samples == 2 && uncounted_.erase(known->thread) > 0)
        add_counters(known->task, known->thread);
    return true;
}

bool PerfRings::has_records(pid_t thread) const {
    const auto first = lowest_.lower_bound({thread, 0});
    return first != lowest_.end() && first->first.first == thread;
}

void PerfRings::forget_records(pid_t thread) {
    lowest_.erase(lowest_.lower_bound({thread, 0}), lowest_.lower_bound({thread + 1, 0}));
}

// Nobody has inherited the events of a thread that has made no other.
void PerfRings::on_ended(pid_t thread) {
    forget_records(thread);
    uncounted_.erase(thread);
    if (opened_.erase(thread) > 0 && unforked_.erase(thread) > 0)
        std::erase_if(doubts_, [&](const auto& doubt) {
            const Known* const known = find(doubt.first);
            return known != nullptr && known->thread == thread;
        });
}

// Opens the events of a new thread that may have inherited none, and of what the thread has started
// since.
void PerfRings::add_made(const PerfEvent& made) {
    const Known* const known = find(made.event);
    // If the maker writes this record by an event that it has inherited, it was not copied while
    // events were opened. Neither was the new thread if it has written records.
    if (known == nullptr || unforked_.erase(made.recorded_by) == 0 ||
        known->thread != made.recorded_by || has_records(made.thread))
        return;
    std::vector<ListedThread> threads;
    if (made.kind == PerfEvent::Kind::kForked) {
        list_threads(made.process, threads);
    } else {
        threads.push_back({made.process, made.thread});
    }
    // If this is not possible, for example because there are no file descriptors left, the thread
    // has probably inherited its events.
    std::string trouble;
    open_unopened(known->task, threads, true, trouble);
}

void PerfRings::read(std::vector<PerfEvent>& events) {
    const std::size_t first = events.size();
    std::vector<std::byte> bytes;
    for (const auto& ring : rings_) {
        perf_event_mmap_page& head = ring->head();
        const std::uint64_t end = std::atomic_ref(head.data_head).load(std::memory_order_acquire);
        const std::uint64_t begin = head.data_tail;
        if (begin == end) continue;
        bytes.resize(static_cast<std::size_t>(end - begin));
        const auto* data = static_cast<const std::byte*>(ring->memory) + ring->page;
        const auto at = static_cast<std::size_t>(begin % ring->bytes);
        const std::size_t part = std::min(bytes.size(), ring->bytes - at);
        std::memcpy(bytes.data(), data + at, part);
        std::memcpy(bytes.data() + part, data, bytes.size() - part);
        std::atomic_ref(head.data_tail).store(end, std::memory_order_release);
        read_perf_events(bytes, events);
    }
    for (std::size_t i = first; i < events.size(); ++i)
        events[i].time += static_cast<std::uint64_t>(clock_offset_);
    std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(),
                     [](const PerfEvent& a, const PerfEvent& b) { return a.time < b.time; });
    std::size_t kept = first;
    for (std::size_t i = first; i < events.size(); ++i)
        if (counts(events[i])) std::swap(events[kept++], events[i]);
    events.resize(kept);
    for (std::size_t i = first; i < events.size(); ++i) {
        const PerfEvent& event = events[i];
        if (event.kind == PerfEvent::Kind::kEnded) on_ended(event.thread);
        if (event.kind == PerfEvent::Kind::kForked || event.kind == PerfEvent::Kind::kThreadMade)
            add_made(event);
    }
}

void PerfRings::wait(int other, int milliseconds) {
    std::vector<pollfd> files;
    files.push_back({other, POLLIN, 0});
    for (const auto& ring : rings_) files.push_back({ring->file.get(), POLLIN, 0});
    static_cast<void>(::poll(files.data(), files.size(), milliseconds));
}

void PerfRings::read_counters(std::vector<CounterValue>& values) const {
    for (const Counter& counter : counters_) {
        std::uint64_t value = 0;
        if (::read(counter.file.get(), &value, sizeof value) != sizeof value) continue;
        const auto same = std::find_if(values.begin(), values.end(), [&](const CounterValue& v) {
            return v.task == counter.task && v.metric == counter.metric;
        });
        if (same != values.end())
            same->value += value;
        else
            values.push_back({counter.task, counter.metric, value});
    }
}

const PerfRings::Known* PerfRings::find(std::uint64_t event) const {
    const auto found = std::lower_bound(
        known_.begin(), known_.end(), event,
        [](const Known& known, std::uint64_t wanted) { return known.event < wanted; });
    return found != known_.end() && found->event == event ? &*found : nullptr;
}

TaskId PerfRings::task_of(std::uint64_t event) const {
    const Known* const known = find(event);
    return known != nullptr ? known->task : -1;
}

}  // namespace poe::pm
