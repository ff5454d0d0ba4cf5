// Slurm, the resource manager that we know: the allocation that poe was started in, how to get one,
// and how to reach its nodes. Only command lines of Slurm's tools; nothing of it is linked.
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
    std::string job;        // its number
    std::string node_list;  // as Slurm writes it: "node[0-3,7]"
    TaskId tasks = 0;       // that were asked for with it; 0: no number
};

// The allocation that this process is in (salloc, sbatch); nothing outside of one, and in a task
// that srun has started. Pure.
std::optional<SlurmAllocation> slurm_allocation(const GetVariable& variable);

// The names of an allocation's nodes, by scontrol. Blocks. Throws Error.
std::vector<std::string> slurm_nodes(const SlurmAllocation& allocation);

// The remote shell inside an allocation (MP_REMOTE_SHELL); %h stands for the node.
Command slurm_remote_shell();

// The command that gets nodes for `request` and runs `poe` (with all its arguments) inside of what
// it got; `pool`: the partition, may be empty; `wait`: until there are nodes. Pure.
Command slurm_salloc(const NodeRequest& request, const std::string& pool, bool wait,
                     const Command& poe);

// The command that puts a job into the queue, which reads the job's script from its standard input,
// and prints the job's number; and that script. Pure.
Command slurm_sbatch(const NodeRequest& request, const std::string& pool);
std::string slurm_batch_script(const Command& poe);

}  // namespace poe::pm
