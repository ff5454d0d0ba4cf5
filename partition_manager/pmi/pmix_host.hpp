// The PMIx server of one node's tasks, based on libpmix. Only this file and pmix_upcalls use the
// server API. It runs in pmd-pmix, once per process, because libpmix allows only one.
#pragma once

#include "partition_manager/pmi/pmix_environment.hpp"
#include "partition_manager/pmi/pmix_upcalls.hpp"

namespace poe::pm {

// Not thread-safe. libpmix has its own threads, which only call PmixOutlet::post. Ended tasks are
// not deregistered: PMIx_server_deregister_client of 4.2.2 deadlocks in the library if a task's
// connection is being closed at the same time (observed in 1 of 20 aborts), and it would only free
// memory.
class PmixHost {
  public:
    // Starts the server. All files of libpmix are below job.pmix_directory(), which is created
    // here. Throws Error.
    PmixHost(PmixJob job, PmixOutlet outlet);
    PmixHost(const PmixHost&) = delete;
    PmixHost& operator=(const PmixHost&) = delete;

    // Registers the job and its local tasks. Returns the environment that libpmix gives tasks,
    // without PMIX_RANK. Blocks until libpmix has answered. Throws Error.
    Environment start();

    // Registers another job of the same poe, with the places of its tasks, because the tasks of
    // this job may communicate with them. Blocks until libpmix has registered it. Throws Error.
    static void know(const JobSummary& other);

  private:
    void register_job();
    void register_tasks();
    Environment ask_environment();

    PmixJob job_;
    std::vector<TaskId> local_tasks_;
};

}  // namespace poe::pm
