// StateMerger: news of tasks on their way to poe, at most 30 times a second: what a daemon has seen
// itself and what comes from below it goes up in one message. Of each task only the latest is kept,
// so that memory is bounded by the tasks, however slow the way up is.
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

// The shortest time between two messages with news, and between two looks.
inline constexpr std::chrono::milliseconds kWatchEvery{34};

// For the thread of the loop.
class StateMerger {
  public:
    // `queued`: bytes that wait on the way up; while these are many, news is kept back.
    StateMerger(asio::io_context& loop, std::function<std::size_t()> queued,
                std::function<void(WatchedTasks)> send);

    void add(std::vector<WatchedTask> tasks);
    // Sends what is there at once, for the last time.
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
