// Partition: a job as seen from the home node, from its start to its one exit status. Starts the daemons
// directly below it in the launch tree, carries standard streams between them and poe's own, passes signals
// on, applies the policy of failures (outcome.hpp), and returns when nothing of the job is left. One thread,
// one event loop; only poe's own outputs are written by threads (output_writer.hpp).
//
// What tasks start (MPI_Comm_spawn) is one more JobRun: the first job and those use the same code.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/home/deadlock_watch.hpp"
#include "partition_manager/home/job_output.hpp"
#include "partition_manager/home/job_run.hpp"
#include "partition_manager/home/job_tracing.hpp"
#include "partition_manager/home/outcome.hpp"
#include "partition_manager/launch/stdin_merge.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/name_table.hpp"
#include "partition_manager/status/status_socket.hpp"
#include "partition_manager/status/watch_socket.hpp"
#include "partition_manager/stdio/input_source.hpp"

namespace poe::pm {

struct PartitionOptions {
    OutputOptions output;
    bool hold_stdin = false;            // MP_HOLD_STDIN: read it only when all tasks run
    std::chrono::seconds timeout{150};  // MP_TIMEOUT, to reach the daemons; 0: none
    std::optional<std::chrono::seconds> maxtime;
    // How long tasks may continue after SIGINT or SIGQUIT; 0: forever. MP_INTERRUPT_GRACE.
    std::chrono::seconds interrupt_grace{0};
    std::string pmd;                                       // path of the daemon on this node
    std::function<void(const std::string&)> on_attention;  // text without severity
    std::function<void(const std::string&)> on_info;       // likewise
    // Once a second while nodes come up, with how far it is; empty: no more of it.
    std::function<void(const std::string&)> on_progress;
    std::function<void(const WaitFindings&)> on_deadlock;  // the job continues
    std::string trace_path;                                // of the file, if the job is traced
    // As JobTracing::Handlers::merge.
    std::function<std::string(const TraceGathering&, const std::string& path)> merge_trace;
    std::function<JobKey()> make_key;  // for tasks that tasks start
    // True before this process is stopped (SIGTSTP), false when it continues.
    std::function<void(bool)> on_stopping;
    // The processors that each task may use, once all daemons have reported (JobSpec::tell_binding).
    std::function<void(const std::vector<std::string>&)> on_binding;
    // The size of the user's terminal, when it may have changed (-pty).
    std::function<std::optional<TerminalSpec>()> terminal_size;
};

class Partition {
  public:
    // Descriptors 0, 1 and 2 of this process are the job's streams.
    Partition(JobSpec job, PartitionOptions options, InheritedSignals heritage,
              char* const* environment);
    ~Partition();

    // Blocks until the job is over and its output written. Throws Error when the daemon cannot be
    // started.
    Outcome run();

    // With the tasks that its tasks have started.
    const JobSpec& job() const { return job_; }
    const OutputTails& stderr_tails() const { return output_.stderr_tails(); }
    // What has been gathered of the job's trace, and the file that is to be made of it; null: none.
    const TraceGathering* trace() const { return tracing_.trace(); }
    const std::string& trace_path() const { return tracing_.path(); }
    // The processors that each task may use; empty strings where no daemon has reported them.
    const std::vector<std::string>& binding() const { return binding_.by_task; }
    // poe's output is stuck and was given up: only _exit may follow.
    bool output_abandoned() const { return output_abandoned_; }

  private:
    JobRun& first() { return *runs_.front(); }
    const JobRun& first() const { return *runs_.front(); }
    bool is_first(const JobRun& run) const { return &run == runs_.front().get(); }
    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < job_.tasks.size();
    }
    JobRun& add_run(JobSpec job);

    // partition_launch.cpp
    void launch();
    void let_watch();
    void watch_launch();
    void on_timeout();
    void on_unreached(JobRun& run, NodeIndex node, const std::string& text);
    void on_lost(JobRun& run, NodeIndex node, const std::string& text);
    void on_change(JobRun& run);
    void on_first_started();
    std::vector<std::string> missing_nodes() const;
    std::string unanswered() const;

