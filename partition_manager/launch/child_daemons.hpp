// ChildDaemons: all daemons directly below poe, or below a pmd, and the protocol with them: they are
// started, given the job, and watched; what goes down finds its way; what comes up and concerns
// only this level is settled here, and the rest handed on. poe (partition.hpp) and pmd
// (tree_relay.hpp) differ in what they do with that.
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

// For the thread of the loop; nothing blocks, but that starting a process takes a moment.
class ChildDaemons {
  public:
    struct Handlers {
        // What was not settled here, with the node that said it.
        std::function<void(NodeIndex branch, NodeIndex from, Message)> on_message;
        std::function<void(NodeIndex branch, const Frame&)> on_output;
        // Daemons that are up, each told once.
        std::function<void(std::vector<NodeIndex>)> on_up;
        // A branch has become prepared, started, over or lost: all_prepared() and the like may have
        // changed.
        std::function<void()> on_change;
        // It has never come up.
        std::function<void(NodeIndex, std::string)> on_unreached;
        // It was up, and is gone or silent.
        std::function<void(NodeIndex, std::string)> on_lost;
    };

    // `local_pmd`: the daemon's program on this node, if the home node may be started from here.
    // `job`, `environment` and `heritage` must outlive this.
    ChildDaemons(asio::io_context& loop, const JobSpec& job, std::string local_pmd,
                 const InheritedSignals& heritage, char* const* environment, Handlers handlers);

    // Starts the daemon of a node; `share`: among how many the window is divided. Failures come
    // later, by on_unreached.
    void launch(NodeIndex node, std::size_t share);

    // Down to all nodes, or to one.
    void send(const Message& message, NodeIndex to = kAllNodes);
    void send_stdin(std::string_view data, NodeIndex to);
    // That many bytes of a branch's output have gone where they should. Paid out by settle().
    void add_credit(NodeIndex branch, FrameKind stream, std::size_t bytes);
    void flush_credit(FrameKind stream);

    // From now on branches that do not end in time are given up.
    void expect_end();
    // Kills what leads to them, without waiting for their ends.
    void give_up();
    // Writes out what is queued, waiting no longer than this for each.
    void drain(std::chrono::milliseconds patience);

    // Those that are not gone.
    std::size_t alive() const;
    bool all_prepared() const;
    bool all_started() const;
    // Nothing of them is left here, not even the processes that led to them.
    bool all_over() const;
    // Of all nodes in all branches; to be taken once.
    std::vector<NodeFacts> take_facts() { return std::move(facts_); }
    // ChildDaemons that have not come up, with what was said on the way: "node3 (...)".
    std::vector<std::string> waiting_for() const;

    // Processes that lead to branches; they are not the job's.
    std::vector<pid_t> pids() const;
    // Waits for those that have ended, without blocking.
    void reap();
    // The same when the caller has waited for it; false: none of ours.
    bool on_child_exit(pid_t pid, int status);

  private:
    enum class State { kComing, kPreparing, kPrepared, kStarted, kOver };
    struct Link {
        NodeIndex node = 0;
        State state = State::kComing;
        bool greeted = false;  // has said Hello
        bool gone = false;     // no process and no channel any more
        std::int64_t window = 0;
        std::array<std::uint64_t, 3> owed{};  // by stream
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
