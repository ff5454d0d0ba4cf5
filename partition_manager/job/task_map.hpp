// The task map: which node each task of a job runs on, and the two texts that show it (the saved
// host file and the dry run). Pure functions; what is known of this computer is passed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/types.hpp"
#include "partition_manager/job/host_file.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::pm {

struct TaskMap {
    std::vector<std::string> nodes;       // in order of first appearance
    std::vector<NodeIndex> node_of_task;  // size = tasks of the job, index into nodes
    NodeIndex home = -1;                  // this node, if it is one of them
};

// Says which names written by a user mean this computer. See local_names.hpp for the real one.
using FindThisNode = std::function<std::vector<bool>(const std::vector<std::string>& names)>;

// Maps `procs` (> 0) tasks. Without a host file all run on `this_node`; with one, task i runs on
// the node of the file's i-th entry, further entries are ignored, and fewer entries than tasks is
// error 0031-125. This node, by whatever name, appears as `this_node`; other nodes by the name that
// stands in the file, which is also what tells them apart. Pools are UserErrors with file and line.
// `find_this_node` is called only when there is a host file, once, with the distinct names; it may
// block.
Result<TaskMap> make_task_map(TaskId procs, const std::optional<HostFile>& host_file,
                              const std::string& this_node, const FindThisNode& find_this_node);

// The text of -savehostfile: a host file that gives the same map again.
std::string save_host_file_text(const TaskMap& map);

// Writes save_host_file_text to `path`, replacing what is there. Blocks; throws Error.
void save_host_file(const TaskMap& map, const std::string& path);

// The text of --dry-run: a header line, then one line for each task with its id, node, program and
// arguments, in aligned columns; words are quoted where a shell would need it. Task i runs
// commands[command_of_task[i]].
std::string dry_run_text(const TaskMap& map, const std::vector<Command>& commands,
                         const std::vector<std::uint32_t>& command_of_task);

}  // namespace poe::pm
