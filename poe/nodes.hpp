// Determines the nodes of the job: from a host file, from pools, from Slurm or LoadLeveler, or this
// node alone. Separate from main, and from the rooms below, which do not know options.
#pragma once

#include "base/result.hpp"
#include "partition_manager/job/slurm.hpp"
#include "partition_manager/job/task_map.hpp"
#include "poe/diagnostics.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// Reads the necessary files, queries the resource manager, and maps the tasks. May complete
// `options`: the number of tasks from an allocation, and the remote shell within one. Blocks.
// Throws Error for failures of the system's tools and files. Mistakes of the user are in the
// result.
Result<pm::TaskMap> find_nodes(Options& options, const pm::GetVariable& variable,
                               const Diagnostics& diagnostics);

// For -resd yes outside an allocation, and for -batch: returns the Slurm command that is to replace
// this process and runs `poe` with `arguments` again. Returns nothing if this poe is to run the job
// itself. For -batch `input` is the job's script, to be read as standard input. Pure, except for
// reading the host file.
struct Handover {
    pm::Command command;
    std::string input;
};
Result<std::optional<Handover>> hand_over(const Options& options, const pm::GetVariable& variable,
                                          const std::string& poe,
                                          const std::vector<std::string>& arguments);

}  // namespace poe::cli
