// See system_sampler.hpp.
#include "partition_manager/daemon/system_sampler.hpp"

#include <array>
#include <cctype>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.hpp"
#include "base/proc_files.hpp"

namespace poe::pm {
namespace {

using trace::Metric;
using trace::Record;

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kSectorBytes = 512;
constexpr std::uint64_t kKilo = 1024;

UniqueFd open_file(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Reads the beginning of a file of /proc again.
template <std::size_t size>
std::string_view read_now(const UniqueFd& file, std::array<char, size>& buffer) {
    if (!file) return {};
    const ssize_t count = ::pread(file.get(), buffer.data(), buffer.size(), 0);
    return count > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(count))
                     : std::string_view();
}

std::string_view next_word(std::string_view& text) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) {
        text = {};
        return {};
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

std::uint64_t number_in(std::string_view word) {
    return take_number<std::uint64_t>(word).value_or(0);
}

trace::Doing doing_of(char state) {
    switch (state) {
        case 'R':
            return trace::Doing::kRuns;
        case 'D':
            return trace::Doing::kDisk;
        case 'T':
        case 't':
            return trace::Doing::kStopped;
        default:
            return trace::Doing::kSleeps;
    }
}

std::string_view next_line(std::string_view& text) {
    const std::size_t feed = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, feed);
    text.remove_prefix(std::min(feed + 1, text.size()));
    return line;
}

// The bytes and packets that all interfaces except the loopback have received and sent.
struct NetworkSums {
    std::uint64_t bytes_in = 0;
    std::uint64_t packets_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t packets_out = 0;
};
NetworkSums network_sums(std::string_view text) {
    NetworkSums sum;
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        std::string_view name = line.substr(0, colon);
        if (next_word(name) == "lo") continue;
        std::string_view rest = line.substr(colon + 1);
        for (int field = 0; field < 10; ++field) {
            const std::uint64_t value = number_in(next_word(rest));
            if (field == 0) sum.bytes_in += value;
            if (field == 1) sum.packets_in += value;
            if (field == 8) sum.bytes_out += value;
            if (field == 9) sum.packets_out += value;
        }
    }
    return sum;
}

// Returns the bytes read and written by whole disks. Partitions and stacked devices are not
// counted.
std::pair<std::uint64_t, std::uint64_t> disk_bytes(std::string_view text) {
    std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
    while (!text.empty()) {
        std::string_view line = next_line(text);
        next_word(line);
        next_word(line);
        const std::string_view name = next_word(line);
        const bool whole =
            (name.starts_with("nvme") && name.find('p') == std::string_view::npos) ||
            ((name.starts_with("sd") || name.starts_with("vd") || name.starts_with("xvd")) &&
             std::isdigit(static_cast<unsigned char>(name.back())) == 0);
        if (!whole) continue;
        for (int field = 0; field < 7; ++field) {
            const std::uint64_t value = number_in(next_word(line));
            if (field == 2) sum.first += value * kSectorBytes;
            if (field == 6) sum.second += value * kSectorBytes;
        }
    }
    return sum;
}

// Returns the number of the tracepoint that each system call passes. Empty if tracefs is not
// mounted or may not be read.
std::optional<std::uint64_t> system_call_event() {
    for (const char* directory : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        const UniqueFd file =
            open_file(std::string(directory) + "/events/raw_syscalls/sys_enter/id");
        std::array<char, 32> buffer{};
        std::string_view text = read_now(file, buffer);
        if (const auto number = take_number<std::uint64_t>(text)) return number;
    }
    return std::nullopt;
}

// Counts the event in a process from now on, with the threads and processes that it starts. Empty
// if that is not permitted.
UniqueFd count_event(std::uint64_t tracepoint, pid_t process) {
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = tracepoint;
    attributes.inherit = 1;
    return UniqueFd(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

SystemSampler::SystemSampler()
    : ns_per_tick_(kNsPerSecond / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK))),
      page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
      system_call_event_(system_call_event()) {}

SystemSampler::Task& SystemSampler::task_of(TaskId task, pid_t process) {
    if (static_cast<std::size_t>(task) >= tasks_.size())
        tasks_.resize(static_cast<std::size_t>(task) + 1);
    Task& known = tasks_[static_cast<std::size_t>(task)];
    if (known.process == process) return known;
    const std::string folder = "/proc/" + std::to_string(process) + "/";
    known.process = process;
    known.stat = open_file(folder + "stat");
    known.status = open_file(folder + "status");
    known.io = open_file(folder + "io");
    if (system_call_event_) known.system_calls = count_event(*system_call_event_, process);
    return known;
}

void SystemSampler::tell(std::vector<std::uint64_t>& told, std::uint32_t owner, Metric metric,
                         std::uint64_t sum, std::vector<Record>& records) {
    const auto place = static_cast<std::size_t>(metric);
    if (told.size() <= place) told.resize(place + 1, ~std::uint64_t{0});
    if (told[place] == sum) return;
    told[place] = sum;
    records.push_back({.kind = trace::Kind::kSystem,
                       .detail = static_cast<std::uint8_t>(metric),
                       .a = owner,
                       .b = sum});
}

