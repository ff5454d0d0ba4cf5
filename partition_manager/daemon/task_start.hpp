// Starting the tasks of one node: programs looked up once, pipes made, environments built,
// processes spawned. All or none: when one cannot start, those before it are killed by the caller.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {

using EnvironmentEntries = std::vector<std::pair<std::string, std::string>>;

// One running task of this node, and our ends of its streams.
struct StartedTask {
    TaskId task = 0;
    pid_t pid = 0;
    UniqueFd stdin_pipe;  // write end; empty when it reads /dev/null
    UniqueFd stdout_pipe;
    UniqueFd stderr_pipe;    // empty when it writes to a terminal
    UniqueFd terminal;       // the daemon's end, once more; empty when it has none
    std::string processors;  // that it may use: "0-3,8"
};

struct TaskLauncher {
    const JobSpec& job;
    NodeIndex node;
    InheritedSignals heritage;
    std::optional<rlimit> open_files;  // the tasks' limit, when it is not the daemon's
    // What one task's environment has beyond the job's; called once per task.
    std::function<EnvironmentEntries(TaskId)> environment_of;
    // A descriptor that the task keeps (its PMI socket), if any; called once per task, before
    // environment_of.
    std::function<UniqueFd(TaskId)> keep_fd_of;
    // Its listening socket, if any; called once per task.
    std::function<UniqueFd(TaskId)> listener_of;

    // Starts all tasks of the node; `started` gets those that run, in order of their ids. Returns
    // what failed: empty when all run. Many are started by several threads, which stay until the
    // process ends; the functions above are called by one at a time. Throws Error.
    std::vector<LaunchFailure> start(std::vector<StartedTask>& started) const;
};

// Which tasks of the node cannot run since their program is missing there, and why; nothing is
// started. start() looks again.
std::vector<LaunchFailure> missing_programs(const JobSpec& job, NodeIndex node);

// The job's environment without what `extra` sets again, then `extra`.
std::vector<std::string> merged_environment(const std::vector<std::string>& base,
                                            const EnvironmentEntries& extra);

// Raises the limit of open files as far as allowed; returns what it was when it was another.
std::optional<rlimit> raise_open_files_limit();

// Why `tasks` tasks cannot be served with the limit of open files that holds now; empty when they
// can.
std::string open_files_trouble(std::size_t tasks, std::size_t descriptors_per_task);

}  // namespace poe::pm
