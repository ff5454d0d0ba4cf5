// The daemon's loop; see node_daemon.hpp.
#include "partition_manager/node_daemon.hpp"

#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/base/error.hpp"
#include "partition_manager/process_tree.hpp"

namespace poe::pm {

namespace {

// Descriptors of one task in this process: three streams, a PMI socket, and its other end at start.
constexpr std::size_t kDescriptorsPerTask = 5;

// And its listening socket, in a job that needs one.
constexpr std::size_t kDescriptorsPerTcpTask = kDescriptorsPerTask + 1;

// How often processes are looked for that survived SIGKILL's first round (they were being born).
constexpr std::chrono::milliseconds kKillAgain{20};

// How long pipes may stay open without any process of the job: somebody else holds them.
constexpr std::chrono::milliseconds kPipeEndDelay{500};

std::chrono::microseconds duration(const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

unsigned usable_cpus() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&set));
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

}  // namespace

NodeDaemon::NodeDaemon(UniqueFd in, UniqueFd out, SignalHeritage heritage)
    : heritage_(heritage),
      signals_(loop_, SIGCHLD, SIGTERM),
      kill_timer_(loop_),
      drain_timer_(loop_),
      channel_(loop_, std::move(in), std::move(out),
               {[this](const Frame& frame) { on_data(frame); },
                [this](Message message) { on_message(std::move(message)); },
                [this](const std::string& why) { on_closed(why); }}) {}

NodeDaemon::~NodeDaemon() = default;

