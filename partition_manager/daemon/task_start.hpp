// Starts the tasks of one node: looks up programs once, creates pipes, builds environments and
// spawns processes. If one task cannot be started, the caller kills those already started.
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

// One running task of this node, and the daemon's ends of its streams.
struct StartedTask {
    TaskId task = 0;
    pid_t pid = 0;
    UniqueFd stdin_pipe;  // write end; empty if the task reads /dev/null
    UniqueFd stdout_pipe;
    UniqueFd stderr_pipe;  // empty if the task writes to a terminal
    // A further descriptor of the daemon's end of the terminal. Empty if the task has no terminal.
    UniqueFd terminal;
    // The processors that the task may use, for example "0-3,8".
    std::string processors;
    std::string attention;  // what the user should know about the task's program, once per node
    bool bound = false;     // to processors that no other task of the job uses
};

struct TaskLauncher {
    const JobSpec& job;
    NodeIndex node;
    InheritedSignals heritage;
    std::optional<rlimit> open_files;  // the tasks' limit, if it differs from the daemon's
    // Returns the variables that a task has in addition to the job's. Called once per task.
    std::function<EnvironmentEntries(TaskId)> environment_of;
    // Returns a descriptor that the task inherits (its PMI socket), if any. Called once per task,
    // before environment_of.
    std::function<UniqueFd(TaskId)> keep_fd_of;
    // Returns the task's listening socket, if any. Called once per task.
    std::function<UniqueFd(TaskId)> listener_of;
    // The file into which the tasks copy their call stacks; empty: they do not
    // (NodeTrace::sample_slots).
    std::string sample_slots{};

    // Starts all tasks of the node. `started` receives the running tasks in order of their ids.
    // Returns the failures: empty if all tasks run. Blocks until the last process has been created.
    // If there are many tasks, several threads start them; these threads stay until the process
    // ends. The functions above are called by one thread at a time. Throws Error.
    std::vector<LaunchFailure> start(std::vector<StartedTask>& started) const;
};

// Returns the tasks of the node that cannot run because their program is missing there, with the
// reason. Starts nothing. start() checks again.
std::vector<LaunchFailure> missing_programs(const JobSpec& job, NodeIndex node);

// Returns the job's environment with the variables of `extra` replaced or added.
std::vector<std::string> merged_environment(const std::vector<std::string>& base,
                                            const EnvironmentEntries& extra);

// Raises the limit of open files to the hard limit. Returns the previous limit if it was different.
std::optional<rlimit> raise_open_files_limit();

// Returns why `tasks` tasks cannot be served with the current limit of open files. Empty if they
// can.
std::string open_files_trouble(std::size_t tasks, std::size_t descriptors_per_task);

}  // namespace poe::pm
