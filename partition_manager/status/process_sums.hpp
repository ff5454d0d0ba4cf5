// The resource use of processes, summed over a task's process and all its descendants, because a
// shell that waits for its program is as busy as the program. Read in one pass over /proc.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

#include "partition_manager/job/task_state.hpp"
#include "partition_manager/status/process_facts.hpp"

namespace poe::pm {

struct ProcessSum {
    bool runs = false;     // one of them is on a processor or waits for one
    bool stopped = false;  // the first one is stopped, by a signal or a debugger
    bool disk = false;     // one of them waits for a disk or similar
    std::chrono::milliseconds cpu{0};
    Bytes memory = 0;
    ProcessUse use;
};

class ProcessSums {
  public:
    // Reads all processes of that user. Takes some 10 us for each.
    void look(uid_t owner);
    // Returns nothing if there was no such process.
    std::optional<ProcessSum> of(pid_t pid) const;

  private:
    std::unordered_map<pid_t, ProcessFacts> facts_;
    std::unordered_map<pid_t, std::vector<pid_t>> children_;
};

// Sets `idle` and `stopped` of tasks whose processes run on this node and belong to `owner`.
void add_process_states(std::span<TaskState> states, uid_t owner);

}  // namespace poe::pm
