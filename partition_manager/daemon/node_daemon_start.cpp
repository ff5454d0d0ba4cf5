// The start of a node's tasks: from StartJob to running processes. Separate from node_daemon.cpp,
// which contains what follows.
#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/daemon/node_address.hpp"
#include "partition_manager/daemon/node_daemon.hpp"
#include "partition_manager/daemon/session_variables.hpp"
#include "partition_manager/job/local_names.hpp"

namespace poe::pm {

namespace {

// Descriptors of one task in this process: three streams, a PMI socket, and the socket's other end
// during the start.
constexpr std::size_t kDescriptorsPerTask = 5;

// Includes the task's listening socket, in a job that needs one.
constexpr std::size_t kDescriptorsPerTcpTask = kDescriptorsPerTask + 1;

unsigned usable_cpus() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&set));
}

// True if no earlier task of the job, on any node, runs the same command.
bool is_first_of_command(const JobSpec& job, TaskId task) {
    const auto end = job.tasks.begin() + task;
    return std::none_of(job.tasks.begin(), end,
                        [&](const TaskSpec& earlier) { return earlier.command == end->command; });
}

}  // namespace

void NodeDaemon::start_job(StartJob start) {
    job_ = std::move(start.job);
    node_ = start.node;
    streams_.out_window = streams_.err_window = streams_.trace_window = StreamWindow(start.window);
    phase_ = Phase::kPreparing;
    uplink_.heard = std::chrono::steady_clock::now();
    std::erase_if(job_.environment, [](const std::string& entry) {
        return is_other_launchers_variable(std::string_view(entry).substr(0, entry.find('=')));
    });
    if (node_ != job_.launch.home) adopt_home_settings();
    const LaunchTree tree(static_cast<NodeIndex>(job_.nodes.size()), job_.launch.fanout,
                          job_.launch.home);
    if (!tree.below(node_).empty()) {
        relay_ = std::make_unique<TreeRelay>(loop_, channel_, job_, node_, streams_.out_window,
                                             streams_.err_window, streams_.trace_window, heritage_,
                                             [this] { on_relay_news(); });
        relay_->on_watched = [this](WatchedTasks below) {
            watching_.rows.add(std::move(below.tasks));
        };
        relay_->launch();
    }
    try {
        prepare();
    } catch (const Error& error) {
        refuse({{}, error.what()});
    }
}

// Applies the settings that the tasks would have inherited on the home node.
void NodeDaemon::adopt_home_settings() {
    std::erase_if(job_.environment, [](const std::string& entry) {
        return is_session_variable(std::string_view(entry).substr(0, entry.find('=')));
    });
    if (!job_.launch.directory.empty()) job_.directory = job_.launch.directory;
    ::umask(job_.launch.umask);
    for (const ResourceLimit& limit : job_.launch.limits) {
        rlimit now = {};
        const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
        if (::getrlimit(resource, &now) != 0) continue;
        now.rlim_cur = std::min<rlim_t>(limit.soft, now.rlim_max);
        ::setrlimit(resource, &now);
    }
    watch_uplink();
    show_life();
}

std::vector<TaskId> NodeDaemon::local_tasks() const {
    return tasks_on(job_, node_);
}

// The job cannot start, or cannot continue. Sends the reason to `poe` and cleans up.
void NodeDaemon::refuse(StartFailed failure) {
    if (!failure.text.empty() && job_.nodes.size() > 1)
        failure.text = "node " + job_.nodes[static_cast<std::size_t>(node_)] + ": " + failure.text;
    send(failure);
    end_job(true);
}

// Every error that can be found here must be found before a task starts on any node.
void NodeDaemon::prepare() {
    const std::vector<TaskId> local = local_tasks();
    open_files_ = raise_open_files_limit();
    if (std::string trouble = open_files_trouble(
            local.size(), needs_tcp(job_) ? kDescriptorsPerTcpTask : kDescriptorsPerTask);
        !trouble.empty())
        return refuse({{}, std::move(trouble)});
    if (::chdir(job_.directory.c_str()) != 0)
        return refuse({{},
                       "cannot enter the working directory " + job_.directory + ": " +
                           std::strerror(errno) +
                           "; it must exist on every node, or MP_REMOTEDIR say another"});
    if (std::string trouble = take_node(); !trouble.empty()) {
        trouble += "; use other nodes, or let poe try again with -retry";
        // refuse() names the node if there are several.
        if (job_.nodes.size() == 1) trouble.insert(0, "node " + job_.nodes.front() + ": ");
        return refuse(StartFailed{{}, std::move(trouble), node_});
    }
    remove_stale_job_directories(kJobDirectoryParent, ::getuid());
    directory_.emplace(JobDirectory::create(kJobDirectoryParent, ::getuid(), job_.id));
    NodeFacts facts{node_, "", {}};
    if (needs_tcp(job_)) {
        const NodeAddress address = own_address();
        listeners_ = std::make_unique<TaskListeners>(address, local.size());
        facts.address = address.text();
        facts.ports = listeners_->ports();
    }
    if (job_.nodes.size() == 1) return run_tasks({facts});
    if (auto failures = missing_programs(job_, node_); !failures.empty())
        return refuse({std::move(failures), ""});
    ready_.facts = std::move(facts);
    on_relay_news();
}

