// How this process was started, for MPI_INFO_ENV. Separate because it asks the system.
#pragma once

#include "mpi/object/info.hpp"

namespace poe::mpi {

// The facts about this process. What cannot be found out stays empty.
StartFacts own_start_facts();

// The same for a program that gives its own arguments; `argument_count` may be 0.
StartFacts start_facts(int argument_count, char** arguments);

// True if poe has started this process as a task, or the process has inherited the variables of a
// task.
bool started_by_poe();

// The name of this host.
std::string host_name();

}  // namespace poe::mpi
