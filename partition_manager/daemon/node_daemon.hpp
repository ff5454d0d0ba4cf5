// NodeDaemon: the implementation of `pmd`. It owns the tasks of one node from the first to the last
// process: it starts them, forwards their streams, and reports how each ended. It ends all tasks if
// `poe` says so, if `poe` is gone, or if a signal tells the daemon to stop. One thread, one event
// loop.
//
// Life of a daemon:
//   1. It sends Hello and waits for StartJob.
//   2. If the job has several nodes, it sends Prepared and waits for RunTasks.
//   3. It runs the tasks until all of them have ended, or until the job is to end.
//   4. It waits until no process descends from it any more.
//   5. It reads all pipes to their end.
//   6. It waits until all daemons below it in the launch tree have ended.
//   7. It sends Done.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "base/segment/node_segment.hpp"
#include "partition_manager/channel/channel.hpp"
#include "partition_manager/daemon/control_socket.hpp"
#include "partition_manager/daemon/node_debugger.hpp"
#include "partition_manager/daemon/node_trace.hpp"
#include "partition_manager/daemon/node_watch.hpp"
#include "partition_manager/daemon/observed_calls.hpp"
#include "partition_manager/daemon/state_merger.hpp"
#include "partition_manager/daemon/task_listeners.hpp"
#include "partition_manager/daemon/task_start.hpp"
#include "partition_manager/daemon/task_watch.hpp"
#include "partition_manager/daemon/tree_relay.hpp"
#include "partition_manager/launch/heartbeat.hpp"
#include "partition_manager/pmi/pmi_service.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/status/node_use.hpp"
#include "partition_manager/stdio/output_stream.hpp"
#include "partition_manager/stdio/stdin_feeder.hpp"

namespace poe::pm {

// How long a daemon waits for its job. The job usually comes within one round trip.
inline constexpr std::chrono::minutes kLongestWaitForJob{1};

class NodeDaemon {
  public:
    // `in` (and `out`, if it is a separate descriptor) lead to `poe` or to the daemon above; the
    // daemon owns them. `ssh_connection` is sshd's SSH_CONNECTION; it may be empty. `heartbeat` is
    // the counter that the guarding process watches; null if there is no guard. It must outlive the
    // daemon.
    NodeDaemon(UniqueFd in, UniqueFd out, InheritedSignals heritage, std::string ssh_connection,
               Heartbeat* heartbeat);
    ~NodeDaemon();

    // Serves one job. Blocks until no process of the job is left on the node. Throws Error if the
    // job does not come within `longest_wait`.
    void run(std::chrono::milliseconds longest_wait = kLongestWaitForJob);

  private:
    enum class Phase { kWaiting, kPreparing, kRunning, kEnding, kDraining, kFinished };

    void on_message(NodeIndex to, Message message);
    void on_own_message(Message message);
    void on_data(const Frame& frame);
    void on_closed(const std::string& why);
    // node_daemon_start.cpp: from StartJob to running tasks
    void start_job(StartJob start);
    void prepare();
    void adopt_home_settings();
    NodeAddress own_address() const;
    void run_tasks(const std::vector<NodeFacts>& nodes);
    void launch();
    void refuse(StartFailed failure);
    // Takes what the job needs of the node. Returns why that is not possible; empty: it is.
    std::string take_node();
    void make_segment();
    void make_services();
    std::vector<TaskId> local_tasks() const;

    void send(const Message& message) { channel_.send(message, node_); }
    void on_relay_news();
    void expect_job(std::chrono::milliseconds limit);
    void watch_uplink();
    void show_life();
    std::vector<pid_t> not_tasks() const;
    void clean_up();
    bool on_flush_request(const FlushRequest& request);
    void on_flushed(const StdoutFlushed& flushed);
    void on_trace_message(const Message& message);
    bool on_debugger_message(const Message& message);
    bool on_process_waits(const DebuggerRequest& request);
    void on_process_taken(pid_t pid);
    pid_t process_in_call(TaskId task) const;
    std::vector<TaskProcess> running_tasks() const;
    bool is_muted(TaskId task) const;
    EnvironmentEntries environment_of(TaskId task) const;
    void add_command_variables(TaskId task, EnvironmentEntries& entries) const;
    void adopt(StartedTask started);

    void on_child();
    void on_task_exit(TaskId task, pid_t process, int status, const rusage& usage);
    void signal_tasks(int signal);
    void end_job(bool at_once);
    void kill_all();
    bool anybody_left();
    void resume_output();
    void check_progress();
    void finish();

    struct Timers {
        explicit Timers(asio::io_context& loop)
            : kill(loop), drain(loop), uplink(loop), life(loop) {}
        asio::steady_timer kill;
        asio::steady_timer drain;
        asio::steady_timer uplink;
        asio::steady_timer life;
    };
    // The connection to the daemon above, or to poe.
    struct Uplink {
        std::string ssh_connection;
        std::chrono::steady_clock::time_point heard{};  // the last frame
        bool home_is_stopped = false;  // poe was stopped (Ctrl-Z) and sends nothing
    };
    struct Start {
        std::chrono::steady_clock::time_point time{};
        std::chrono::system_clock::time_point wall{};
        std::optional<NodeUse> use;  // until no process of the job is left on this node
    };
    // The progress of the start on this node and on the nodes below it.
    struct Readiness {
        std::optional<NodeFacts> facts;  // set once this node is prepared
        bool told_prepared = false;
        bool own_started = false;
        bool told_started = false;
    };
    struct Watching {
        Watching(asio::io_context& loop, std::function<std::size_t()> queued,
                 std::function<void(WatchedTasks)> send)
            : rows(loop, std::move(queued), std::move(send)) {}
        std::unique_ptr<TaskWatch> tasks;
        std::unique_ptr<ObservedCalls> observed;
        // Null on the home node, because displays there observe the tasks directly.
        std::unique_ptr<NodeWatch> shown;
        StateMerger rows;
        bool on = false;
    };
    struct Streams {
        StreamWindow out_window;
        StreamWindow err_window;
        StreamWindow trace_window;
        std::unique_ptr<StdinFeeder> in;
        std::unique_ptr<OutputStream> out;
        std::unique_ptr<OutputStream> err;
    };

    struct Tasks {
        std::unordered_map<pid_t, TaskId> running;
        std::unordered_map<pid_t, TaskId> waiting_for_debugger;  // processes of scripts
        std::vector<UniqueFd> terminals;                         // of the tasks (-pty)
    };

    asio::io_context loop_{1};
    InheritedSignals heritage_;
    asio::signal_set signals_;
    Timers timers_;
    Heartbeat* heartbeat_;
    Uplink uplink_;
    Channel channel_;
    Phase phase_ = Phase::kWaiting;
    bool killed_ = false;  // SIGKILL was sent at least once

    JobSpec job_;
    NodeIndex node_ = 0;
    Start start_;
    std::optional<rlimit> open_files_;  // the tasks' limit, if it differs from the daemon's
    Readiness ready_;
    std::optional<JobDirectory> directory_;
    std::optional<NodeSegment> segment_;
    std::unique_ptr<TaskListeners> listeners_;  // null in a job without TCP
    Watching watching_;
    std::unique_ptr<ControlSocket> control_;
    std::unique_ptr<PmiService> pmi_;
    std::unique_ptr<NodeTrace> trace_;
    NodeDebugger debugger_;
    Streams streams_;
    std::unique_ptr<TreeRelay> relay_;  // null: there are no daemons below
    Tasks tasks_;
};

}  // namespace poe::pm
