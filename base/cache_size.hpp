// The combined size of the last-level caches of a set of processors. All traffic between these
// processors and memory passes through these caches.
#pragma once

#include <sched.h>
#include <string>

#include "base/types.hpp"

namespace poe {

// Returns the combined last-level cache of the processors in `cpus`, in bytes. A cache that several
// processors share counts once. The sizes come from `directory`/cpuN/cache; a processor for which
// the kernel reports no cache adds nothing, so the result is 0 if no cache is reported. Instruction
// caches do not count.
Bytes last_level_cache(const cpu_set_t& cpus,
                       const std::string& directory = "/sys/devices/system/cpu");

}  // namespace poe
