// LoadLeveler's variables, from which a batch script knows the nodes of its job. Batch systems that
// replaced LoadLeveler, and llsubmit(1), set them for old scripts.
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

// The allocation that LOADL_HOSTFILE or LOADL_PROCESSOR_LIST describes; nothing if neither is set.
// LOADL_HOSTFILE takes precedence, because LoadLeveler leaves the list out in large jobs. Reads the
// file. A file that cannot be read, and names that cannot be, are the result's error.
Result<std::optional<LoadLevelerAllocation>> loadleveler_allocation(
    const std::function<const char*(const char*)>& variable);

// The node of each task: the entries in order if there are enough of them and the request does not
// say how to deal the tasks; otherwise the tasks are dealt to the different nodes. Pure.
Result<std::vector<std::string>> nodes_of_tasks(const LoadLevelerAllocation& allocation,
                                                NodeRequest request);

}  // namespace poe::pm
