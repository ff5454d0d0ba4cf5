// The PMIx server of one node's tasks, on libpmix; the only place, with pmix_upcalls, that knows
// its API. Runs in pmd-pmix, one per process, because libpmix allows no more.
#pragma once

#include "partition_manager/pmi/pmix_environment.hpp"
#include "partition_manager/pmi/pmix_upcalls.hpp"

namespace poe::pm {

// Not thread-safe itself; libpmix runs threads of its own, which only call PmixOutlet::post. Ended
// tasks are not deregistered: PMIx_server_deregister_client of 4.2.2 deadlocks inside the library
// when a task's connection is being closed at the same time (seen in 1 of 20 aborts), and all it
// would do is free memory.
class PmixHost {
  public:
    // Starts the server. Keeps everything that libpmix puts into files below
    // job.pmix_directory(), which it makes. Throws Error.
    PmixHost(PmixJob job, PmixOutlet outlet);
    PmixHost(const PmixHost&) = delete;
    PmixHost& operator=(const PmixHost&) = delete;

    // Registers the job and its local tasks. Returns the environment that libpmix gives tasks,
    // without PMIX_RANK. Throws Error.
    Environment start();

    // Registers a job that runs beside this one, whose tasks ours may talk to: where they are.
    // Blocks until libpmix has taken it in. Throws Error.
    static void know(const JobSummary& other);

  private:
    void register_job();
    void register_tasks();
    Environment ask_environment();

    PmixJob job_;
    std::vector<TaskId> local_tasks_;
};

}  // namespace poe::pm
