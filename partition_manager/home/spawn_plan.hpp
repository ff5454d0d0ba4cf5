// Makes the JobSpec for a task's request to start more tasks (MPI_Comm_spawn, PMIx_Spawn).
//
//   for          spawned tasks are
//   MPI          a separate world: their ranks begin at 0, they have their own namespace and key
//                space, and they exchange messages with their parents by address
//   the daemons  another job, with its own daemons, segments and name; other jobs know only a
//                summary of where its tasks run (JobSummary)
//   users        more tasks of one job: poe gives them the next free numbers, and they share its
//                streams, report and exit status
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// Limits: the tasks of one request, and all spawned tasks of a job.
inline constexpr std::size_t kMostSpawnedAtOnce = 4096;
inline constexpr std::size_t kMostSpawned = std::size_t{1} << 16;

// The values that the request itself does not contain.
struct SpawnPlan {
    std::string id;                  // of the new job
    TaskId first = 0;                // the number by which users know its task 0
    std::size_t spawned_before = 0;  // number of tasks
    // The node of the next task that names no host; make_spawned_job advances it.
    std::size_t next_node = 0;
    std::vector<JobSummary> others;  // the running jobs
    // Called if the new job needs a key and `base` has none.
    std::function<JobKey()> make_key;
};

// Returns the job that a task has requested, on nodes of `base`, the job that poe was given. Its
// tasks are assigned to these nodes in turn, or to the hosts that the request names. Throws Error
// with a text for users if the request is invalid.
JobSpec make_spawned_job(const JobSpec& base, const SpawnTasks& ask, SpawnPlan& plan);

JobSummary summary_of(const JobSpec& job);

}  // namespace poe::pm
