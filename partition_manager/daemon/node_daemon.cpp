// The event loop of the daemon; see node_daemon.hpp.
#include "partition_manager/daemon/node_daemon.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/daemon/core_files.hpp"
#include "partition_manager/daemon/subreaper_guard.hpp"
#include "partition_manager/launch/process_tree.hpp"
#include "partition_manager/stdio/task_terminal.hpp"

namespace poe::pm {

namespace {

// SIGKILL is repeated at this interval, because processes that were being created may have survived
// the previous round.
constexpr std::chrono::milliseconds kKillAgain{20};

// If the daemon gives up on poe, it tries for this long to send the reason.
constexpr std::chrono::milliseconds kLastWords{100};

// If pipes stay open this long without a process of the job, another process holds them.
constexpr std::chrono::milliseconds kPipeEndDelay{500};

std::chrono::microseconds duration(const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

bool is_bulk_credit(const Frame& frame) {
    return frame.kind == FrameKind::kCredit && frame.payload.size() == 8;
}

std::uint64_t credit_of(const Frame& frame) {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(frame.payload[static_cast<size_t>(i)])}
                 << (8 * i);
    return value;
}

// The task may have written anything into its slot.
std::optional<TaskStop> stop_of(const TaskSlot& slot) {
    const auto kind = static_cast<StopKind>(slot.stop_kind.load(std::memory_order_acquire));
    if (kind == StopKind::kNone || kind > StopKind::kMpiError) return std::nullopt;
    return TaskStop{kind, slot.stop_code,
                    std::string(slot.stop_text, ::strnlen(slot.stop_text, kMaxStopText))};
}

}  // namespace

NodeDaemon::NodeDaemon(UniqueFd in, UniqueFd out, InheritedSignals heritage,
                       std::string ssh_connection, Heartbeat* heartbeat)
    : heritage_(heritage),
      signals_(loop_, SIGCHLD, SIGTERM, kGuardLost),
      timers_(loop_),
      heartbeat_(heartbeat),
      uplink_{std::move(ssh_connection)},
      channel_(loop_, std::move(in), std::move(out),
               {[this](const Frame& frame) { on_data(frame); },
                [this](NodeIndex to, Message message) { on_message(to, std::move(message)); },
                [this](const std::string& why) { on_closed(why); }}),
      watching_(
          loop_, [this] { return channel_.queued_bytes(); },
          [this](WatchedTasks tasks) { send(std::move(tasks)); }),
      debugger_(loop_, {[this](const Message& message) { send(message); },
                        [this] {
                            if (job_.hold_tasks) signal_tasks(SIGCONT);
                            if (control_) control_->answer_process(0);
                            check_progress();
                        }}) {
    channel_.on_room = [this] { resume_output(); };
}

NodeDaemon::~NodeDaemon() = default;

void NodeDaemon::run(std::chrono::milliseconds longest_wait) {
    become_subreaper();
    expect_job(longest_wait);
    const auto wait_signal = [this](auto& self) -> void {
        signals_.async_wait([this, &self](const asio::error_code& error, int signal) {
            if (error) return;
            if (signal == kGuardLost && phase_ != Phase::kWaiting)
                send(NodeFailed{"the process that guards the daemon pmd on " +
                                job_.nodes[static_cast<std::size_t>(node_)] + " is gone"});
            if (signal == SIGCHLD)
                on_child();
            else
                end_job(false);
            self(self);
        });
    };
    wait_signal(wait_signal);
    channel_.start();
    channel_.send(Hello{kChannelVersion, ::getpid()});
    while (phase_ != Phase::kFinished) loop_.run_one();
    channel_.drain(std::chrono::seconds(1));
}

// poe, or the daemon above, sends the job as soon as it has read Hello. If nothing comes, its node
// or the network has failed, which no closed connection may show.
void NodeDaemon::expect_job(std::chrono::milliseconds limit) {
    timers_.uplink.expires_after(limit);
    timers_.uplink.async_wait([this, limit](const asio::error_code& error) {
        if (error || phase_ != Phase::kWaiting) return;
        throw Error("no job has come for " + std::to_string(limit.count() / 1000) +
                    " s: the node that started this daemon does not answer");
    });
}

void NodeDaemon::on_message(NodeIndex to, Message message) {
    uplink_.heard = std::chrono::steady_clock::now();
    if (auto* start = std::get_if<StartJob>(&message)) {
        if (phase_ == Phase::kWaiting) start_job(std::move(*start));
    } else if (std::get_if<Pulse>(&message)) {
        send(Pulse{});
    } else {
        if (relay_ && to != node_) relay_->pass_down(message, to);
        if (to == kAllNodes || to == node_) on_own_message(std::move(message));
    }
}

void NodeDaemon::on_own_message(Message message) {
    if (const auto* run = std::get_if<RunTasks>(&message)) {
        if (phase_ == Phase::kPreparing && ready_.facts) run_tasks(run->nodes);
    } else if (const auto* signal = std::get_if<SignalTasks>(&message)) {
        uplink_.home_is_stopped = signal->signal == SIGSTOP;
        signal_tasks(signal->signal);
    } else if (const auto* end = std::get_if<EndJob>(&message)) {
        end_job(end->at_once);
    } else if (const auto* size = std::get_if<ResizeTerminals>(&message)) {
        for (const UniqueFd& terminal : tasks_.terminals)
            resize_terminal(terminal.get(), size->rows, size->columns);
    } else if (std::get_if<StdinEnd>(&message)) {
        if (streams_.in) streams_.in->on_end();
    } else if (const auto* ask = std::get_if<AskTaskStates>(&message)) {
        if (watching_.tasks) send(watching_.tasks->states(ask->round));
    } else if (const auto* watch = std::get_if<WatchTasks>(&message)) {
        watching_.on = watch->on;
        if (watching_.shown) watching_.shown->set(watching_.on);
    } else if (const auto* flushed = std::get_if<StdoutFlushed>(&message)) {
        on_flushed(*flushed);
    } else if (const auto* exchanged = std::get_if<KeyExchangeDone>(&message)) {
        if (pmi_) pmi_->on_exchanged(*exchanged);
    } else if (const auto* left = std::get_if<TaskLeft>(&message)) {
        if (pmi_) pmi_->on_peer_lost(left->task);
    } else if (const auto* keys_asked = std::get_if<KeyRequest>(&message)) {
        if (pmi_) pmi_->on_keys_asked(*keys_asked);
    } else if (const auto* keys = std::get_if<KeyReply>(&message)) {
        if (pmi_) pmi_->on_keys(*keys);
    } else if (const auto* names = std::get_if<NameReply>(&message)) {
        if (pmi_) pmi_->on_names(*names);
    } else if (const auto* spawned = std::get_if<TasksSpawned>(&message)) {
        if (pmi_) pmi_->on_spawned(*spawned);
    } else if (auto* other = std::get_if<JobAnnounced>(&message)) {
        if (pmi_) pmi_->on_other_job(std::move(other->job));
    } else if (!on_debugger_message(message)) {
        on_trace_message(message);
    }
}

// Returns the process of the task that has called MPL or MPI, which a script may have started; 0:
// none has, or it has ended.
pid_t NodeDaemon::process_in_call(TaskId task) const {
    const auto index = segment_ ? segment_->local_index(task) : std::nullopt;
    if (!index) return 0;
    const TaskSlot& slot = segment_->slot(*index);
    const bool is_there = slot.attached.load(std::memory_order_acquire) != kNotAttached &&
                          slot.pid > 0 && ::kill(slot.pid, 0) == 0;
    return is_there ? slot.pid : 0;
}

// The tasks that run, for a debugger.
std::vector<TaskProcess> NodeDaemon::running_tasks() const {
    std::vector<TaskProcess> tasks;
    for (const auto& [pid, task] : tasks_.running) {
        const pid_t in_call = process_in_call(task);
        tasks.push_back({task, in_call != 0 ? in_call : pid, ""});
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const TaskProcess& a, const TaskProcess& b) { return a.task < b.task; });
    return tasks;
}

