// Slurm, the supported resource manager: the allocation in which poe was started, how to get one,
// and how to reach its nodes. Only the command lines of Slurm's tools are used; nothing is linked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "partition_manager/job/allocation.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

using GetVariable = std::function<const char*(const char*)>;

struct SlurmAllocation {
    std::string job;        // Slurm's job number
    std::string node_list;  // in Slurm's format: "node[0-3,7]"
    TaskId tasks = 0;       // tasks that were requested with it; 0: not given
};

// Returns the allocation of this process (salloc, sbatch). Returns nothing outside an allocation,
// and in a task that srun has started. Pure.
std::optional<SlurmAllocation> slurm_allocation(const GetVariable& variable);

// Returns the names of an allocation's nodes, from scontrol. Blocks. Throws Error.
std::vector<std::string> slurm_nodes(const SlurmAllocation& allocation);

// The remote shell within an allocation (MP_REMOTE_SHELL); %h stands for the node.
Command slurm_remote_shell();

// Returns the command that allocates nodes for `request` and runs `poe` (with all its arguments) in
// the allocation. `pool` is the partition; it may be empty. `wait`: the command waits until nodes
// are available. Pure.
Command slurm_salloc(const NodeRequest& request, const std::string& pool, bool wait,
                     const Command& poe);

// slurm_sbatch returns the command that submits a job; it reads the job's script from its standard
// input and prints the job's number. slurm_batch_script returns that script. Pure.
Command slurm_sbatch(const NodeRequest& request, const std::string& pool);
std::string slurm_batch_script(const Command& poe);

}  // namespace poe::pm
