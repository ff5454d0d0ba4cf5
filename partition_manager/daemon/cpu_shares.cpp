// See cpu_shares.hpp.
#include "partition_manager/daemon/cpu_shares.hpp"

#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace poe::pm {

namespace {

// Returns the number `what` of the processor's topology; -1 if it is not reported.
int topology(int cpu, const char* what) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + what);
    int number = -1;
    return file >> number ? number : -1;
}

}  // namespace

std::vector<Core> usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
    std::map<std::pair<int, int>, Core> known;  // by package and core
    std::vector<Core> unknown;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        const int core = topology(cpu, "core_id");
        if (core < 0)
            unknown.push_back({cpu});
        else
            known[{topology(cpu, "physical_package_id"), core}].push_back(cpu);
    }
    std::vector<Core> cores;
    cores.reserve(known.size() + unknown.size());
    for (auto& [where, core] : known) cores.push_back(std::move(core));
    cores.insert(cores.end(), unknown.begin(), unknown.end());
    return cores;
}

namespace {

// The cores if there are at least `wanted`; otherwise the processors as cores of their own, if
// these are enough; otherwise nothing.
std::vector<Core> enough_units(const std::vector<Core>& cores, std::size_t wanted) {
    if (cores.size() >= wanted) return cores;
    std::vector<Core> units;
    for (const Core& core : cores)
        for (const int cpu : core) units.push_back({cpu});
    return units.size() >= wanted ? units : std::vector<Core>();
}

cpu_set_t set_of(const std::vector<Core>& units, std::size_t begin, std::size_t end) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t unit = begin; unit < end; ++unit)
        for (const int cpu : units[unit]) CPU_SET(cpu, &set);
    return set;
}

}  // namespace

std::vector<cpu_set_t> cpu_shares(const std::vector<Core>& cores, std::size_t tasks) {
    const std::vector<Core> units = enough_units(cores, tasks);
    if (units.empty()) return {};
    std::vector<cpu_set_t> shares;
    for (std::size_t task = 0; task < tasks; ++task)
        shares.push_back(
            set_of(units, task * units.size() / tasks, (task + 1) * units.size() / tasks));
    return shares;
}

std::vector<cpu_set_t> thread_shares(const std::vector<Core>& cores, std::size_t tasks,
                                     std::size_t threads) {
    const std::vector<Core> units = enough_units(cores, tasks * threads);
    if (units.empty()) return {};
    std::vector<cpu_set_t> shares;
    for (std::size_t task = 0; task < tasks; ++task)
        shares.push_back(set_of(units, task * threads, (task + 1) * threads));
    return shares;
}

}  // namespace poe::pm
