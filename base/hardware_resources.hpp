// The hardware resources of this computer to which a task can be restricted: packages, NUMA nodes,
// caches, cores and processors, with the names of hwloc, which MPI 5.0 uses in its examples
// (section 9.1.2).
#pragma once

#include <optional>
#include <sched.h>
#include <string>
#include <vector>

namespace poe {

struct HardwareResource {
    const char* type;             // the name, such as "hwloc://NUMANode"
    bool described;               // by the kernel
    std::optional<int> instance;  // the first processor of the instance that contains all of the
                                  // processors in question; empty if no single one does
};

// The instance of each type that contains all of `cpus`; always the same types, from large ones to
// small ones. If `cpus` is empty, nothing is described. Reads files below `directory`.
std::vector<HardwareResource> resources_of(const cpu_set_t& cpus,
                                           const std::string& directory = "/sys/devices/system");

// The same for the processors that the calling thread may use now.
std::vector<HardwareResource> resources_of_this_thread();

}  // namespace poe
