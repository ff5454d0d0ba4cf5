// Which nodes run the job: named by a host file, taken from pools, given by Slurm, or this one
// alone. Apart from main, which only asks, and from the rooms below, which do not know of options.
#pragma once

#include "base/result.hpp"
#include "partition_manager/job/slurm.hpp"
#include "partition_manager/job/task_map.hpp"
#include "poe/diagnostics.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// Reads what files and tools have to be asked, and maps the tasks. May complete `options`: the
// number of tasks from an allocation, the remote shell inside of one. Blocks. Throws Error for what
// tools and files of the system do; what the user got wrong is the result's.
Result<pm::TaskMap> find_nodes(Options& options, const pm::GetVariable& variable,
                               const Diagnostics& diagnostics);

// -resd yes or -batch outside of an allocation: the Slurm command that is to take our place, which
// runs `poe` with `arguments` again; nothing when this poe is to run the job itself. For -batch the
// job's script is its standard input. Pure, but for reading the host file.
struct Handover {
    pm::Command command;
    std::string input;
};
Result<std::optional<Handover>> hand_over(const Options& options, const pm::GetVariable& variable,
                                          const std::string& poe,
                                          const std::vector<std::string>& arguments);

}  // namespace poe::cli
