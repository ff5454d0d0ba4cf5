// Partition: a job as seen from the home node, from its start to its exit status. It
// - starts the daemons directly below poe in the launch tree,
// - forwards the standard streams between the daemons and poe's own,
// - forwards signals to the tasks,
// - applies the failure policy (outcome.hpp),
// - returns when no process of the job is left.
//
// It has one thread and one event loop. Only poe's own outputs are written by other threads
// (output_writer.hpp), and a stopped trace is merged by one (job_tracing.hpp).
//
// Tasks that tasks start (MPI_Comm_spawn) form one more JobRun, so the first job and spawned jobs
// use the same code.
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
#include "partition_manager/status/debug_socket.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/name_table.hpp"
#include "partition_manager/status/shared_names.hpp"
#include "partition_manager/status/status_socket.hpp"
#include "partition_manager/status/watch_socket.hpp"
#include "partition_manager/stdio/input_source.hpp"

namespace poe::pm {

struct PartitionOptions {
    OutputOptions output;
    bool hold_stdin = false;            // MP_HOLD_STDIN: read it only once all tasks run
    std::chrono::seconds timeout{150};  // MP_TIMEOUT: limit for reaching the daemons; 0: none
    std::optional<std::chrono::seconds> maxtime;
    // MP_INTERRUPT_GRACE: tasks may continue this long after SIGINT or SIGQUIT; 0: forever.
    std::chrono::seconds interrupt_grace{0};
    std::string pmd;                                       // path of the daemon on this node
    std::function<void(const std::string&)> on_attention;  // text without severity
    std::function<void(const std::string&)> on_info;       // likewise
    // Called once a second while nodes come up, with the progress. Empty: no further progress
    // follows.
    std::function<void(const std::string&)> on_progress;
    std::function<void(const WaitFindings&)> on_deadlock;  // the job continues
    std::string trace_path;                                // path of the file, if the job is traced
    // Like JobTracing::Handlers::merge.
    std::function<std::string(const TraceGathering&, const std::string& path)> merge_trace;
    // The connection to the pdbx that has started this poe. Partition takes the descriptor. -1:
    // none.
    int debugger = -1;
    std::function<JobKey()> make_key;  // for jobs that tasks start
    // Called with true before this process is stopped (SIGTSTP), and with false when it continues.
    std::function<void(bool)> on_stopping;
    // Called with the process of each task, in task order, when all daemons have started theirs.
    std::function<void(const JobSpec&, const std::vector<TaskProcess>&)> on_processes;
    // Returns the size of the user's terminal; called when it may have changed (-pty).
    std::function<std::optional<TerminalSpec>()> terminal_size;
};

class Partition {
  public:
    // Descriptors 0, 1 and 2 of this process become the job's streams.
    Partition(JobSpec job, PartitionOptions options, InheritedSignals heritage,
              char* const* environment);
    ~Partition();

    // Blocks until the job is over and its output is written. Throws Error if the daemon cannot be
    // started.
    Outcome run();

    // Includes the tasks that the job's tasks have started.
    const JobSpec& job() const { return job_; }
    const OutputTails& stderr_tails() const { return output_.stderr_tails(); }
    // The gathered streams of the job's trace, and the file to be made of them. Null: there is no
    // trace.
    const TraceGathering* trace() const { return tracing_.trace(); }
    const std::string& trace_path() const { return tracing_.path(); }
    // The process of each task; pid 0 if no daemon has reported it.
    const std::vector<TaskProcess>& processes() const { return processes_.by_task; }
    // True if poe's output was blocked and has been given up. Only _exit may follow then.
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
    void let_watch(JobRun& run);
    void watch_launch();
    void on_timeout();
    void on_unreached(JobRun& run, NodeIndex node, const std::string& text);
    void on_lost(JobRun& run, NodeIndex node, const std::string& text);
    void on_change(JobRun& run);
    void on_first_started();
    std::vector<std::string> missing_nodes() const;
    std::string unanswered() const;

    // partition_debugger.cpp
    void let_debug();
    void tell_debugger();
    void on_debugger_message(NodeIndex to, Message message);
    void on_debugger_left(bool detached);
    void hold_limits(bool on);
    void set_maxtime(std::chrono::steady_clock::time_point when);

