// The variables of LoadLeveler by which a batch script knows the nodes of its job. Batch systems
// that replaced LoadLeveler, and llsubmit(1), set them for old scripts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/types.hpp"
#include "partition_manager/job/allocation.hpp"

namespace poe::pm {

struct LoadLevelerAllocation {
    std::string source;              // the variable, for messages
    std::vector<std::string> nodes;  // one entry for each task, or each node once
    TaskId tasks = 0;                // LOADL_TOTAL_TASKS; 0: not set
};

// True if one of the two variables names nodes.
bool loadleveler_names_nodes(const std::function<const char*(const char*)>& variable);

// Returns the allocation that LOADL_HOSTFILE or LOADL_PROCESSOR_LIST describes; nothing if neither
// is set. LOADL_HOSTFILE takes precedence, because LoadLeveler omits the list in large jobs. Reads
// the file. If the file cannot be read, or a name is invalid, the result is an error.
Result<std::optional<LoadLevelerAllocation>> loadleveler_allocation(
    const std::function<const char*(const char*)>& variable);

// Returns the node of each task. If there are enough entries and the request does not say how to
// distribute the tasks, these are the entries in order. Otherwise the tasks are distributed among
// the different nodes. Pure.
Result<std::vector<std::string>> nodes_of_tasks(const LoadLevelerAllocation& allocation,
                                                NodeRequest request);

}  // namespace poe::pm
