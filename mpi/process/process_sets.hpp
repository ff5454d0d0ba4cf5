// The process sets of this job (MPI 5.0, section 11.3.2): the two of the standard, and those that
// poe has described in MP_PSETS. Separate and pure, so that the text is tested without a job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace poe::mpi {

struct ProcessSet {
    std::string name;
    std::vector<TaskId> tasks;  // in the order of ranks
};

// `text` has the form "NAME=RANGES NAME=RANGES", where RANGES is the form 0-3,6. Task ids are below
// `tasks`. An entry of another form is left out, because the variable is not written by people.
// mpi://WORLD and mpi://SELF come first, then the entries in their order.
std::vector<ProcessSet> parse_process_sets(std::string_view text, TaskId own, std::uint32_t tasks);

// The set with this name; null if there is none.
const ProcessSet* find_process_set(const std::vector<ProcessSet>& sets, std::string_view name);

// Those of this process, from MP_PSETS. Made at the first call. Precondition: the library is
// started, in a job of `tasks` tasks.
const std::vector<ProcessSet>& process_sets(std::uint32_t tasks);

}  // namespace poe::mpi
