// The task map: which node each task of a job runs on, and the two texts that show it (the saved
// host file and the dry run). Pure functions, except save_host_file; facts about this computer are
// passed in.
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
    std::vector<std::string> nodes;           // in order of first appearance
    std::vector<NodeIndex> node_of_task;      // one entry per task: index into nodes
    NodeIndex home = -1;                      // this node, if it is one of them
    std::vector<std::string> pool_of_task{};  // empty if the nodes come from no pool
    // By node, what the job keeps for itself; empty: nothing (reservations_of).
    std::vector<NodeReservation> reserved{};
};

// Returns what the job reserves on each node of the map: what the words of the host file say for a
// node, otherwise `usual`. The line of task i counts for the node of task i; tasks without a line
// belong to the last one, as with pools. If lines differ about a node, it is reserved. Empty if
// nothing is reserved.
std::vector<NodeReservation> reservations_of(const TaskMap& map,
                                             const std::optional<HostFile>& host_file,
                                             const NodeReservation& usual);

// Returns for each name that a user wrote whether it denotes this computer. local_names.hpp has the
// implementation.
using FindThisNode = std::function<std::vector<bool>(const std::vector<std::string>& names)>;

// Maps `procs` (> 0) tasks.
//   - Without a host file all tasks run on `this_node`.
//   - With a host file task i runs on the node of the i-th entry. Further entries are ignored. If
//     there are fewer entries than tasks, the result is error 0031-125.
//   - This node appears as `this_node`, whatever its name in the file. Other nodes appear by their
//     names in the file, and different names are different nodes.
//   - Pools are UserErrors with file and line.
//
// `find_this_node` is called only if there is a host file, once, with the distinct names. It may
// block.
Result<TaskMap> make_task_map(TaskId procs, const std::optional<HostFile>& host_file,
                              const std::string& this_node, const FindThisNode& find_this_node);

// Returns the text of -savehostfile: a host file that produces the same map.
std::string save_host_file_text(const TaskMap& map);

// Writes save_host_file_text to `path` and replaces existing content. Blocks; throws Error.
void save_host_file(const TaskMap& map, const std::string& path);

// Returns the text of --dry-run: a header line, then one line for each task with its id, node,
// program and arguments, in aligned columns. Words are quoted where a shell needs it. Task i runs
// commands[command_of_task[i]].
std::string dry_run_text(const TaskMap& map, const std::vector<Command>& commands,
                         const std::vector<std::uint32_t>& command_of_task);

}  // namespace poe::pm
