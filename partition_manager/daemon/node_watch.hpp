// NodeWatch: while displays on the home node watch the job, the daemon of another node looks at its
// tasks and tells what has changed. Nobody watches: nothing is looked at.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/status/node_look.hpp"

namespace poe::pm {

// For the thread of the loop. The segment must outlive it.
class NodeWatch {
  public:
    // `news`: tasks that have changed since they were told last.
    NodeWatch(asio::io_context& loop, const NodeSegment& segment,
              std::function<void(std::vector<WatchedTask>)> news);

    // From now on, beginning with all tasks; or no longer.
    void set(bool on);
    // Tells at once, for the last time.
    void finish();

  private:
    void look();
    void look_later(std::chrono::steady_clock::duration pause);

    asio::steady_timer timer_;
    const NodeSegment& segment_;
    std::function<void(std::vector<WatchedTask>)> news_;
    std::optional<NodeLook> look_;  // while somebody watches
    std::vector<WatchedTask> told_;
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