bool NodeDaemon::on_debugger_message(const Message& message) {
    if (std::get_if<StartDebugger>(&message)) {
        if (phase_ == Phase::kRunning) debugger_.start(running_tasks());
    } else if (const auto* input = std::get_if<DebuggerInput>(&message)) {
        debugger_.write(input->bytes);
    } else if (const auto* credit = std::get_if<DebuggerCredit>(&message)) {
        debugger_.on_credit(credit->bytes);
    } else if (std::get_if<EndDebugger>(&message)) {
        debugger_.end();
    } else if (const auto* taken = std::get_if<ProcessTaken>(&message)) {
        on_process_taken(taken->pid);
    } else if (const auto* interrupt = std::get_if<InterruptCommand>(&message)) {
        debugger_.interrupt(interrupt->pid);
    } else if (const auto* held = std::get_if<TasksHeld>(&message)) {
        if (watching_.tasks) watching_.tasks->hold(held->on);
    } else {
        return false;
    }
    return true;
}

// A process of a task has loaded the library. It waits for pdbx unless the task calls MPL or MPI in
// another process already.
bool NodeDaemon::on_process_waits(const DebuggerRequest& request) {
    const auto is_of = [&](const auto& each) { return each.second == request.task; };
    if (debugger_.pid() == 0 || std::none_of(tasks_.running.begin(), tasks_.running.end(), is_of))
        return false;
    const pid_t in_call = process_in_call(request.task);
    if (in_call != 0 && in_call != request.pid) return false;
    tasks_.waiting_for_debugger[request.pid] = request.task;
    std::error_code ignored;
    const auto program =
        std::filesystem::read_symlink("/proc/" + std::to_string(request.pid) + "/exe", ignored);
    send(ProcessWaits{request.task, request.pid, program.string()});
    return true;
}

