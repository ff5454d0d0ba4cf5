// TreeRelay: what a daemon does for the daemons below it in the launch tree, beside its own tasks:
// starts them, passes down what is for them, and passes up what they say, output within the window
// that those above have given, standard input's progress merged, and one Prepared, Started, Done
// for all (the node daemon asks here before it says one).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/launch/child_daemons.hpp"
#include "partition_manager/launch/exchange_table.hpp"
#include "partition_manager/launch/stdin_merge.hpp"
#include "partition_manager/stdio/stream_forwarder.hpp"

namespace poe::pm {

// For the thread of the loop.
class TreeRelay {
  public:
    // All references must outlive this. `on_change`: branches() may have news.
    TreeRelay(asio::io_context& loop, Channel& up, const JobSpec& job, NodeIndex node,
              StreamWindow& stdout_window, StreamWindow& stderr_window, StreamWindow& trace_window,
              const InheritedSignals& heritage, std::function<void()> on_change);

    // Starts the daemons right below.
    void launch();

    ChildDaemons& branches() { return branches_; }
    // Tasks below that have changed, for displays.
    std::function<void(WatchedTasks)> on_watched;
    // From above: for all nodes below, or for one of them.
    void pass_down(const Message& message, NodeIndex to);
    void pass_stdin(std::string_view data, NodeIndex to);
    // Progress of the node's own tasks; goes up with that of the others.
    void on_own_stdin(const StdinProgress& progress);
    // The own node's part of an exchange, likewise.
    void on_own_exchange(const KeyExchangePart& part);
    // The windows above have become larger.
    void resume();
    // Nothing is left below, and all they have written has gone up.
    bool over() const;

  private:
    void on_message(NodeIndex branch, NodeIndex from, Message message);
    void report_stdin();
    StreamForwarder& relay_of(FrameKind stream);
    void on_up(const std::vector<NodeIndex>& nodes);

    Channel& up_;
    const JobSpec& job_;
    NodeIndex node_;
    std::function<void()> on_change_;
    StreamForwarder stdout_;
    StreamForwarder stderr_;
    StreamForwarder trace_;
    StdinMerge stdin_;
    StdinProgress reported_;
    ExchangeTable exchanges_;
    asio::steady_timer news_timer_;
    NodesUp news_;
    ChildDaemons branches_;
};

}  // namespace poe::pm
