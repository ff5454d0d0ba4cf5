// TaskWatch: `pmd` checks its tasks periodically. If some tasks have been stuck for most of the
// deadlock timeout, it reports them. The cost is ten checks of the slots per timeout, and a message
// if the set of stuck tasks has changed and is stable. `poe` decides whether there is a deadlock,
// because only `poe` knows the states on all nodes (deadlock_watch.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/segment/node_segment.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/daemon/call_places.hpp"
#include "partition_manager/daemon/file_use.hpp"

namespace poe::pm {

// Call only from the event loop's thread. The segment must outlive this object.
class TaskWatch {
  public:
    // If `timeout` is 0, nothing is reported without a request. `report` is called from the event
    // loop.
    TaskWatch(asio::io_context& loop, const NodeSegment& segment, std::chrono::seconds timeout,
              std::function<void(TaskStates)> report);

    // Returns the tasks that are stuck or have ended at present. In a round other than 0, it blocks
    // while the places of their calls are looked up, at most two seconds. In a round of
    // kStatusRounds or more it returns all tasks.
    TaskStates states(std::uint32_t round);

    // Call with true while a debugger holds tasks: nothing is then reported. After the call with
    // false, the time of the tasks' waits starts again.
    void hold(bool on);

  private:
    void add_places(std::vector<TaskState>& states);
    void add_evidence(const TaskSlot& slot, TaskState& state);
    void add_threads(std::uint32_t index, std::chrono::steady_clock::time_point now,
                     TaskState& state);
    void look_later();
    void look();

    asio::steady_timer timer_;
    const NodeSegment& segment_;
    std::chrono::milliseconds timeout_;
    std::function<void(TaskStates)> report_;
    CallPlaces places_;
    FileUse files_;
    bool held_ = false;
    std::chrono::steady_clock::time_point resumed_{};
    // The tasks of states() at the last check and at the last report, and of each whether its
    // evidence is known.
    using Who = std::vector<std::tuple<TaskId, TaskState::Life, bool>>;
    Who before_;
    Who reported_;
    // A handler of an expired timer runs even if the timer is destroyed before the handler's turn.
    // The handler checks this pointer.
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