// gdb has detached from the script, which was held at its start. The kernel then stops it again.
void NodeDaemon::on_process_taken(pid_t pid) {
    const auto waits = tasks_.waiting_for_debugger.find(pid);
    if (waits == tasks_.waiting_for_debugger.end()) return;
    for (const auto& [started, task] : tasks_.running)
        if (task == waits->second && started != pid) ::kill(started, SIGCONT);
    tasks_.waiting_for_debugger.erase(waits);
    if (control_) control_->answer_process(pid);
}

void NodeDaemon::on_trace_message(const Message& message) {
    if (!trace_) return;
    if (const auto* start = std::get_if<StartTrace>(&message)) {
        if (segment_) trace_->begin(start->trace, *segment_, directory_->path());
    } else if (std::get_if<StopTrace>(&message)) {
        trace_->end();
    } else if (const auto* clock = std::get_if<ClockReply>(&message)) {
        trace_->on_clock(*clock);
    } else if (const auto* taken = std::get_if<TraceTaken>(&message)) {
        trace_->on_taken(*taken);
    }
}

void NodeDaemon::on_data(const Frame& frame) {
    if (frame.kind == FrameKind::kStdin) {
        const NodeIndex to = frame.task;
        if (relay_ && to != node_) relay_->pass_stdin(frame.payload, to);
        if (streams_.in && (to == kAllNodes || to == node_)) streams_.in->on_data(frame.payload);
    } else if (is_bulk_credit(frame)) {
        const auto kind = static_cast<FrameKind>(frame.flags);
        (kind == FrameKind::kStdout  ? streams_.out_window
         : kind == FrameKind::kTrace ? streams_.trace_window
                                     : streams_.err_window)
            .on_credit(credit_of(frame));
        resume_output();
    }
}

void NodeDaemon::resume_output() {
    if (relay_) relay_->resume();
    if (streams_.out) streams_.out->resume();
    if (streams_.err) streams_.err->resume();
    if (trace_) trace_->resume();
    check_progress();
}

// The daemon above, or poe, is gone, so nothing can be reported any more.
void NodeDaemon::on_closed(const std::string&) {
    if (relay_) {
        relay_->pass_down(EndJob{}, kAllNodes);
        relay_->resume();
    }
    if (trace_ && !trace_->active()) trace_->abandon();
    end_job(false);
}

// Reports once for this node and all nodes below: that they are prepared, and that their tasks run.
void NodeDaemon::on_relay_news() {
    if (ready_.facts && !ready_.told_prepared && (!relay_ || relay_->branches().all_prepared())) {
        ready_.told_prepared = true;
        Prepared prepared;
        if (relay_) prepared.nodes = relay_->branches().take_facts();
        prepared.nodes.push_back(*ready_.facts);
        send(prepared);
    }
    if (ready_.own_started && !ready_.told_started &&
        (!relay_ || relay_->branches().all_started())) {
        ready_.told_started = true;
        send(Started{});
    }
    if (relay_) check_progress();
}

// Ends the tasks if poe has been silent for longer than the pulse, because a dead home node or a
// broken connection reports nothing.
//   - If this timer fires late, this daemon was stopped itself, so the wait starts again.
//   - poe may only have been stopped. The reason is sent, so that poe gets it when it continues.
void NodeDaemon::watch_uplink() {
    if (job_.launch.pulse.count() <= 0) return;
    const auto interval = std::chrono::milliseconds(job_.launch.pulse) / 2;
    const auto expected = std::chrono::steady_clock::now() + interval;
    timers_.uplink.expires_at(expected);
    timers_.uplink.async_wait([this, interval, expected](const asio::error_code& error) {
        if (error) return;
        const auto now = std::chrono::steady_clock::now();
        if (uplink_.home_is_stopped || now - expected > interval / 2) uplink_.heard = now;
        if (now - uplink_.heard <= job_.launch.pulse) return watch_uplink();
        send(NodeFailed{"poe did not run, or could not be reached, for longer than " +
                        std::to_string(job_.launch.pulse.count()) + " s (MP_PULSE): node " +
                        job_.nodes[static_cast<std::size_t>(node_)] + " ended its tasks"});
        channel_.drain(kLastWords);
        channel_.close();
        on_closed("");
    });
}

