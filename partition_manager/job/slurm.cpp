// See slurm.hpp.
#include "partition_manager/job/slurm.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "partition_manager/job/command_lines.hpp"
#include "partition_manager/job/commands_file.hpp"

namespace poe::pm {

namespace {

TaskId number_of(const char* text) {
    std::string_view rest = text == nullptr ? "" : text;
    return take_number<TaskId>(rest).value_or(0);
}

void append_request(Command& command, const NodeRequest& request, const std::string& pool) {
    const auto add = [&command](const char* flag, TaskId number) {
        if (number > 0) command.push_back(flag + std::to_string(number));
    };
    add("--ntasks=", request.tasks);
    add("--nodes=", request.nodes);
    add("--ntasks-per-node=", request.tasks_per_node);
    if (!pool.empty()) command.push_back("--partition=" + pool);
    if (request.exclusive) command.push_back("--exclusive");
}

}  // namespace

std::optional<SlurmAllocation> slurm_allocation(const GetVariable& variable) {
    const char* job = variable("SLURM_JOB_ID");
    const char* nodes = variable("SLURM_JOB_NODELIST");
    if (job == nullptr || nodes == nullptr || *nodes == '\0') return std::nullopt;
    if (variable("SLURM_STEP_ID") != nullptr) return std::nullopt;
    return SlurmAllocation{job, nodes, number_of(variable("SLURM_NTASKS"))};
}

std::vector<std::string> slurm_nodes(const SlurmAllocation& allocation) {
    std::vector<std::string> nodes =
        lines_of_command("scontrol show hostnames " + shell_quoted(allocation.node_list));
    if (nodes.empty())
        throw Error("scontrol does not say which nodes " + allocation.node_list +
                    " are (Slurm job " + allocation.job + ")");
    return nodes;
}

Command slurm_remote_shell() {
    // --overlap lets the step run concurrently with other steps of the job. If a node fails, the
    // other steps continue, because poe decides what to do.
    return {
        "srun",     "--overlap", "--nodes=1",    "--ntasks=1",           "--mpi=none", "--no-kill",
        "--wait=0", "--quiet",   "--unbuffered", "--kill-on-bad-exit=0", "--nodelist", "%h",
        "/bin/sh",  "-c"};
}

Command slurm_salloc(const NodeRequest& request, const std::string& pool, bool wait,
                     const Command& poe) {
    Command command{"salloc", "--quiet", "--no-kill"};
    append_request(command, request, pool);
    if (!wait) command.push_back("--immediate=10");
    command.insert(command.end(), poe.begin(), poe.end());
    return command;
}

Command slurm_sbatch(const NodeRequest& request, const std::string& pool) {
    Command command{"sbatch", "--parsable", "--no-kill", "--job-name=poe"};
    append_request(command, request, pool);
    return command;
}

std::string slurm_batch_script(const Command& poe) {
    std::string script = "#!/bin/sh\nexec";
    for (const std::string& word : poe) script += " " + shell_quoted(word);
    return script + "\n";
}

}  // namespace poe::pm