void NodeDaemon::run() {
    become_subreaper();
    const auto wait_signal = [this](auto& self) -> void {
        signals_.async_wait([this, &self](const asio::error_code& error, int signal) {
            if (error) return;
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

void NodeDaemon::on_message(Message message) {
    if (auto* start = std::get_if<StartJob>(&message)) {
        if (phase_ == Phase::kWaiting) start_job(std::move(*start));
    } else if (const auto* signal = std::get_if<SignalTasks>(&message)) {
        signal_tasks(signal->signal);
    } else if (const auto* end = std::get_if<EndJob>(&message)) {
        end_job(end->at_once);
    } else if (std::get_if<StdinEnd>(&message)) {
        if (stdin_) stdin_->on_end();
    } else if (const auto* ask = std::get_if<AskTaskStates>(&message)) {
        if (watch_) channel_.send(watch_->states(ask->round));
    } else if (const auto* flushed = std::get_if<StdoutFlushed>(&message)) {
        on_flushed(*flushed);
    } else if (std::get_if<Pulse>(&message)) {
        channel_.send(Pulse{});
    }
}

void NodeDaemon::on_data(const Frame& frame) {
    if (frame.kind == FrameKind::kStdin && stdin_) {
        stdin_->on_data(frame.payload);
    } else if (is_bulk_credit(frame)) {
        OutputStream* stream =
            frame.flags == static_cast<std::uint8_t>(FrameKind::kStdout)   ? stdout_.get()
            : frame.flags == static_cast<std::uint8_t>(FrameKind::kStderr) ? stderr_.get()
                                                                           : nullptr;
        if (stream != nullptr) stream->on_credit(credit_of(frame));
    }
}

void NodeDaemon::on_closed(const std::string&) {
    if (phase_ == Phase::kWaiting) phase_ = Phase::kFinished;
    end_job(false);
}

void NodeDaemon::start_job(StartJob start) {
    job_ = std::move(start.job);
    std::erase_if(job_.environment, [](const std::string& entry) {
        return is_other_launchers_variable(std::string_view(entry).substr(0, entry.find('=')));
    });
    node_ = start.node;
    phase_ = Phase::kRunning;
    try {
        launch();
    } catch (const Error& error) {
        refuse({{}, error.what()});
    }
}

// Nothing runs, or it will not for long: the reason goes to `poe`, the rest is cleaned up.
void NodeDaemon::refuse(StartFailed failure) {
    channel_.send(failure);
    end_job(true);
}

void NodeDaemon::make_segment() {
    NodeSegmentSpec spec;
    spec.job_id = job_.id;
    spec.path = directory_->file("segment");
    spec.node = node_;
    for (const TaskSpec& task : job_.tasks) spec.node_of_task.push_back(task.node);
    spec.wait_mode = job_.wait_mode;
    spec.cpus = usable_cpus();
    spec.pmd_pid = ::getpid();
    spec.buffer_mem = job_.buffer_mem;
    spec.eager_limit = job_.eager_limit;
    spec.euilib = job_.euilib;
    if (needs_tcp(job_)) add_tcp_facts(job_, spec);
    spec.single_copy = job_.single_copy;
    segment_.emplace(NodeSegment::create(spec));
    if (needs_tcp(job_)) listeners_ = std::make_unique<TaskListeners>(*segment_);
}

bool NodeDaemon::on_flush_request(const FlushRequest& request) {
    if (!stdout_ || request.task < 0 || !segment_->local_index(request.task)) return false;
    StdoutMark mark{request.task, std::nullopt};
    if (request.has_mode != 0) {
        using Kind = StdoutMode::Kind;
        mark.mode = request.mode == kFlushOrdered ? StdoutMode{Kind::kOrdered, 0}
                    : request.mode >= 0           ? StdoutMode{Kind::kOne, request.mode}
                                                  : StdoutMode{Kind::kUnordered, 0};
    }
    stdout_->when_sent(request.task, [this, mark] { channel_.send(mark); });
    return true;
}

void NodeDaemon::on_flushed(const StdoutFlushed& flushed) {
    if (!stdout_ || !control_) return;
    const bool changed =
        job_.stdout_mode.kind != flushed.mode.kind || job_.stdout_mode.task != flushed.mode.task;
    job_.stdout_mode = flushed.mode;
    for (std::size_t task = 0; changed && task < job_.tasks.size(); ++task)
        if (job_.tasks[task].node == node_)
            stdout_->set_discard(static_cast<TaskId>(task), is_muted(static_cast<TaskId>(task)));
    control_->answer_all({.agreed = flushed.agreed ? 1 : 0});
}

bool NodeDaemon::is_muted(TaskId task) const {
    return job_.stdout_mode.kind == StdoutMode::Kind::kOne && job_.stdout_mode.task != task;
}

EnvironmentEntries NodeDaemon::environment_of(TaskId task) const {
    EnvironmentEntries entries{{"MP_CHILD", std::to_string(task)},
                               {"MP_PARTITION", job_.id},
                               {"MP_PROCS", std::to_string(job_.tasks.size())},
                               {"MP_SEGMENT", directory_->file("segment")},
                               {"MP_CONTROL", directory_->file("control")}};
    if (pmi_) {
        EnvironmentEntries more = pmi_->environment_of(task);
        entries.insert(entries.end(), more.begin(), more.end());
    }
    return entries;
}

void NodeDaemon::launch() {
    std::vector<TaskId> local;
    for (std::size_t task = 0; task < job_.tasks.size(); ++task)
        if (job_.tasks[task].node == node_) local.push_back(static_cast<TaskId>(task));
    const std::optional<rlimit> open_files = raise_open_files_limit();
    if (std::string trouble = open_files_trouble(
            local.size(), needs_tcp(job_) ? kDescriptorsPerTcpTask : kDescriptorsPerTask);
        !trouble.empty())
        return refuse({{}, std::move(trouble)});
    if (::chdir(job_.directory.c_str()) != 0)
        return refuse({{},
                       "cannot enter the working directory " + job_.directory + ": " +
                           std::strerror(errno) + "; it must exist on every node"});
    remove_stale_job_directories(kJobDirectoryParent, ::getuid());
    directory_.emplace(JobDirectory::create(kJobDirectoryParent, ::getuid(), job_.id));
    make_segment();
    control_ = std::make_unique<ControlSocket>(
        loop_, directory_->file("control"),
        [this](const FlushRequest& request) { return on_flush_request(request); });
    if (job_.host_pmix)
        pmi_ = std::make_unique<PmiService>(
            loop_, job_, node_, directory_->path(), usable_cpus(),
            PmiService::Handlers{
                [this](TaskAbort abort) { channel_.send(abort); },
                [this](TaskLeft left) { channel_.send(left); },
                [this](std::string text) { channel_.send(Attention{std::move(text)}); },
                [this](std::string text) { channel_.send(NodeFailed{std::move(text)}); }});
    stdout_ = std::make_unique<OutputStream>(loop_, channel_, FrameKind::kStdout,
                                             job_.stdout_is_terminal);
    stderr_ = std::make_unique<OutputStream>(loop_, channel_, FrameKind::kStderr, true);
    stdout_->on_pipe_closed = stderr_->on_pipe_closed = [this] { check_progress(); };
    stdin_ = std::make_unique<StdinFeeder>(
        loop_, [this](const StdinProgress& progress) { channel_.send(progress); });

    start_time_ = std::chrono::steady_clock::now();
    const TaskStarter starter{
        job_,
        node_,
        heritage_,
        open_files,
        [this](TaskId task) { return environment_of(task); },
        [this](TaskId task) { return pmi_ ? pmi_->open_task(task) : UniqueFd(); },
        [this](TaskId task) { return listeners_ ? listeners_->take(task) : UniqueFd(); }};
    std::vector<StartedTask> started;
    std::vector<LaunchFailure> failures = starter.start(started);
    if (pmi_) pmi_->tasks_started();
    for (StartedTask& task : started) adopt(std::move(task));
    if (!failures.empty()) return refuse({std::move(failures), ""});
    channel_.send(Started{});
    watch_ = std::make_unique<TaskWatch>(
        loop_, *segment_, job_.deadlock_timeout,
        [this](TaskStates states) { channel_.send(std::move(states)); });
    on_child();  // some may be gone already
}

void NodeDaemon::adopt(StartedTask started) {
    running_.emplace(started.pid, started.task);
    if (const auto index = segment_->local_index(started.task))
        segment_->slot(*index).started_pid.store(started.pid, std::memory_order_relaxed);
    stdout_->add(started.task, std::move(started.stdout_pipe), is_muted(started.task));
    stderr_->add(started.task, std::move(started.stderr_pipe), false);
    if (started.stdin_pipe) stdin_->add(started.task, std::move(started.stdin_pipe));
}

void NodeDaemon::on_child() {
    int status = 0;
    rusage usage = {};
    pid_t pid = 0;
    while ((pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (const auto found = running_.find(pid); found != running_.end()) {
            const TaskId task = found->second;
            running_.erase(found);
            on_task_exit(task, status, usage);
        } else if (pmi_) {
            pmi_->on_child_exit(pid);
        }
    }
    check_progress();
}

void NodeDaemon::on_task_exit(TaskId task, int status, const rusage& usage) {
    TaskExit exit;
    exit.task = task;
    if (WIFSIGNALED(status)) {
        exit.signal = WTERMSIG(status);
        exit.core = WCOREDUMP(status);
    } else {
        exit.code = WEXITSTATUS(status);
    }
    if (const auto index = segment_->local_index(task)) {
        TaskSlot& slot = segment_->slot(*index);
        slot.ended.store(task_end(status), std::memory_order_relaxed);
        if (slot.stopall_called.load(std::memory_order_acquire) != 0)
            exit.stopall = slot.stopall_code & 255;
    }
    exit.after = std::chrono::steady_clock::now() - start_time_;
    exit.user = duration(usage.ru_utime);
    exit.system = duration(usage.ru_stime);
    exit.peak_memory = static_cast<Bytes>(usage.ru_maxrss) * 1024;
    stdin_->on_task_exit(task);
    stdout_->send_now(task);  // so that a flush of the others has it
    channel_.send(exit);
    if (pmi_) pmi_->on_task_exit(task);
}

void NodeDaemon::signal_tasks(int signal) {
    // Whole process groups, so that what `sh -c` started hears it, too.
    for (const auto& [pid, task] : running_) ::kill(-pid, signal);
}

// Tasks may clean up after SIGTERM until the grace is over; then everybody that is left dies.
void NodeDaemon::end_job(bool at_once) {
    if (phase_ == Phase::kWaiting) phase_ = Phase::kFinished;
    if (phase_ == Phase::kRunning) {
        phase_ = Phase::kEnding;
        watch_.reset();
        if (segment_) segment_->announce_ending();
        if (!at_once) {
            signal_descendants(SIGTERM, pmi_ ? pmi_->helper_pid() : 0);
            signal_tasks(SIGCONT);
            kill_timer_.expires_after(job_.kill_grace);
            kill_timer_.async_wait([this](const asio::error_code& error) {
                if (!error) kill_all();
            });
        }
    }
    if (at_once && phase_ == Phase::kEnding) kill_all();
    check_progress();
}

void NodeDaemon::kill_all() {
    killed_ = true;
    signal_descendants(SIGKILL, pmi_ ? pmi_->helper_pid() : 0);
    kill_timer_.expires_after(kKillAgain);
    kill_timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        on_child();
        if (phase_ == Phase::kEnding) kill_all();
    });
}

bool NodeDaemon::anybody_left() {
    if (!running_.empty()) return true;
    const pid_t helper = pmi_ ? pmi_->helper_pid() : 0;
    if (helper != 0) return !descendants(helper).empty();
    return has_children();
}

// Called whenever a process or a pipe has come to its end.
void NodeDaemon::check_progress() {
    if (phase_ == Phase::kRunning && running_.empty()) {
        // What the tasks left behind in the background goes with them.
        phase_ = Phase::kEnding;
        if (anybody_left()) {
            signal_descendants(SIGTERM, pmi_ ? pmi_->helper_pid() : 0);
            kill_timer_.expires_after(job_.kill_grace);
            kill_timer_.async_wait([this](const asio::error_code& error) {
                if (!error) kill_all();
            });
        }
    }
    if (phase_ == Phase::kEnding && !anybody_left()) {
        phase_ = Phase::kDraining;
        kill_timer_.cancel();
        drain_timer_.expires_after(kPipeEndDelay);
        drain_timer_.async_wait([this](const asio::error_code& error) {
            if (error || phase_ != Phase::kDraining) return;
            if (stdout_) stdout_->close_all();
            if (stderr_) stderr_->close_all();
            finish();
        });
    }
    const std::size_t open =
        (stdout_ ? stdout_->open_pipes() : 0) + (stderr_ ? stderr_->open_pipes() : 0);
    if (phase_ == Phase::kDraining && (open == 0 || channel_.closed())) finish();
}

void NodeDaemon::finish() {
    if (phase_ == Phase::kFinished) return;
    phase_ = Phase::kFinished;
    if (pmi_) pmi_->shut_down();
    pmi_.reset();
    watch_.reset();
    control_.reset();
    segment_.reset();
    directory_.reset();
    channel_.send(Done{});
}

}  // namespace poe::pm
