// Allocation: which nodes a job gets, and which of its tasks run on each, if the user did not name
// a node for every task. The nodes come from a pool or from a resource manager. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "partition_manager/job/pools.hpp"
#include "partition_manager/job/task_map.hpp"

namespace poe::pm {

// The user's request; 0 for values that were not given.
struct NodeRequest {
    TaskId tasks = 1;
    TaskId nodes = 0;           // -nodes
    TaskId tasks_per_node = 0;  // -tasks_per_node
    bool exclusive = false;     // of a resource manager: no other job on these nodes
};

// Returns the number of tasks on each of the nodes that are used, in order. The number of nodes is
// the requested one; otherwise the number that tasks_per_node requires; otherwise one per task as
// long as there are enough nodes. The tasks are distributed in blocks, as evenly as possible. In
// error messages `source` names where the nodes come from.
Result<std::vector<TaskId>> deal_tasks(const NodeRequest& request, std::size_t available,
                                       const std::string& source);

// Returns the name of each task's node, in task order, for one list of nodes.
Result<std::vector<std::string>> allocate(const NodeRequest& request,
                                          const std::vector<std::string>& nodes,
                                          const std::string& source);

// Likewise for a host file of pools. Each line is for one task; tasks without a line belong to the
// pool of the last line. The tasks of each pool are distributed among its nodes.
Result<std::vector<std::string>> allocate_from_pools(const NodeRequest& request,
                                                     const HostFile& host_file, const Pools& pools);

// Returns the nodes of one pool. If there is no such pool, the error lists the existing ones.
Result<std::vector<std::string>> nodes_of_pool(const Pools& pools, const std::string& pool);

// Returns a host file with these nodes, from which the task map is made.
HostFile host_file_of(const std::vector<std::string>& node_of_task, const std::string& source);

}  // namespace poe::pm
