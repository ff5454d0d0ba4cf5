// How this process was started, for MPI_INFO_ENV. Separate because it asks the system.
#pragma once

#include "mpi/object/info.hpp"

namespace poe::mpi {

// The facts about this process. What cannot be found out stays empty.
StartFacts own_start_facts();

// The same for a program that gives its own arguments; `argument_count` may be 0.
StartFacts start_facts(int argument_count, char** arguments);

// The name of this host.
std::string host_name();

}  // namespace poe::mpi
