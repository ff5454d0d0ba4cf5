// TaskWatch: `pmd` looks now and then at what its tasks do, and says so when some have been stuck
// for most of the deadlock timeout. It costs a look at the slots ten times per timeout, and a
// message when the set of stuck tasks has changed and stays; whether they are deadlocked is for
// `poe` to find out, who sees all nodes (deadlock_watch.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "base/segment/node_segment.hpp"
#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// For the thread of the event loop. The segment must outlive it.
class TaskWatch {
  public:
    // `timeout` 0: only answers. `report` is called from the loop.
    TaskWatch(asio::io_context& loop, const NodeSegment& segment, std::chrono::seconds timeout,
              std::function<void(TaskStates)> report);

    // The tasks that are stuck or have ended, now; all of them in a round of kStatusRounds.
    TaskStates states(std::uint32_t round) const;

  private:
    void look_later();
    void look();

    asio::steady_timer timer_;
    const NodeSegment& segment_;
    std::chrono::milliseconds timeout_;
    std::function<void(TaskStates)> report_;
    // The tasks of states(), at the last look and at the last report.
    using Who = std::vector<std::pair<TaskId, TaskState::Life>>;
    Who before_;
    Who reported_;
    // A timer that has expired calls even when it is destroyed before its turn has come.
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
