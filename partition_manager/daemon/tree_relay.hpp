// TreeRelay: the part of a daemon that serves the daemons below it in the launch tree. It starts
// them, forwards messages down to them, and forwards up what they send:
// - output, within the window that the daemons above have granted,
// - the progress of standard input, merged,
// - one Prepared, Started and Done for all nodes below and the daemon's own; NodeDaemon checks the
//   state here before it sends one.
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

// Call only from the event loop's thread. No call blocks.
class TreeRelay {
  public:
    // All references must outlive this object. `on_change` is called when the state of branches()
    // may have changed.
    TreeRelay(asio::io_context& loop, Channel& up, const JobSpec& job, NodeIndex node,
              StreamWindow& stdout_window, StreamWindow& stderr_window, StreamWindow& trace_window,
              const InheritedSignals& heritage, std::function<void()> on_change);

    // Starts the daemons directly below.
    void launch();

    ChildDaemons& branches() { return branches_; }
    // Receives tasks below whose state has changed, for displays.
    std::function<void(WatchedTasks)> on_watched;
    // Forwards what comes from above, for all nodes below or for one of them.
    void pass_down(const Message& message, NodeIndex to);
    void pass_stdin(std::string_view data, NodeIndex to);
    // The progress of the node's own tasks. It is merged with that of the nodes below and sent up.
    void on_own_stdin(const StdinProgress& progress);
    // The node's own part of a key exchange. It is merged likewise.
    void on_own_exchange(const KeyExchangePart& part);
    // To be called when the windows towards poe have grown.
    void resume();
    // True if all daemons below have ended and all their output has been forwarded.
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
