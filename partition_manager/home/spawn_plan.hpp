// What a request of a task to start more tasks becomes (MPI_Comm_spawn, PMIx_Spawn).
//
// To MPI, spawned tasks are a world of their own: their ranks begin with 0, they have a namespace and a
// key space of their own, and they talk to the tasks that started them by addresses, as strangers do.
// So to the daemons they are another job, with daemons, segments and a name of its own. A job knows
// only an outline of where the tasks of the others run (JobSummary). To users they are more tasks of
// one job: poe gives them the next free numbers, and they share its streams, report and exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition_manager/channel/messages.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

// Bounds of what tasks may ask for: tasks in one request, and all that a job ever starts.
inline constexpr std::size_t kMostSpawnedAtOnce = 4096;
inline constexpr std::size_t kMostSpawned = std::size_t{1} << 16;

// What a request is to become.
struct SpawnPlan {
    std::string id;                    // of the new job
    TaskId first = 0;                  // what people will call its task 0
    std::size_t spawned_before = 0;    // tasks
    std::size_t next_node = 0;         // where the first task goes that names no host; moves on
    std::vector<JobSummary> others;    // jobs that run
    std::function<JobKey()> make_key;  // for a job that needs one when `base` has none
};

// The job that a task has asked for, on nodes of `base`, the job that poe was given: its tasks go
// to them in turns, or to the hosts that are named. Throws Error, in words for people, when there
// can be no such job.
JobSpec make_spawned_job(const JobSpec& base, const SpawnTasks& ask, SpawnPlan& plan);

JobSummary summary_of(const JobSpec& job);

}  // namespace poe::pm
