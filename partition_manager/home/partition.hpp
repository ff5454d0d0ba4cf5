// Partition: one job as seen from the home node. Starts the daemons right below it in the launch
// tree, carries standard streams between them and poe's own, passes signals on, applies the policy
// of failures (outcome.hpp), and returns when nothing of the job is left. One thread, one event
// loop; only poe's own outputs are written by threads (output_writer.hpp).
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/home/deadlock_watch.hpp"
#include "partition_manager/home/flush_round.hpp"
#include "partition_manager/home/outcome.hpp"
#include "partition_manager/home/spawned_job.hpp"
#include "partition_manager/home/trace_gathering.hpp"
#include "partition_manager/job/name_pattern.hpp"
#include "partition_manager/launch/branches.hpp"
#include "partition_manager/launch/exchange_table.hpp"
#include "partition_manager/launch/stdin_merge.hpp"
#include "partition_manager/status/command_socket.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/name_table.hpp"
#include "partition_manager/status/status_socket.hpp"
#include "partition_manager/status/watch_socket.hpp"
#include "partition_manager/stdio/escape_filter.hpp"
#include "partition_manager/stdio/folded_output.hpp"
#include "partition_manager/stdio/input_source.hpp"
#include "partition_manager/stdio/line_formatter.hpp"
#include "partition_manager/stdio/ordered_output.hpp"
#include "partition_manager/stdio/output_files.hpp"
#include "partition_manager/stdio/output_tails.hpp"
#include "partition_manager/stdio/output_writer.hpp"

namespace poe::pm {

struct PartitionOptions {
    bool labels = false;                // -labelio
    std::string label_format;           // MP_LABELFORMAT; empty: the task's number
    std::string outfile;                // -outfile, a pattern; empty: poe's standard output
    std::string errfile;                // -errfile, likewise
    bool hold_stdin = false;            // MP_HOLD_STDIN: read it only when all tasks run
    std::chrono::seconds timeout{150};  // MP_TIMEOUT, to reach the daemons; 0: none
    std::optional<std::chrono::seconds> maxtime;
    // How long tasks may go on after SIGINT or SIGQUIT; 0: for ever. MP_INTERRUPT_GRACE.
    std::chrono::seconds interrupt_grace{0};
    std::string pmd;                  // path of the daemon on this node
    std::string temporary_directory;  // for ordered output that is too large for memory
    std::function<void(const std::string&)> on_attention;  // text without severity
    std::function<void(const std::string&)> on_info;       // likewise
    // Once a second while nodes come up, with how far it is; empty: no more of it.
    std::function<void(const std::string&)> on_progress;
    std::function<void(const WaitFindings&)> on_deadlock;  // the job goes on
    std::string trace_path;                                // of the file, when the job is traced
    // Makes the file of a trace that has been stopped while the job goes on, and says in words how
    // that went. Called by a thread of its own.
    std::function<std::string(const TraceGathering&, const std::string& path)> merge_trace;
    bool protect_terminals = false;    // a display is on them: output may not move the cursor
    std::function<JobKey()> make_key;  // for tasks that tasks start
    // True before this process is stopped (SIGTSTP), false when it goes on.
    std::function<void(bool)> on_stopping;
    // Which processors each task may use, once all daemons have said so (JobSpec::tell_binding).
    std::function<void(const std::vector<std::string>&)> on_binding;
    // The size of the user's terminal, when it may have changed (-pty).
    std::function<std::optional<TerminalSpec>()> terminal_size;
};

// What to ask the CommandSocket of a job: to be traced from now on, to a file of that absolute
// path; and no longer. The answer begins with '+' or '-', and says in words what has become of it.
std::string start_trace_question(const TraceSpec& trace, const std::string& path);
std::string stop_trace_question();

class Partition {
  public:
    // Descriptors 0, 1 and 2 of this process are the job's streams.
    Partition(JobSpec job, PartitionOptions options, SignalHeritage heritage,
              char* const* environment);
    ~Partition();

    // Blocks until the job is over and its output written. Throws Error when the daemon cannot be
    // started.
    Outcome run();