    // partition_messages.cpp: the reports of the daemons
    void on_message(JobRun& run, NodeIndex branch, NodeIndex from, Message message);
    void on_output(JobRun& run, NodeIndex branch, const Frame& frame);
    void on_start_failed(JobRun& run, StartFailed failed);
    void on_exit(JobRun& run, TaskExit exit);
    void on_flush_complete(JobRun& run);
    void on_stdin_progress(NodeIndex branch, const StdinProgress& progress);
    void on_started(const TasksStarted& started);
    void on_exchange(JobRun& run, const KeyExchangePart& part);
    void on_keys_asked(const KeyRequest& ask);
    void on_names(NameRequest request);
    // Tells other jobs of what a task has published or withdrawn, or answers from what other jobs
    // have published.
    void share_names(const NameRequest& asked, NameReply& reply);
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
    void refuse_spawn(const SpawnTasks& request, const std::string& why,
                      const std::string& job = "");
    void fail_spawn(JobRun& run, const std::string& why);
    void on_spawned(JobRun& run);
    void on_spawned_over(JobRun& run);
    void on_unjoined(JobRun& run, const TaskExit& exit);
    std::vector<WatchedTask> ended_spawned_tasks() const;
    NodeIndex public_node(const JobRun& run, NodeIndex node) const;
    void set_tasks();
    void add_tasks(const JobSpec& job);
    void remove_tasks(const JobSpec& job);

    void begin_stdin();
    NodeIndex stdin_target() const;
    // Gives the daemons credit for more output, unless poe's own reader is too slow.
    void give_credit(FrameKind stream);
    void end_job(Decision verdict, bool at_once = false);
    // Sends the message to the daemons of all runs.
    void send_all(const Message& message);
    void end_all(bool at_once);
    bool all_over() const;
    void reap_leftovers();
    bool impatient();
    bool reader_is_stuck();
    void watch_reader();

    struct Timers {
        explicit Timers(asio::io_context& loop)
            : deadline(loop),
              launch(loop),
              interrupt(loop),
              reap(loop),
              spawn(loop),
              reader(loop) {}
        asio::steady_timer deadline;  // MP_TIMEOUT until started, then maxtime
        asio::steady_timer launch;    // for the progress display on a terminal
        asio::steady_timer interrupt;
        asio::steady_timer reap;
        asio::steady_timer spawn;
        asio::steady_timer reader;  // of the output, after a second interrupt
    };
    // Requests to start tasks are served one at a time, so that each new job gets the summaries of
    // all running jobs, and they get its summary.
    struct Spawning {
        std::deque<SpawnTasks> requests;  // requests that wait
        SpawnTasks request;               // the request being served
        JobRun* run = nullptr;            // the run that it becomes
        std::size_t next_node = 0;
        std::uint32_t number = 0;
    };
    struct Processes {
        std::vector<TaskProcess> by_task;
        std::size_t known = 0;
    };
    // The sockets by which other processes on this node find the job.
    struct Sockets {
        std::unique_ptr<StatusSocket> status;  // for a job with tasks on other nodes
        std::unique_ptr<FactsSocket> facts;    // for a job with tasks on other nodes
        std::unique_ptr<WatchSocket> watchers;
        bool watched = false;  // by a display
        std::unique_ptr<DebugSocket> debugger;
    };
    struct Debugging {
        bool held = false;                    // pdbx holds tasks: time limits stand still
        std::chrono::nanoseconds maxtime{0};  // what was left of maxtime then
        bool left = false;                    // the pdbx that has started the job has detached
    };
    // The amount of unread output when reader_is_stuck() last checked, and the time of its last
    // change.
    struct Reading {
        std::size_t unread = 0;
        std::chrono::steady_clock::time_point changed{};
    };

    struct Names {
        NameTable published;
        SharedNames shared;
        ExchangeTable joint_exchanges;  // key exchanges between tasks of several runs
    };

    struct SoFar {
        std::chrono::steady_clock::time_point start{};
        std::size_t exits = 0;  // of tasks
        int interrupts = 0;
    };

    asio::io_context loop_{1};
    JobSpec job_;  // includes all tasks that its tasks have started
    PartitionOptions options_;
    InheritedSignals heritage_;
    char* const* environment_;
    asio::signal_set signals_;
    Timers timers_;
    FailurePolicy judge_;
    DeadlockWatch deadlock_watch_;
    // The first job, then the jobs that tasks have started.
    std::vector<std::unique_ptr<JobRun>> runs_;
    JobOutput output_;
    StdinMerge stdin_progress_;
    std::unique_ptr<InputSource> input_;
    JobTracing tracing_;
    Names names_;
    Spawning spawning_;
    Sockets sockets_;
    Debugging debugging_;
    Processes processes_;
    std::vector<pid_t> not_ours_;  // children that existed before the first daemon
    SoFar so_far_;
    std::vector<std::string> lost_own_daemons_;  // ids of jobs whose daemon on this node was lost
    Reading reading_;
    bool finished_ = false;
    bool output_abandoned_ = false;
};

}  // namespace poe::pm
