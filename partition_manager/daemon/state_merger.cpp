// See state_merger.hpp.
#include "partition_manager/daemon/state_merger.hpp"

#include <utility>

namespace poe::pm {
namespace {

constexpr std::size_t kMostQueued = std::size_t{256} << 10;
// Maximum number of tasks in one message, so that no message delays the messages after it for long.
constexpr std::size_t kMostAtOnce = 512;

}  // namespace

StateMerger::StateMerger(asio::io_context& loop, std::function<std::size_t()> queued,
                         std::function<void(WatchedTasks)> send)
    : timer_(loop), queued_(std::move(queued)), send_(std::move(send)) {}

void StateMerger::add(std::vector<WatchedTask> tasks) {
    for (WatchedTask& task : tasks) news_.insert_or_assign(task.state.task, std::move(task));
    if (!news_.empty()) send_later();
}

void StateMerger::send_later() {
    if (std::exchange(waiting_, true)) return;
    timer_.expires_after(kWatchEvery);
    timer_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
        if (error || here.expired()) return;
        waiting_ = false;
        if (queued_() > kMostQueued) return send_later();
        flush();
    });
}

void StateMerger::flush() {
    WatchedTasks message;
    for (auto& [number, task] : std::exchange(news_, {})) {
        message.tasks.push_back(std::move(task));
        if (message.tasks.size() == kMostAtOnce) send_(std::exchange(message, {}));
    }
    if (!message.tasks.empty()) send_(std::move(message));
}

}  // namespace poe::pm
