// Allocation: which nodes a job gets, and which of its tasks run on each, when the user did not
// name a node for every task: so many nodes of a pool, or of what a resource manager has given.
// Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/pools.hpp"
#include "partition_manager/job/task_map.hpp"

namespace poe::pm {

// What the user wants; 0 for what was left open.
struct NodeRequest {
    TaskId tasks = 1;
    TaskId nodes = 0;           // -nodes
    TaskId tasks_per_node = 0;  // -tasks_per_node
};

// How many tasks run on each of the nodes that are needed, in order: as many nodes as are asked
// for; else as many as tasks_per_node makes necessary; else one for each task, as long as there are
// enough. The tasks are dealt in blocks, as evenly as possible. `source` says in errors what gives
// the nodes.
Result<std::vector<TaskId>> deal_tasks(const NodeRequest& request, std::size_t available,
                                       const std::string& source);

// The names of the nodes of all tasks, in task order: of one list of nodes.
Result<std::vector<std::string>> allocate(const NodeRequest& request,
                                          const std::vector<std::string>& nodes,
                                          const std::string& source);

// The same for a host file of pools: each line is one task's, and the last one's pool goes on for
// the tasks that have none. Each pool's tasks are dealt to its nodes.
Result<std::vector<std::string>> allocate_from_pools(const NodeRequest& request,
                                                     const HostFile& host_file, const Pools& pools);

// The nodes of one pool; an error that lists those that there are.
Result<std::vector<std::string>> nodes_of_pool(const Pools& pools, const std::string& pool);

// A host file of these nodes: the task map is made of that.
HostFile host_file_of(const std::vector<std::string>& node_of_task, const std::string& source);

}  // namespace poe::pm
