// The process sets of a job, which its tasks get in the variable MP_PSETS: the tasks of each node,
// program and pool, and the sets that a commands file names. Pure.
#pragma once

#include <string>
#include <vector>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

struct NamedTasks {
    std::string name;
    std::vector<TaskId> tasks;  // ascending
};

// The variable of the task's environment, and the names of sets.
inline constexpr const char* kProcessSetsVariable = "MP_PSETS";
inline constexpr const char* kNodeSet = "poe://node/";        // and the node's name
inline constexpr const char* kProgramSet = "poe://program/";  // and the number of the program
inline constexpr const char* kPoolSet = "poe://pool/";        // and the pool's name
inline constexpr const char* kUserSet = "poe://set/";         // and the name in the commands file

// Adds the task to the set with this name, which is added if it is new. Tasks must come in
// ascending order.
void add_to_set(std::vector<NamedTasks>& sets, const std::string& name, TaskId task);

// Returns the text "NAME=RANGES NAME=RANGES" of the sets of nodes, programs and `others`, in this
// order. A set whose name has a blank or an equals sign is left out; names of nodes, programs and
// pools have neither. If the text exceeds what a variable can hold, sets at its end are left out.
std::string process_sets_text(const JobSpec& job, const std::vector<NamedTasks>& others);

}  // namespace poe::pm
