// StateMerger: sends changes of task states to poe, at most 30 times a second. It merges the states
// that a daemon has observed itself with those from the daemons below. Only the latest state of
// each task is kept, so the number of tasks bounds the memory, even if the channel is slow.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// Minimum time between two messages, and between two observations.
inline constexpr std::chrono::milliseconds kWatchEvery{34};

// Call only from the event loop's thread.
class StateMerger {
  public:
    // `queued` returns the number of bytes that wait in the channel to poe. While it is large,
    // states are held back.
    StateMerger(asio::io_context& loop, std::function<std::size_t()> queued,
                std::function<void(WatchedTasks)> send);

    void add(std::vector<WatchedTask> tasks);
    // Sends all held states at once, for the last time.
    void flush();

  private:
    void send_later();

    asio::steady_timer timer_;
    std::function<std::size_t()> queued_;
    std::function<void(WatchedTasks)> send_;
    std::unordered_map<TaskId, WatchedTask> news_;
    bool waiting_ = false;
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace poe::pm