// Spawned tasks use what the first job has reserved.
std::string NodeDaemon::take_node() {
    if (job_.spawned) return "";
    const NodeReservation wanted =
        job_.reserved.empty() ? NodeReservation{} : job_.reserved[static_cast<std::size_t>(node_)];
    return start_.use.emplace().take(kJobDirectoryParent, local_host_name(), wanted);
}

NodeAddress NodeDaemon::own_address() const {
    if (job_.nodes.size() == 1) return loopback_address();
    if (job_.launch.device.empty() && !job_.addresses.empty())
        if (const auto said = NodeAddress::parse(job_.addresses[static_cast<std::size_t>(node_)]))
            return *said;
    return node_address(job_.launch.device, uplink_.ssh_connection);
}

void NodeDaemon::run_tasks(const std::vector<NodeFacts>& nodes) {
    phase_ = Phase::kRunning;
    job_.addresses.assign(job_.nodes.size(), "");
    for (const NodeFacts& node : nodes)
        if (node.node >= 0 && static_cast<std::size_t>(node.node) < job_.nodes.size())
            job_.addresses[static_cast<std::size_t>(node.node)] = node.address;
    try {
        make_segment();
        if (listeners_) {
            listeners_->attach(*segment_);
            write_ports(job_, nodes, *segment_);
        }
        launch();
    } catch (const Error& error) {
        refuse({{}, error.what()});
    }
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
    spec.reports_stops = true;
    spec.euilib = job_.euilib;
    if (needs_tcp(job_)) add_tcp_facts(job_, spec);
    spec.single_copy = job_.single_copy;
    segment_.emplace(NodeSegment::create(spec));
}

void NodeDaemon::make_services() {
    control_ = std::make_unique<ControlSocket>(
        loop_, directory_->file("control"),
        ControlSocket::Handlers{
            [this](const FlushRequest& request) { return on_flush_request(request); },
            [this](const DebuggerRequest& request) { return on_process_waits(request); }});
    if (job_.host_pmix)
        pmi_ = std::make_unique<PmiService>(
            loop_, job_, node_, directory_->path(), usable_cpus(),
            PmiService::Handlers{[this](TaskAbort abort) { send(abort); },
                                 [this](TaskLeft left) { send(left); },
                                 [this](std::string text) { send(Attention{std::move(text)}); },
                                 [this](std::string text) { send(NodeFailed{std::move(text)}); },
                                 [this](const KeyExchangePart& part) {
                                     if (relay_)
                                         relay_->on_own_exchange(part);
                                     else
                                         send(part);
                                 },
                                 [this](const Message& message) { send(message); }});
    streams_.out = std::make_unique<OutputStream>(
        loop_, channel_, streams_.out_window, FrameKind::kStdout,
        job_.stdout_is_terminal || job_.terminal.wanted, job_.stamp_output);
    // With one task no other task's lines can be torn, and a person who types needs to see each
    // character.
    streams_.out->cuts_anywhere = job_.terminal.wanted && job_.tasks.size() == 1;
    streams_.err = std::make_unique<OutputStream>(loop_, channel_, streams_.err_window,
                                                  FrameKind::kStderr, true, job_.stamp_output);
    streams_.out->on_pipe_closed = streams_.err->on_pipe_closed = [this] { check_progress(); };
    trace_ = std::make_unique<NodeTrace>(
        loop_, job_, node_, channel_, streams_.trace_window,
        [this](const Message& message) { send(message); },
        [this] { asio::post(loop_, [this] { check_progress(); }); });
    streams_.in = std::make_unique<StdinFeeder>(loop_, [this](const StdinProgress& progress) {
        if (relay_)
            relay_->on_own_stdin(progress);
        else
            send(progress);
    });
}

