// See file_use.hpp.
#include "partition_manager/daemon/file_use.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <vector>

#include "base/proc_files.hpp"

namespace poe::pm {
namespace {

// System calls in which a thread waits for others or for time.
constexpr std::array<long, 10> kWaits{
    SYS_poll,     SYS_ppoll,       SYS_epoll_wait, SYS_epoll_pwait,     SYS_select,
    SYS_pselect6, SYS_sched_yield, SYS_nanosleep,  SYS_clock_nanosleep, SYS_futex};

std::optional<std::uint64_t> calls_for_data(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/io");
    std::uint64_t sum = 0;
    int found = 0;
    std::string name;
    for (std::uint64_t value = 0; file >> name >> value;)
        if (name == "syscr:" || name == "syscw:") sum += value, ++found;
    if (found != 2) return std::nullopt;
    return sum;
}

// In /proc, a thread that runs or could run is "running". A thread that sleeps outside of system
// calls, for example while a page of a file is read, has the number -1.
bool is_in_no_file(pid_t process, pid_t thread) {
    std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                       "/syscall");
    std::string call;
    if (!(file >> call)) return false;
    return call == "running" || std::any_of(kWaits.begin(), kWaits.end(), [&](long wait) {
               return call == std::to_string(wait);
           });
}

bool no_thread_is_in_a_file(pid_t process) {
    const std::vector<pid_t> threads = threads_of(process);
    return !threads.empty() && std::all_of(threads.begin(), threads.end(), [&](pid_t thread) {
        return is_in_no_file(process, thread);
    });
}

}  // namespace

bool FileUse::rests(pid_t process, std::chrono::steady_clock::time_point now,
                    std::chrono::milliseconds apart) {
    const auto calls = calls_for_data(process);
    if (!calls) return false;
    const auto [at, is_new] = seen_.try_emplace(process, Seen{*calls, now});
    if (is_new || at->second.calls != *calls) {
        at->second = {*calls, now};
        return false;
    }
    return now - at->second.since >= apart && no_thread_is_in_a_file(process);
}

}  // namespace poe::pm
