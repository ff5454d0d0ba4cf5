// See tree_relay.hpp.
#include "partition_manager/daemon/tree_relay.hpp"

#include <unistd.h>
#include <utility>

namespace poe::pm {

namespace {

// NodesUp messages are collected for this long, because the progress of a launch is not shown in
// its first second.
constexpr std::chrono::milliseconds kNewsDelay{400};

}  // namespace

TreeRelay::TreeRelay(asio::io_context& loop, Channel& up, const JobSpec& job, NodeIndex node,
                     StreamWindow& stdout_window, StreamWindow& stderr_window,
                     StreamWindow& trace_window, const InheritedSignals& heritage,
                     std::function<void()> on_change)
    : up_(up),
      job_(job),
      node_(node),
      on_change_(std::move(on_change)),
      stdout_(up, stdout_window,
              [this](NodeIndex branch, FrameKind kind, std::size_t bytes) {
                  branches_.add_credit(branch, kind, bytes);
                  branches_.flush_credit(kind);
              }),
      stderr_(up, stderr_window,
              [this](NodeIndex branch, FrameKind kind, std::size_t bytes) {
                  branches_.add_credit(branch, kind, bytes);
                  branches_.flush_credit(kind);
              }),
      trace_(up, trace_window,
             [this](NodeIndex branch, FrameKind kind, std::size_t bytes) {
                 branches_.add_credit(branch, kind, bytes);
                 branches_.flush_credit(kind);
             }),
      news_timer_(loop),
      branches_(
          loop, job, "", heritage, ::environ,
          {[this](NodeIndex branch, NodeIndex from, Message message) {
               on_message(branch, from, std::move(message));
           },
           [this](NodeIndex branch, const Frame& frame) {
               relay_of(frame.kind).on_frame(branch, frame);
           },
           [this](const std::vector<NodeIndex>& nodes) { on_up(nodes); }, [this] { on_change_(); },
           [this](NodeIndex below, std::string text) {
               stdin_.remove(below);
               report_stdin();
               up_.send(NodeUnreached{below, std::move(text)}, node_);
           },
           [this](NodeIndex below, std::string text) {
               stdin_.remove(below);
               report_stdin();
               up_.send(NodeLost{below, std::move(text)}, node_);
           }}) {
    stdin_.add(node_);
}

StreamForwarder& TreeRelay::relay_of(FrameKind stream) {
    return stream == FrameKind::kStdout ? stdout_ : stream == FrameKind::kTrace ? trace_ : stderr_;
}

void TreeRelay::launch() {
    const LaunchTree tree(static_cast<NodeIndex>(job_.nodes.size()), job_.launch.fanout,
                          job_.launch.home);
    const std::vector<NodeIndex> below = tree.below(node_);
    for (const NodeIndex node : below) {
        stdin_.add(node);
        // Half of poe's window is granted below, because all data within the granted windows may
        // have to be buffered here.
        branches_.launch(node, 2 * below.size());
    }
}

void TreeRelay::pass_down(const Message& message, NodeIndex to) {
    branches_.send(message, to);
    if (std::get_if<EndJob>(&message)) branches_.expect_end();
}

void TreeRelay::pass_stdin(std::string_view data, NodeIndex to) {
    branches_.send_stdin(data, to);
}

void TreeRelay::on_own_stdin(const StdinProgress& progress) {
    if (job_.stdin_mode.kind == StdinMode::Kind::kOne) {
        up_.send(progress, node_);
        return;
    }
    stdin_.set(node_, progress);
    report_stdin();
}

void TreeRelay::report_stdin() {
    const StdinProgress all = stdin_.all();
    if (all.delivered == reported_.delivered && all.consumed == reported_.consumed &&
        all.wanted == reported_.wanted)
        return;
    reported_ = all;
    up_.send(all, node_);
}

void TreeRelay::on_message(NodeIndex branch, NodeIndex from, Message message) {
    const auto* progress = std::get_if<StdinProgress>(&message);
    const auto* part = std::get_if<KeyExchangePart>(&message);
    if (part != nullptr) {
        on_own_exchange(*part);
    } else if (progress != nullptr && job_.stdin_mode.kind != StdinMode::Kind::kOne) {
        stdin_.set(branch, *progress);
        report_stdin();
    } else if (auto* watched = std::get_if<WatchedTasks>(&message)) {
        on_watched(std::move(*watched));
    } else if (std::get_if<StdoutMark>(&message)) {
        stdout_.on_message(branch, from, std::move(message));
    } else if (std::get_if<TraceDone>(&message)) {
        trace_.on_message(branch, from, std::move(message));
    } else {
        up_.send(message, from);
    }
}

// If all nodes of the job take part, each daemon below sends one part, and the parts are merged
// here. If only some nodes or several jobs take part, poe counts the parts.
void TreeRelay::on_own_exchange(const KeyExchangePart& part) {
    if (!part.jobs.empty() || part.of != job_.nodes.size()) {
        up_.send(part, node_);
    } else if (const auto sum = exchanges_.add_of(part, branches_.alive() + 1)) {
        up_.send(*sum, node_);
    }
}

void TreeRelay::on_up(const std::vector<NodeIndex>& nodes) {
    const bool first = news_.nodes.empty();
    news_.nodes.insert(news_.nodes.end(), nodes.begin(), nodes.end());
    if (!first) return;
    news_timer_.expires_after(kNewsDelay);
    news_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) up_.send(std::exchange(news_, {}), node_);
    });
}

void TreeRelay::resume() {
    stdout_.resume();
    stderr_.resume();
    trace_.resume();
}

bool TreeRelay::over() const {
    return branches_.all_over() && stdout_.empty() && stderr_.empty() && trace_.empty();
}

}  // namespace poe::pm
