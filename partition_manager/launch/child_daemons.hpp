// ChildDaemons: all daemons directly below poe or below a pmd, and the protocol with them. It
// starts the daemons, sends them the job and monitors them. It routes messages down the tree.
// Messages from below that concern only this level are handled here; the others are passed to the
// handlers. poe (partition.hpp) and pmd (tree_relay.hpp) handle those differently.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/launch/child_daemon.hpp"
#include "partition_manager/launch/launch_tree.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks, except that starting a process takes a
// moment.
class ChildDaemons {
  public:
    struct Handlers {
        // Receives the messages that are not handled here, with the node that sent them.
        std::function<void(NodeIndex branch, NodeIndex from, Message)> on_message;
        std::function<void(NodeIndex branch, const Frame&)> on_output;
        // Receives the nodes whose daemons are up, each once.
        std::function<void(std::vector<NodeIndex>)> on_up;
        // A daemon has become prepared, has started its tasks, has ended or is lost. all_prepared()
        // and similar results may have changed.
        std::function<void()> on_change;
        // The daemon has never come up.
        std::function<void(NodeIndex, std::string)> on_unreached;
        // The daemon was up and has ended, or does not answer.
        std::function<void(NodeIndex, std::string)> on_lost;
    };

    // `local_pmd` is the daemon's program on this node, if the home node's daemon may be started
    // from here. `job`, `environment` and `heritage` must outlive this object.
    ChildDaemons(asio::io_context& loop, const JobSpec& job, std::string local_pmd,
                 const InheritedSignals& heritage, char* const* environment, Handlers handlers);

    // Starts the daemon of a node. `share` is the number of daemons among which the window is
    // divided. Failures are reported later by on_unreached.
    void launch(NodeIndex node, std::size_t share);

    // Sends a message down to all nodes, or to one.
    void send(const Message& message, NodeIndex to = kAllNodes);
    void send_stdin(std::string_view data, NodeIndex to);
    // Adds credit: `bytes` of this daemon's output have been consumed. flush_credit() sends it.
    void add_credit(NodeIndex branch, FrameKind stream, std::size_t bytes);
    // Sends each daemon its credit for the stream, if enough has accumulated (window /
    // kCreditPortions).
    void flush_credit(FrameKind stream);

    // The daemons are expected to end. Those that do not end in time are considered lost.
    void expect_end();
    // Kills the processes that lead to the daemons. Does not wait for their end.
    void give_up();
    // Writes the queued data. Blocks for at most `patience` per daemon.
    void drain(std::chrono::milliseconds patience);

    // The number of daemons that have not ended.
    std::size_t alive() const;
    bool all_prepared() const;
    bool all_started() const;
    // True if all daemons have ended, and also the processes that led to them.
    bool all_over() const;
    // The facts of all nodes below. To be called once.
    std::vector<NodeFacts> take_facts() { return std::move(facts_); }
    // The daemons that have not come up, with what their remote shell printed: "node3 (...)".
    std::vector<std::string> waiting_for() const;

    // The processes that lead to the daemons. They do not belong to the job.
    std::vector<pid_t> pids() const;
    // Reaps those of these processes that have ended. Does not block.
    void reap();
    // To be called instead if the caller has reaped a child. Returns false if the child is none of
    // these processes.
    bool on_child_exit(pid_t pid, int status);

  private:
    enum class State { kComing, kPreparing, kPrepared, kStarted, kOver };
    struct Link {
        NodeIndex node = 0;
        State state = State::kComing;
        bool greeted = false;  // has sent Hello
        bool gone = false;     // neither process nor channel exist any more
        std::int64_t window = 0;
        std::array<std::uint64_t, 3> owed{};  // credit not yet sent, by stream
        std::chrono::steady_clock::time_point heard{};
        std::unique_ptr<ChildDaemon> branch;
    };

    Link* link_to(NodeIndex node);
    bool at_least(State state) const;
    void on_message(Link& link, NodeIndex from, Message message);
    void begin(Link& link);
    void on_hello(Link& link, const Hello& hello);
    void on_end(Link& link, const std::string& why);
    void lose(Link& link, const std::string& text);
    void advance(Link& link, State state);
    void on_pulse();
    void on_patience_over(std::chrono::milliseconds after);

    asio::io_context& loop_;
    const JobSpec& job_;
    std::string local_pmd_;
    const InheritedSignals& heritage_;
    char* const* environment_;
    Handlers handlers_;
    LaunchTree tree_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<NodeFacts> facts_;
    asio::steady_timer pulse_timer_;
    std::chrono::steady_clock::time_point next_pulse_{};
    asio::steady_timer patience_;
    bool ending_ = false;
    bool pulsing_ = false;
    std::chrono::steady_clock::time_point ending_since_{};
};

}  // namespace poe::pm