    // partition_messages.cpp: what daemons report
    void on_message(JobRun& run, NodeIndex branch, NodeIndex from, Message message);
    void on_output(JobRun& run, NodeIndex branch, const Frame& frame);
    void on_start_failed(JobRun& run, StartFailed failed);
    void on_exit(JobRun& run, TaskExit exit);
    void on_flush_complete(JobRun& run);
    void on_stdin_progress(NodeIndex branch, const StdinProgress& progress);
    void on_bound(const TasksBound& bound);
    void on_exchange(JobRun& run, const KeyExchangePart& part);
    void on_keys_asked(const KeyRequest& ask);
    void answer(const ReplyTo& asker, const Message& message);
    JobRun* find_run(const std::string& id);

    // partition_signals.cpp
    void listen_to_signals();
    void wait_for_signal();
    void on_signal(int signal);
    void on_interrupt(int signal);
    void stop_and_wait_for_continue();
    bool stop_gathering();

    // partition_spawn.cpp
    void on_spawn_request(JobRun& run, NodeIndex from, SpawnTasks request);
    void serve_spawn_requests();
    void spawn(const SpawnTasks& request);
    void refuse_spawn(const SpawnTasks& request, const std::string& why);
    void fail_spawn(JobRun& run, const std::string& why);
    void on_spawned(JobRun& run);
    void on_spawned_over(JobRun& run);
    void set_tasks();
    void add_tasks(const JobSpec& job);
    void remove_tasks(const JobSpec& job);

    void begin_stdin();
    NodeIndex stdin_target() const;
    // Tells the daemons that more may come, unless our own reader is behind.
    void give_credit(FrameKind stream);
    void end_job(Decision verdict, bool at_once = false);
    // To the daemons of all runs.
    void send_all(const Message& message);
    void end_all(bool at_once);
    bool all_over() const;
    void reap_leftovers();
    bool impatient();

    struct Timers {
        explicit Timers(asio::io_context& loop)
            : deadline(loop), launch(loop), interrupt(loop), reap(loop), spawn(loop) {}
        asio::steady_timer deadline;  // MP_TIMEOUT until started, then maxtime
        asio::steady_timer launch;    // for progress on a terminal
        asio::steady_timer interrupt;
        asio::steady_timer reap;
        asio::steady_timer spawn;
    };
    // Requests to start tasks are served one after the other, so that each new job can be told of all
    // that run, and they of it.
    struct Spawning {
        std::deque<SpawnTasks> requests;  // that wait
        SpawnTasks request;               // the one that is served
        JobRun* run = nullptr;            // which becomes this
        std::size_t next_node = 0;
        std::uint32_t number = 0;
    };
    struct Binding {
        std::vector<std::string> by_task;
        std::size_t known = 0;
    };
    // Where others on this node find the job.
    struct Sockets {
        std::unique_ptr<StatusSocket> status;  // of a job with tasks on other nodes
        std::unique_ptr<FactsSocket> facts;    // likewise
        std::unique_ptr<WatchSocket> watchers;
    };
    // How much output readers had left when impatient() last looked, and when that last changed.
    struct Reading {
        std::size_t unread = 0;
        std::chrono::steady_clock::time_point changed{};
    };

    asio::io_context loop_{1};
    JobSpec job_;  // with all tasks that its tasks have started
    PartitionOptions options_;
    InheritedSignals heritage_;
    char* const* environment_;
    asio::signal_set signals_;
    Timers timers_;
    FailurePolicy judge_;
    DeadlockWatch deadlock_watch_;
    std::vector<std::unique_ptr<JobRun>> runs_;  // the first job, then what tasks have started
    JobOutput output_;
    StdinMerge stdin_progress_;
    std::unique_ptr<InputSource> input_;
    JobTracing tracing_;
    NameTable names_;
    ExchangeTable joint_exchanges_;  // of tasks of several runs
    Spawning spawning_;
    Sockets sockets_;
    Binding binding_;
    std::vector<pid_t> not_ours_;  // children that were there before the daemon
    std::chrono::steady_clock::time_point start_time_{};
    std::size_t exits_ = 0;  // of tasks
    int interrupts_ = 0;
    std::vector<std::string> lost_own_daemons_;  // jobs whose daemon on this node was lost
    Reading reading_;
    bool finished_ = false;
    bool output_abandoned_ = false;
};

}  // namespace poe::pm
