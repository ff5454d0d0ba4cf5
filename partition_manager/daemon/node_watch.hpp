// NodeWatch: while displays on the home node watch the job, the daemon of another node, or of a job
// that tasks have started, observes its tasks and reports what has changed. If nothing watches, no
// task is examined.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/status/node_look.hpp"

namespace poe::pm {

// Call only from the event loop's thread. The segment must outlive this object.
class NodeWatch {
  public:
    // `news` receives the tasks that have changed since their last report.
    NodeWatch(asio::io_context& loop, const NodeSegment& segment,
              std::function<void(std::vector<WatchedTask>)> news);

    // Starts reporting, beginning with all tasks, or stops.
    void set(bool on);
    // Reports at once, for the last time.
    void finish();

  private:
    void look();
    void look_later(std::chrono::steady_clock::duration pause);

    asio::steady_timer timer_;
    const NodeSegment& segment_;
    std::function<void(std::vector<WatchedTask>)> news_;
    std::optional<NodeLook> look_;  // set while a display watches
    std::vector<WatchedTask> told_;
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
