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

std::vector<cpu_set_t> cpu_shares(const std::vector<Core>& cores, std::size_t tasks) {
    std::vector<Core> units = cores;
    if (units.size() < tasks) {
        units.clear();
        for (const Core& core : cores)
            for (const int cpu : core) units.push_back({cpu});
    }
    if (units.size() < tasks) return {};
    std::vector<cpu_set_t> shares(tasks);
    for (std::size_t task = 0; task < tasks; ++task) {
        CPU_ZERO(&shares[task]);
        const std::size_t end = (task + 1) * units.size() / tasks;
        for (std::size_t unit = task * units.size() / tasks; unit < end; ++unit)
            for (const int cpu : units[unit]) CPU_SET(cpu, &shares[task]);
    }
    return shares;
}

}  // namespace poe::pm