void NodeDaemon::launch() {
    make_services();
    if (job_.trace.level > 0) trace_->begin(job_.trace, *segment_, directory_->path());
    start_.time = std::chrono::steady_clock::now();
    start_.wall = std::chrono::system_clock::now();
    const TaskLauncher starter{
        job_,
        node_,
        heritage_,
        open_files_,
        [this](TaskId task) { return environment_of(task); },
        [this](TaskId task) { return pmi_ ? pmi_->open_task(task) : UniqueFd(); },
        [this](TaskId task) { return listeners_ ? listeners_->take(task) : UniqueFd(); },
        trace_->sample_slots()};
    std::vector<StartedTask> started;
    std::vector<LaunchFailure> failures = starter.start(started);
    if (pmi_) pmi_->tasks_started();
    const bool unbound = !started.empty() && !started.front().bound;
    if (job_.threads > 0 && job_.bind && unbound) {
        const std::size_t tasks = started.size();
        const auto threads = static_cast<std::size_t>(job_.threads);
        send(Attention{"tasks of node " + job_.nodes[static_cast<std::size_t>(node_)] +
                       " are not bound: " + std::to_string(tasks) +
                       (tasks == 1 ? " task with " : " tasks with ") + std::to_string(threads) +
                       " threads each need " + std::to_string(tasks * threads) +
                       " processors, and fewer are free; use fewer tasks or threads"});
    }
    TasksStarted processes;
    for (StartedTask& task : started) {
        if (!task.attention.empty() && is_first_of_command(job_, task.task))
            send(Attention{task.attention});
        processes.tasks.push_back(
            {task.task, task.pid, job_.tell_binding ? task.processors : std::string()});
        adopt(std::move(task));
    }
    send(std::move(processes));
    if (!failures.empty()) return refuse({std::move(failures), ""});
    ready_.own_started = true;
    on_relay_news();
    watching_.tasks =
        std::make_unique<TaskWatch>(loop_, *segment_, job_.deadlock_timeout,
                                    [this](TaskStates states) { send(std::move(states)); });
    if (job_.observe != Observe::kNo)
        watching_.observed = std::make_unique<ObservedCalls>(loop_, *segment_);
    // Displays on the home node observe the first job's tasks of that node themselves.
    if (node_ != job_.launch.home || job_.spawned)
        watching_.shown = std::make_unique<NodeWatch>(
            loop_, *segment_,
            [this](std::vector<WatchedTask> tasks) { watching_.rows.add(std::move(tasks)); });
    if (watching_.shown && watching_.on) watching_.shown->set(true);
    on_child();  // some tasks may have ended already
}

void NodeDaemon::adopt(StartedTask started) {
    tasks_.running.emplace(started.pid, started.task);
    if (trace_) trace_->on_task_started(started.task, started.pid);
    if (const auto index = segment_->local_index(started.task))
        segment_->slot(*index).started_pid.store(started.pid, std::memory_order_relaxed);
    streams_.out->add(started.task, std::move(started.stdout_pipe), is_muted(started.task));
    if (started.stderr_pipe) streams_.err->add(started.task, std::move(started.stderr_pipe), false);
    if (started.stdin_pipe)
        streams_.in->add(started.task, std::move(started.stdin_pipe), job_.terminal.wanted);
    if (started.terminal) tasks_.terminals.push_back(std::move(started.terminal));
}

// Adds the variables of the task's command. Variables that the daemon sets itself take precedence,
// because a task that spawns others may pass on variables that were meant for the task itself.
void NodeDaemon::add_command_variables(TaskId task, EnvironmentEntries& entries) const {
    const std::uint32_t command = job_.tasks[static_cast<std::size_t>(task)].command;
    for (const std::string& entry : job_.places[command].environment) {
        const std::size_t equals = entry.find('=');
        const std::string name = entry.substr(0, equals);
        const auto said = [&name](const auto& one) { return one.first == name; };
        if (equals == std::string::npos || is_other_launchers_variable(name) ||
            std::any_of(entries.begin(), entries.end(), said))
            continue;
        entries.emplace_back(name, entry.substr(equals + 1));
    }
}

EnvironmentEntries NodeDaemon::environment_of(TaskId task) const {
    const PlaceOnNode place = place_on_node(job_, task);
    EnvironmentEntries entries{{"MP_CHILD", std::to_string(task)},
                               {"MP_PARTITION", job_.id},
                               {"MP_PROCS", std::to_string(job_.tasks.size())},
                               {"MP_LOCAL_CHILD", std::to_string(place.rank)},
                               {"MP_LOCAL_PROCS", std::to_string(place.tasks)},
                               {"MP_SEGMENT", directory_->file("segment")},
                               {"MP_CONTROL", directory_->file("control")}};
    if (job_.hold_tasks) entries.emplace_back("MP_DEBUGGED", "yes");
    if (pmi_) {
        EnvironmentEntries more = pmi_->environment_of(task, place);
        entries.insert(entries.end(), more.begin(), more.end());
    }
    if (!job_.places.empty()) add_command_variables(task, entries);
    return entries;
}

}  // namespace poe::pm
