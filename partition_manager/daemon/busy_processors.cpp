// See busy_processors.hpp.
#include "partition_manager/daemon/busy_processors.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "base/parse.hpp"
#include "partition_manager/status/job_listing.hpp"
#include "partition_manager/status/process_facts.hpp"

namespace poe::pm {

namespace {

constexpr std::chrono::milliseconds kLockPatience{200};
constexpr std::chrono::milliseconds kLockAgain{1};

void for_each_name(const char* directory, const std::function<void(const char*)>& use) {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory), ::closedir);
    if (!listing) return;
    while (const dirent* entry = ::readdir(listing.get())) use(entry->d_name);
}

bool has_other_jobs(const std::string& parent, const std::string& own_job) {
    bool found = false;
    for_each_name(parent.c_str(), [&](const char* name) {
        const auto job = parse_job_name(name);
        found = found || (job && job->id != own_job);
    });
    return found;
}

bool is_task(pid_t pid) {
    const auto facts = process_facts(pid);
    if (!facts || facts->parent == ::getpid()) return false;
    const auto parent = process_facts(facts->parent);
    return parent && parent->name == "pmd" && facts->name != "pmd-pmix";
}

}  // namespace

UniqueFd lock_processors(const std::string& parent) {
    UniqueFd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
    while (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (std::chrono::steady_clock::now() > deadline) return {};
        std::this_thread::sleep_for(kLockAgain);
    }
    return fd;
}

cpu_set_t busy_processors(const std::string& parent, const std::string& own_job,
                          const cpu_set_t& usable) {
    cpu_set_t busy;
    CPU_ZERO(&busy);
    if (!has_other_jobs(parent, own_job)) return busy;
    for_each_name("/proc", [&](const char* name) {
        const pid_t pid = parse_number<pid_t>(name).value_or(0);
        if (pid <= 0) return;
        cpu_set_t bound;
        CPU_ZERO(&bound);
        // The affinity is checked first, because it is one system call and excludes most processes.
        if (::sched_getaffinity(pid, sizeof bound, &bound) != 0) return;
        cpu_set_t shared;
        CPU_AND(&shared, &bound, &usable);
        if (CPU_EQUAL(&shared, &usable) || CPU_COUNT(&shared) == 0 || !is_task(pid)) return;
        CPU_OR(&busy, &busy, &shared);
    });
    return busy;
}

std::vector<Core> free_cores(const std::vector<Core>& cores, const cpu_set_t& busy) {
    std::vector<Core> free;
    for (const Core& core : cores)
        if (std::none_of(core.begin(), core.end(), [&](int cpu) { return CPU_ISSET(cpu, &busy); }))
            free.push_back(core);
    return free;
}

std::string processors_in_words(const cpu_set_t& set) {
    std::string words;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
        if (!words.empty()) words += ",";
        words += std::to_string(cpu);
        if (last > cpu) words += "-" + std::to_string(last);
        cpu = last;
    }
    return words;
}

}  // namespace poe::pm
