// How much the last caches of some processors hold together: those through which all that goes to
// memory passes.
#pragma once

#include <sched.h>
#include <string>

#include "base/types.hpp"

namespace poe {

// Bytes, of the processors in `cpus`; a cache that several of them share counts once. Of each the
// last level counts, as the kernel tells it in `directory`/cpuN/cache. 0 where it does not.
Bytes last_level_cache(const cpu_set_t& cpus,
                       const std::string& directory = "/sys/devices/system/cpu");

}  // namespace poe