// If a node does not answer for one pulse (MP_PULSE), poe considers the node dead. If the daemon
// hangs, the guard ends it after 1.5 pulses.
void NodeDaemon::show_life() {
    if (heartbeat_ == nullptr || job_.launch.pulse.count() <= 0) return;
    const std::chrono::milliseconds pulse(job_.launch.pulse);
    heartbeat_->limit_ms.store(static_cast<std::uint64_t>(pulse.count() * 3 / 2),
                               std::memory_order_relaxed);
    heartbeat_->beats.fetch_add(1, std::memory_order_relaxed);
    timers_.life.expires_after(pulse / 4);
    timers_.life.async_wait([this](const asio::error_code& error) {
        if (!error) show_life();
    });
}

bool NodeDaemon::on_flush_request(const FlushRequest& request) {
    if (!streams_.out || request.task < 0 || !segment_->local_index(request.task)) return false;
    StdoutMark mark{request.task, std::nullopt};
    if (request.has_mode != 0) {
        using Kind = StdoutMode::Kind;
        mark.mode = request.mode == kFlushOrdered ? StdoutMode{Kind::kOrdered, 0}
                    : request.mode >= 0           ? StdoutMode{Kind::kOne, request.mode}
                                                  : StdoutMode{Kind::kUnordered, 0};
    }
    streams_.out->when_sent(request.task, [this, mark] { send(mark); });
    return true;
}

void NodeDaemon::on_flushed(const StdoutFlushed& flushed) {
    if (!streams_.out || !control_) return;
    const bool changed =
        job_.stdout_mode.kind != flushed.mode.kind || job_.stdout_mode.task != flushed.mode.task;
    job_.stdout_mode = flushed.mode;
    for (std::size_t task = 0; changed && task < job_.tasks.size(); ++task)
        if (job_.tasks[task].node == node_)
            streams_.out->set_discard(static_cast<TaskId>(task),
                                      is_muted(static_cast<TaskId>(task)));
    control_->answer_all({.agreed = flushed.agreed ? 1 : 0});
}

bool NodeDaemon::is_muted(TaskId task) const {
    return job_.stdout_mode.kind == StdoutMode::Kind::kOne && job_.stdout_mode.task != task;
}

