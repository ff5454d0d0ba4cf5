// See observed_threads.hpp.
#include "partition_manager/daemon/observed_threads.hpp"

#include <algorithm>
#include <fstream>
#include <linux/futex.h>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <utility>
#include <vector>

#include "base/proc_files.hpp"

namespace poe::pm {
namespace {

using Switches =
    std::map<pid_t, std::string>;  // by thread: the number of times that it gave up its processor

// True if no other process shares this memory: it is private and has no file.
bool is_own_memory(pid_t process, std::uint64_t address) {
    std::ifstream file("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::uint64_t begin = 0, end = 0, offset = 0, inode = 1;
        char dash = 0;
        std::string rights, device;
        words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> std::dec >>
            inode;
        if (!words || address < begin || address >= end) continue;
        return rights.size() == 4 && rights[3] == 'p' && inode == 0;
    }
    return false;
}

// pthread_join sleeps on a word that the kernel changes when the thread ends, so the system call is
// the one for memory that may be shared.
bool waits_for_a_thread(pid_t process, const std::string& thread) {
    std::ifstream file(thread + "/syscall");
    long call = 0;
    std::uint64_t address = 0, operation = 0, value = 0, timeout = 1;
    if (!(file >> call >> std::hex >> address >> operation >> value >> timeout)) return false;
    const std::uint64_t what = operation & ~std::uint64_t{FUTEX_CLOCK_REALTIME};
    if (call != SYS_futex || timeout != 0) return false;
    if (what == FUTEX_WAIT_PRIVATE || what == FUTEX_WAIT_BITSET_PRIVATE) return true;
    return (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) && is_own_memory(process, address);
}

std::string switches_of(const std::string& thread) {
    std::ifstream file(thread + "/status");
    std::string found;
    for (std::string line; std::getline(file, line);)
        if (line.find("ctxt_switches") != std::string::npos) found += line;
    return found;
}

// Returns nothing if a thread does not sleep.
std::optional<Switches> look(pid_t process, std::span<const pid_t> left_out) {
    Switches all;
    const std::vector<pid_t> threads = threads_of(process);
    if (threads.empty()) return std::nullopt;
    for (const pid_t thread : threads) {
        if (std::find(left_out.begin(), left_out.end(), thread) != left_out.end()) continue;
        const std::string folder =
            "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
        std::string switches = switches_of(folder);
        if (switches.empty() || !waits_for_a_thread(process, folder)) return std::nullopt;
        all[thread] = std::move(switches);
    }
    return all;
}

}  // namespace

// A thread that has not run between the two looks has slept all the time between them, so if none
// has run, all have slept at the same time.
bool other_threads_sleep(pid_t process, std::span<const pid_t> left_out,
                         const std::function<bool()>& meanwhile) {
    const auto first = look(process, left_out);
    return first && meanwhile() && first == look(process, left_out);
}

}  // namespace poe::pm