    // With the tasks that its tasks have started.
    const JobSpec& job() const { return job_; }
    const OutputTails& stderr_tails() const { return tails_; }
    // What has been gathered of the job's trace, and which file it is to be; null: none is to be
    // made.
    const TraceGathering* trace() const { return trace_.get(); }
    const std::string& trace_path() const { return trace_path_; }
    // The processors that each task may use; empty strings where no daemon has said so.
    const std::vector<std::string>& binding() const { return binding_; }
    // poe's output is stuck and was given up: only _exit may follow.
    bool output_abandoned() const { return output_abandoned_; }

  private:
    // One of poe's outputs, with what leads to it.
    struct Output {
        std::unique_ptr<OutputWriter> own_writer;
        OutputWriter* writer = nullptr;
        std::unique_ptr<LineFormatter> own_formatter;
        LineFormatter* formatter = nullptr;
        std::unordered_map<TaskId, std::chrono::system_clock::time_point>
            times;                           // of the last read
        std::unique_ptr<OutputFiles> files;  // instead
        bool filtered = false;               // it is a terminal with a display
        std::unordered_map<TaskId, EscapeFilter> filters;
    };

    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < job_.tasks.size();
    }
    void make_outputs();
    void launch();
    void watch_launch();
    void on_message(NodeIndex from, Message message);
    void on_data(Branches& from, NodeIndex branch, const Frame& frame);
    void on_change();
    void on_started();
    void on_timeout();
    void on_stdin_progress(NodeIndex branch, const StdinProgress& progress);
    void on_unreached(NodeIndex node, const std::string& text);
    void on_lost(NodeIndex node, const std::string& text);
    std::vector<std::string> missing_nodes() const;
    std::string unanswered() const;
    void on_interrupt(int signal);
    void on_bound(const TasksBound& bound);
    NodeIndex stdin_target() const;
    // Signals (partition_signals.cpp).
    void listen_to_signals();
    void wait_for_signal();
    void on_signal(int signal);
    void let_watch();
    void on_writer_progress();

