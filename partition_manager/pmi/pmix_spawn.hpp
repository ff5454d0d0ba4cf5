// Converts a request of PMIx_Spawn. Separate from pmix_upcalls.cpp, which contains the protocol
// with libpmix; this file parses one request.
#pragma once

#include <cstddef>

#include <pmix_server.h>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// Maximum size of a request that is forwarded.
inline constexpr std::size_t kMostPmixSpawnBytes = std::size_t{4} << 20;

// Throws Error if the request contains what poe does not support; its text follows "a request
// that". Keys that do not concern where and how tasks run are ignored.
SpawnTasks pmix_spawn_request(const pmix_proc_t& by, const pmix_info_t* job, std::size_t count,
                              const pmix_app_t* apps, std::size_t app_count);

}  // namespace poe::pm
