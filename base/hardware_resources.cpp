// Reads the kernel's description of processors; see hardware_resources.hpp.
#include "base/hardware_resources.hpp"

#include "base/cpu_list.hpp"

namespace poe {
namespace {

int first_of(const cpu_set_t& cpus) noexcept {
    int cpu = 0;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &cpus)) ++cpu;
    return cpu;
}

// The processors of the NUMA node that has this one.
std::string numa_list(int cpu, const std::string& directory) {
    const cpu_set_t nodes = cpus_in(first_line(directory + "/node/online"));
    for (int node = 0; node < CPU_SETSIZE; ++node) {
        if (!CPU_ISSET(node, &nodes)) continue;
        std::string list = first_line(directory + "/node/node" + std::to_string(node) + "/cpulist");
        const cpu_set_t cpus = cpus_in(list);
        if (CPU_ISSET(cpu, &cpus)) return list;
    }
    return {};
}

// The processors that share this one's cache of data of a level.
std::string cache_list(const std::string& cpu, const std::string& level) {
    for (int index = 0;; ++index) {
        const std::string cache = cpu + "/cache/index" + std::to_string(index) + "/";
        const std::string its_level = first_line(cache + "level");
        if (its_level.empty()) return {};
        if (its_level == level && first_line(cache + "type") != "Instruction")
            return first_line(cache + "shared_cpu_list");
    }
}

// Older kernels have the file under another name.
std::string topology_list(const std::string& cpu, const char* name, const char* older) {
    const std::string list = first_line(cpu + "/topology/" + name);
    return list.empty() ? first_line(cpu + "/topology/" + older) : list;
}

}  // namespace

std::vector<HardwareResource> resources_of(const cpu_set_t& cpus, const std::string& directory) {
    const int first = first_of(cpus);
    const std::string number = std::to_string(first);
    const std::string cpu = directory + "/cpu/cpu" + number;
    std::vector<HardwareResource> found;
    const auto add = [&](const char* type, const std::string& list) {
        const cpu_set_t instance = cpus_in(list);
        found.push_back({type, first < CPU_SETSIZE && CPU_COUNT(&instance) > 0, std::nullopt});
        if (found.back().described && contains(instance, cpus))
            found.back().instance = first_of(instance);
    };
    add("hwloc://Machine", first_line(directory + "/cpu/online"));
    add("hwloc://Package", topology_list(cpu, "package_cpus_list", "core_siblings_list"));
    add("hwloc://NUMANode", numa_list(first, directory));
    add("hwloc://L3Cache", cache_list(cpu, "3"));
    add("hwloc://L2Cache", cache_list(cpu, "2"));
    add("hwloc://Core", topology_list(cpu, "core_cpus_list", "thread_siblings_list"));
    add("hwloc://PU", number);
    return found;
}

std::vector<HardwareResource> resources_of_this_thread() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) CPU_ZERO(&cpus);
    return resources_of(cpus);
}

}  // namespace poe