    std::size_t backlog(FrameKind stream);
    void fold(TaskId task, std::string_view data);
    void give_out_folded();
    void keep_ordered(TaskId task, std::string_view data);
    void owe(Branches& from, NodeIndex branch, const Frame& frame);
    void deliver(FrameKind stream, TaskId task, std::string_view data, bool open);
    void settle(FrameKind stream);
    Output& output(FrameKind stream);
    std::string_view shown_part(FrameKind stream, const Frame& frame);
    void begin_stdin();
    void end_job(Verdict verdict, bool at_once = false);
    void stop_and_wait_for_continue();
    void reap_leftovers();
    void finish_output();
    // Traces (partition_trace.cpp).
    using TraceAnswer = CommandSocket::Answer;
    void begin_trace();
    bool on_trace_message(NodeIndex from, const Message& message);
    void on_trace_question(const std::string& question, TraceAnswer answer);
    std::string start_trace(TraceSpec spec, const std::string& path);
    void stop_trace(TraceAnswer answer);
    void merge_stopped_trace();
    void on_trace_merged(const std::string& words);
    void finish_merging();
    bool stop_gathering();
    // Tasks that start tasks, and tasks of several jobs (partition_spawn.cpp).
    struct Place {
        Branches* branches;
        const JobSpec* job;
    };
    const JobSpec& first_job() const { return first_job_ ? *first_job_ : job_; }
    bool is_first_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < first_job().tasks.size();
    }
    std::optional<Place> find_job(const std::string& id);
    void on_question(const JobSpec& job, NodeIndex from, Message message);
    void answer(const Asker& asker, const Message& message);
    void on_keys_asked(const AskKeys& ask);
    void spawn_next();
    void spawn(const SpawnTasks& ask);
    void refuse_spawn(const SpawnTasks& ask, const std::string& why);
    void fail_spawn(SpawnedJob& spawned, const std::string& why);
    void on_spawn_done(SpawnedJob& spawned);
    void set_tasks();
    void add_tasks(const JobSpec& job);
    void remove_tasks(const JobSpec& job);
    void on_spawned_change(SpawnedJob& spawned);
    void on_spawned_trouble(SpawnedJob& spawned, NodeIndex node, const std::string& text);
    void on_spawned_output(SpawnedJob& from, NodeIndex branch, const Frame& frame);
    void on_spawned_message(SpawnedJob& from, NodeIndex node, Message message);
    void on_spawned_flush(SpawnedJob& from);
    // To the daemons of all jobs.
    void send_all(const Message& message);
    void end_all(bool at_once);
    bool all_over() const;
    // Flushes that tasks asked for.
    void on_flush_complete();
    void go_on_flushing();
    std::unique_ptr<OrderedOutput> make_ordered() const;
    bool impatient();

    asio::io_context loop_{1};
    JobSpec job_;                       // with all tasks that its tasks have started
    std::optional<JobSpec> first_job_;  // without, once there are any
    PartitionOptions options_;
    SignalHeritage heritage_;
    char* const* environment_;
    asio::signal_set signals_;
    asio::steady_timer deadline_;      // timeout until started, then maxtime
    asio::steady_timer launch_timer_;  // for progress on a terminal
    asio::steady_timer interrupt_timer_;
    asio::steady_timer reap_timer_;
    Judge judge_;
    DeadlockWatch deadlock_watch_;
    std::unique_ptr<Branches> branches_;
    StdinMerge stdin_progress_;
    std::vector<bool> up_;     // by node: its daemon has said so
    std::vector<bool> tried_;  // by node: poe itself has tried to start its daemon
    std::unique_ptr<InputSource> input_;
    Output stdout_;
    Output stderr_;
    std::unique_ptr<OrderedOutput> ordered_;
    std::string shown_;                                         // storage of shown_part()
    LineTime line_time_{{}, std::chrono::system_clock::now()};  // of what is being given out
    FoldedOutput folded_;
    asio::steady_timer folded_timer_;
    FlushRound flush_round_;
    ExchangeTable exchanges_;
    NameTable names_;
    std::vector<std::unique_ptr<SpawnedJob>> spawned_;  // the oldest first, ended ones too
    std::deque<SpawnTasks> spawn_requests_;             // that wait
    SpawnTasks spawn_ask_;                              // the one that is served
    SpawnedJob* spawning_ = nullptr;                    // which becomes this
    asio::steady_timer spawn_timer_;
    ExchangeTable joint_exchanges_;  // of tasks of several jobs
    std::size_t next_spawn_node_ = 0;
    std::uint32_t spawn_number_ = 0;
    std::unique_ptr<CommandSocket> commands_;
    std::unique_ptr<TraceGathering> trace_;
    std::string trace_path_;
    TraceAnswer stopped_trace_;  // to who has stopped it
    std::thread merger_;
    bool merging_ = false;
    std::unique_ptr<StatusSocket> status_;      // in a job with tasks on other nodes
    std::unique_ptr<FactsSocket> facts_;        // likewise
    std::unique_ptr<OrderedOutput> releasing_;  // what a flush gives out
    std::optional<StdoutFlushed> flushed_;      // to be said when it has
    OutputTails tails_;                         // of standard error, for the report
    OutputTails all_tails_;                     // of both outputs, for displays
    std::unique_ptr<WatchSocket> watchers_;
    std::vector<pid_t> not_ours_;  // children that were there before the daemon
    std::chrono::steady_clock::time_point start_time_{};
    std::size_t exits_ = 0;  // of tasks
    int interrupts_ = 0;
    std::vector<std::string> binding_;  // by task
    std::size_t bound_ = 0;             // tasks whose binding is known
    bool told_to_run_ = false;
    bool started_ = false;
    std::vector<std::string> lost_own_daemons_;  // jobs whose daemon on this node was lost
    bool ordered_failed_ = false;
    bool finished_ = false;
    bool output_abandoned_ = false;
    std::size_t unread_ = 0;  // bytes, when impatient() last looked
    std::chrono::steady_clock::time_point read_last_{};
};

}  // namespace poe::pm
