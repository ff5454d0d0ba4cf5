// Spawning: how tasks start more tasks and are connected with them (MPI 5.0, section 11.8). poe
// starts them as a job of their own, and they find the name of a port of the root, which they
// connect to.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/bootstrap/job_services.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/communicator/numbers.hpp"

namespace poe::mpi {

// What the root of MPI_Comm_spawn or MPI_Comm_spawn_multiple has given.
struct SpawnRequest {
    std::vector<comm::ProgramToSpawn> programs;
    Fault fault;  // of these arguments; all members then get it
};

struct Spawned {
    MadeComm comm;
    int tasks = 0;  // that were requested; after a failure, 0 at members other than the root
};

// The number of tasks that the info key `soft` allows: `most` if it is one of them, otherwise the
// largest below; -1 if there is none, or if the text is no list of numbers and triples a:b:c. Pure.
int tasks_allowed(std::string_view soft, int most);

// All members of `local`, an intracommunicator, make this call. Blocks until the new tasks have
// initialized MPI. `request` is significant at the root only.
Spawned spawn(comm::Runtime& runtime, Comm& local, int root, const SpawnRequest& request);

// What poe does for this task on request; empty if poe has not started it. The runtime must outlive
// it.
std::optional<comm::JobServices> job_services(comm::Runtime& runtime);

// For tasks that were spawned, with MPI_COMM_WORLD: connects them with the tasks that have started
// them. Neither a communicator nor a fault: they were not spawned by such a call.
MadeComm connect_to_parents(comm::Runtime& runtime);

}  // namespace poe::mpi
