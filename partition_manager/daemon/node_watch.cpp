// See node_watch.hpp.
#include "partition_manager/daemon/node_watch.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "partition_manager/daemon/state_merger.hpp"

namespace poe::pm {
namespace {

// Observing the tasks takes about a tenth of a processor at most, for any number of tasks.
constexpr int kRestAfterLook = 10;

}  // namespace

NodeWatch::NodeWatch(asio::io_context& loop, const NodeSegment& segment,
                     std::function<void(std::vector<WatchedTask>)> news)
    : timer_(loop), segment_(segment), news_(std::move(news)) {}

void NodeWatch::set(bool on) {
    told_.clear();
    look_.reset();
    if (!on) {
        timer_.cancel();
        return;
    }
    look_.emplace(segment_, ::geteuid());
    look();
    look_later(kWatchEvery);
}

void NodeWatch::finish() {
    if (!look_) return;
    look();
    set(false);
}

void NodeWatch::look() {
    const std::vector<WatchedTask>& now = look_->look(std::chrono::steady_clock::now());
    std::vector<WatchedTask> news;
    for (std::size_t i = 0; i < now.size(); ++i)
        if (i >= told_.size() || !same_to_see(told_[i], now[i])) news.push_back(now[i]);
    told_ = now;
    if (!news.empty()) news_(std::move(news));
}

void NodeWatch::look_later(std::chrono::steady_clock::duration pause) {
    timer_.expires_after(pause);
    timer_.async_wait([this, here = std::weak_ptr(here_)](const asio::error_code& error) {
        if (error || here.expired() || !look_) return;
        const auto began = std::chrono::steady_clock::now();
        look();
        const auto took = std::chrono::steady_clock::now() - began;
        look_later(
            std::max<std::chrono::steady_clock::duration>(kWatchEvery, kRestAfterLook * took));
    });
}

}  // namespace poe::pm