void NodeDaemon::on_child() {
    int status = 0;
    rusage usage = {};
    pid_t pid = 0;
    while ((pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (const auto found = tasks_.running.find(pid); found != tasks_.running.end()) {
            const TaskId task = found->second;
            tasks_.running.erase(found);
            on_task_exit(task, pid, status, usage);
        } else if (debugger_.on_child_exit(pid, status)) {
            continue;
        } else if (relay_ && relay_->branches().on_child_exit(pid, status)) {
            continue;
        } else if (pmi_) {
            pmi_->on_child_exit(pid);
        }
    }
    check_progress();
}

void NodeDaemon::on_task_exit(TaskId task, pid_t process, int status, const rusage& usage) {
    TaskExit exit;
    exit.task = task;
    if (WIFSIGNALED(status)) {
        exit.signal = WTERMSIG(status);
        exit.core = WCOREDUMP(status);
        // Moved at once, because the next task that dumps core may use the same file name.
        if (exit.core)
            move_core(job_.core, public_number(job_, task), process, directory_of(job_, task),
                      start_.wall);
    } else {
        exit.code = WEXITSTATUS(status);
    }
    if (const auto index = segment_->local_index(task)) {
        TaskSlot& slot = segment_->slot(*index);
        slot.ended.store(task_end(status), std::memory_order_relaxed);
        segment_->header().ends.fetch_add(1, std::memory_order_release);
        exit.stop = stop_of(slot);
    }
    exit.after = std::chrono::steady_clock::now() - start_.time;
    exit.user = duration(usage.ru_utime);
    exit.system = duration(usage.ru_stime);
    exit.peak_memory = static_cast<Bytes>(usage.ru_maxrss) * 1024;
    exit.unjoined = pmi_ && pmi_->unjoined(task);
    streams_.in->on_task_exit(task);
    streams_.out->send_now(task);  // so that a flush of the other tasks includes it
    send(exit);
    if (trace_) trace_->on_task_exit(task, status, usage);
    if (pmi_) pmi_->on_task_exit(task);
}

void NodeDaemon::signal_tasks(int signal) {
    // The signal goes to whole process groups, so that the children of `sh -c` receive it, too.
    for (const auto& [pid, task] : tasks_.running) ::kill(-pid, signal);
}

// Tasks may clean up after SIGTERM. When the grace period expires, all remaining processes are
// killed.
void NodeDaemon::end_job(bool at_once) {
    if (phase_ == Phase::kWaiting) phase_ = Phase::kFinished;
    if (phase_ == Phase::kPreparing || phase_ == Phase::kRunning) {
        phase_ = Phase::kEnding;
        watching_.tasks.reset();
        watching_.observed.reset();
        if (segment_) segment_->announce_ending();
        debugger_.end();  // before the tasks get signals, which gdb would keep
        if (!at_once) {
            signal_descendants(SIGTERM, not_tasks());
            signal_tasks(SIGCONT);
            timers_.kill.expires_after(job_.kill_grace);
            timers_.kill.async_wait([this](const asio::error_code& error) {
                if (!error) kill_all();
            });
        }
    }
    if (at_once && phase_ == Phase::kEnding) kill_all();
    if (at_once && phase_ == Phase::kDraining && trace_) trace_->abandon();
    check_progress();
}

void NodeDaemon::kill_all() {
    killed_ = true;
    signal_descendants(SIGKILL, not_tasks());
    timers_.kill.expires_after(kKillAgain);
    timers_.kill.async_wait([this](const asio::error_code& error) {
        if (error) return;
        on_child();
        if (phase_ == Phase::kEnding) kill_all();
    });
}

bool NodeDaemon::anybody_left() {
    if (!tasks_.running.empty()) return true;
    const std::vector<pid_t> others = not_tasks();
    return others.empty() ? has_children() : !descendants(others).empty();
}

// Returns the daemon's children that do not belong to tasks: the PMIx server, the sampler, and the
// processes that lead to daemons below.
std::vector<pid_t> NodeDaemon::not_tasks() const {
    std::vector<pid_t> found;
    if (relay_) found = relay_->branches().pids();
    if (pmi_ && pmi_->helper_pid() != 0) found.push_back(pmi_->helper_pid());
    if (debugger_.pid() != 0) found.push_back(debugger_.pid());
    if (trace_ && trace_->sampler_pid() != 0) found.push_back(trace_->sampler_pid());
    return found;
}

// Called whenever a process has ended or a pipe has been closed.
void NodeDaemon::check_progress() {
    if (phase_ == Phase::kRunning && tasks_.running.empty()) {
        // Background processes that the tasks have left are ended with the job.
        phase_ = Phase::kEnding;
        if (anybody_left()) {
            signal_descendants(SIGTERM, not_tasks());
            timers_.kill.expires_after(job_.kill_grace);
            timers_.kill.async_wait([this](const asio::error_code& error) {
                if (!error) kill_all();
            });
        }
    }
    // If no task is left, gdb has nothing to detach from.
    if (phase_ == Phase::kEnding && tasks_.running.empty()) debugger_.end();
    if (phase_ == Phase::kEnding && !anybody_left() && debugger_.pid() == 0) {
        phase_ = Phase::kDraining;
        timers_.kill.cancel();
        timers_.drain.expires_after(kPipeEndDelay);
        timers_.drain.async_wait([this](const asio::error_code& error) {
            if (error || phase_ != Phase::kDraining) return;
            if (streams_.out) streams_.out->close_all();
            if (streams_.err) streams_.err->close_all();
            check_progress();
        });
    }
    const std::size_t open = (streams_.out ? streams_.out->open_pipes() : 0) +
                             (streams_.err ? streams_.err->open_pipes() : 0);
    if (phase_ == Phase::kDraining && (open == 0 || channel_.closed())) {
        timers_.drain.cancel();
        if (trace_) trace_->end();
        if (trace_ && !trace_->over()) return;
        clean_up();
        if (!relay_ || relay_->over()) finish();
    }
}

// Called when no process of the job is left on this node.
void NodeDaemon::clean_up() {
    timers_.drain.cancel();
    if (pmi_) pmi_->shut_down();
    pmi_.reset();
    watching_.tasks.reset();
    watching_.observed.reset();
    if (watching_.shown) watching_.shown->finish();
    watching_.shown.reset();
    watching_.rows.flush();
    control_.reset();
    trace_.reset();
    segment_.reset();
    directory_.reset();
    start_.use.reset();
}

void NodeDaemon::finish() {
    phase_ = Phase::kFinished;
    send(Done{});
}

}  // namespace poe::pm
