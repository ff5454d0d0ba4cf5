// A request of PMIx_Spawn in poe's words. Apart from pmix_upcalls.cpp: that one is the conversation
// with libpmix, this is what one request says.
#pragma once

#include <cstddef>

#include <pmix_server.h>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// The longest request that is passed on.
inline constexpr std::size_t kMostPmixSpawnBytes = std::size_t{4} << 20;

// Throws Error for what poe does not do; its words go behind "a request that". Keys that say
// nothing about where and how tasks run are passed over.
SpawnTasks pmix_spawn_request(const pmix_proc_t& by, const pmix_info_t* job, std::size_t count,
                              const pmix_app_t* apps, std::size_t app_count);

}  // namespace poe::pm