void SystemSampler::sample_task(TaskId task, pid_t process, bool statistics, bool doing,
                                std::vector<Record>& records) {
    Task& of = task_of(task, process);
    std::array<char, 4096> buffer{};
    std::string_view stat = read_now(of.stat, buffer);
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return;
    stat.remove_prefix(name_end + 1);
    std::array<std::string_view, 53> fields{};  // numbered as in proc(5)
    for (std::size_t i = 3; i < fields.size(); ++i) fields[i] = next_word(stat);
    if (fields[3].empty()) return;
    const auto owner = static_cast<std::uint32_t>(task);
    if (doing) {
        const trace::Doing now = doing_of(fields[3].front());
        if (of.doing != now)
            records.push_back({.kind = trace::Kind::kDoing,
                               .detail = static_cast<std::uint8_t>(now),
                               .a = owner});
        of.doing = now;
    }
    if (!statistics) return;
    tell(of.told, owner, Metric::kFaultsMinor, number_in(fields[10]), records);
    tell(of.told, owner, Metric::kFaultsMajor, number_in(fields[12]), records);
    tell(of.told, owner, Metric::kCpuUser, number_in(fields[14]) * ns_per_tick_, records);
    tell(of.told, owner, Metric::kCpuSystem, number_in(fields[15]) * ns_per_tick_, records);
    tell(of.told, owner, Metric::kMemory, number_in(fields[24]) * page_bytes_, records);
    const std::string_view status = read_now(of.status, buffer);
    if (const auto count = number_after(status, "voluntary_ctxt_switches:"))
        tell(of.told, owner, Metric::kSwitchesVoluntary, *count, records);
    if (const auto count = number_after(status, "nonvoluntary_ctxt_switches:"))
        tell(of.told, owner, Metric::kSwitchesForced, *count, records);
    const std::string_view io = read_now(of.io, buffer);
    if (const auto bytes = number_after(io, "read_bytes:"))
        tell(of.told, owner, Metric::kDiskRead, *bytes, records);
    if (const auto bytes = number_after(io, "write_bytes:"))
        tell(of.told, owner, Metric::kDiskWritten, *bytes, records);
    std::uint64_t calls = 0;
    if (of.system_calls && ::read(of.system_calls.get(), &calls, sizeof calls) == sizeof calls)
        tell(of.told, owner, Metric::kSystemCalls, calls, records);
}

void SystemSampler::sample_node(std::vector<Record>& records) {
    if (!stat_) {
        stat_ = open_file("/proc/stat");
        memory_ = open_file("/proc/meminfo");
        vmstat_ = open_file("/proc/vmstat");
        network_ = open_file("/proc/net/dev");
        disks_ = open_file("/proc/diskstats");
    }
    std::array<char, 32768> buffer{};
    const auto say = [&](Metric metric, std::uint64_t sum) {
        tell(node_told_, trace::kNobody, metric, sum, records);
    };
    const std::string_view stat = read_now(stat_, buffer);
    if (stat.starts_with("cpu ")) {
        std::string_view rest = stat.substr(3);
        const std::uint64_t user = number_in(next_word(rest));
        const std::uint64_t nice = number_in(next_word(rest));
        say(Metric::kCpuUser, (user + nice) * ns_per_tick_);
        say(Metric::kCpuSystem, number_in(next_word(rest)) * ns_per_tick_);
        // The CPU time of the node is that of all its processors.
        say(Metric::kProcessors,
            static_cast<std::uint64_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 0L)));
    }
    if (const auto count = number_after(stat, "ctxt")) say(Metric::kSwitchesVoluntary, *count);
    const std::string_view memory = read_now(memory_, buffer);
    const auto total = number_after(memory, "MemTotal:");
    const auto available = number_after(memory, "MemAvailable:");
    if (total && available) say(Metric::kMemory, (*total - *available) * kKilo);
    const std::string_view vmstat = read_now(vmstat_, buffer);
    if (const auto count = number_after(vmstat, "pgfault ")) say(Metric::kFaultsMinor, *count);
    if (const auto count = number_after(vmstat, "pgmajfault ")) say(Metric::kFaultsMajor, *count);
    if (const std::string_view text = read_now(network_, buffer); !text.empty()) {
        const NetworkSums sums = network_sums(text);
        say(Metric::kNetworkIn, sums.bytes_in);
        say(Metric::kNetworkOut, sums.bytes_out);
        say(Metric::kPacketsIn, sums.packets_in);
        say(Metric::kPacketsOut, sums.packets_out);
    }
    if (const std::string_view text = read_now(disks_, buffer); !text.empty()) {
        const auto [read, written] = disk_bytes(text);
        say(Metric::kDiskRead, read);
        say(Metric::kDiskWritten, written);
    }
}

}  // namespace poe::pm
