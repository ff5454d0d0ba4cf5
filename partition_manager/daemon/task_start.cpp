// From TaskSpec to process; see task_start.hpp.
#include "partition_manager/daemon/task_start.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <unordered_set>

#include "base/error.hpp"
#include "partition_manager/daemon/busy_processors.hpp"
#include "partition_manager/daemon/core_files.hpp"
#include "partition_manager/daemon/cpu_shares.hpp"
#include "partition_manager/daemon/mpi_library.hpp"
#include "partition_manager/daemon/sampler_process.hpp"
#include "partition_manager/job/program_path.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/preload.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/stdio/line_buffering.hpp"
#include "partition_manager/stdio/task_terminal.hpp"

namespace poe::pm {

namespace {

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

// With a larger pipe a task that writes much can continue while the daemon reads. Only small jobs
// get one, because the kernel limits the sum of all pipes of a user (fs.pipe-user-pages-soft).
constexpr int kLargePipe = 256 << 10;
constexpr std::size_t kLargePipeTasks = 64;

Pipe make_pipe(bool large) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("making a pipe for a task");
    if (large) ::fcntl(fds[0], F_SETPIPE_SZ, kLargePipe);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Search path if there is no PATH, as in execvp.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

std::string_view path_of(const std::vector<std::string>& environment) {
    constexpr std::string_view kName = "PATH";
    for (const std::string& entry : environment)
        if (entry.size() > kName.size() && entry[kName.size()] == '=' &&
            entry.compare(0, kName.size(), kName) == 0)
            return std::string_view(entry).substr(kName.size() + 1);
    return kDefaultPath;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> list;
    list.reserve(strings.size() + 1);
    for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

struct LoadedCommand {
    ProgramPath program;
    std::string directory;  // its own directory; empty: the job's
    std::vector<char*> argv;
};

// Commands that no task of the node runs stay empty.
std::vector<LoadedCommand> load_commands(const JobSpec& job, NodeIndex node) {
    std::vector<LoadedCommand> commands(job.commands.size());
    for (const TaskSpec& task : job.tasks) {
        LoadedCommand& command = commands[task.command];
        if (task.node != node || !command.argv.empty()) continue;
        command.argv = pointers(job.commands[task.command]);
        const CommandPlace place = job.places.empty() ? CommandPlace() : job.places[task.command];
        command.directory = place.directory;
        if (!place.directory.empty() && ::access(place.directory.c_str(), X_OK) != 0) {
            command.program.trouble = "its working directory " + place.directory +
                                      " cannot be entered: " + std::strerror(errno);
            continue;
        }
        command.program = find_program(
            job.commands[task.command][0],
            (place.path.empty() ? "" : place.path + ":").append(path_of(job.environment)),
            place.directory.empty() ? job.directory : place.directory);
    }
    return commands;
}

// An error of a command applies to all tasks of the node that run it.
void add_failures(const JobSpec& job, NodeIndex node, std::uint32_t command, const std::string& why,
                  std::vector<LaunchFailure>& failures) {
    for (TaskId task = 0; task < static_cast<TaskId>(job.tasks.size()); ++task)
        if (job.tasks[task].node == node && job.tasks[task].command == command)
            failures.push_back({task, "cannot run \"" + job.commands[command][0] + "\": " + why});
}

std::vector<LaunchFailure> failures_of(const JobSpec& job, NodeIndex node,
                                       const std::vector<LoadedCommand>& commands) {
    std::vector<LaunchFailure> failures;
    for (std::uint32_t command = 0; command < commands.size(); ++command)
        if (commands[command].program.file.empty())
            add_failures(job, node, command, commands[command].program.trouble, failures);
    return failures;
}

bool reads_stdin(const JobSpec& job, TaskId task) {
    if (job.stdin_is_empty || job.stdin_mode.kind == StdinMode::Kind::kNone) return false;
    return job.stdin_mode.kind == StdinMode::Kind::kAll || job.stdin_mode.task == task;
}

cpu_set_t usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
}

// True if tasks of the job are bound to processors. A job with a single task is not bound, because
// the task may have threads for all processors, unless the user gives their number.
bool binds(const JobSpec& job) {
    return job.bind && (job.tasks.size() > 1 || job.threads > 0);
}

// Adds the variables of OpenMP for the threads of each task (-threads), except those that the user
// has set. A thread of a bound task stays on its core.
void add_thread_variables(const JobSpec& job, bool bound, EnvironmentEntries& entries) {
    const auto add = [&](const std::string& name, const std::string& value) {
        const auto sets = [&](const std::string& entry) { return entry.starts_with(name + "="); };
        const auto is = [&](const auto& entry) { return entry.first == name; };
        if (std::none_of(job.environment.begin(), job.environment.end(), sets) &&
            std::none_of(entries.begin(), entries.end(), is))
            entries.emplace_back(name, value);
    };
    add("OMP_NUM_THREADS", std::to_string(job.threads));
    if (!bound) return;
    add("OMP_PLACES", "cores");
    add("OMP_PROC_BIND", "close");
}

// Returns the processors of each task, by position among the node's tasks. Empty if the tasks may
// use all processors. If tasks of other jobs are bound, only the other cores are shared. If these
// are too few, tasks are not bound, because the kernel then places them better.
std::vector<cpu_set_t> shares_of(const JobSpec& job, NodeIndex node) {
    if (!binds(job)) return {};
    const auto local = std::count_if(job.tasks.begin(), job.tasks.end(),
                                     [node](const TaskSpec& task) { return task.node == node; });
    const cpu_set_t busy = busy_processors(kJobDirectoryParent, job.id, usable_processors());
    const std::vector<Core> cores = free_cores(usable_cores(), busy);
    const auto tasks = static_cast<std::size_t>(local);
    return job.threads > 0 ? thread_shares(cores, tasks, static_cast<std::size_t>(job.threads))
                           : cpu_shares(cores, tasks);
}

// Sets a variable, which then has one entry.
void set_entry(EnvironmentEntries& entries, const std::string& variable, const std::string& value) {
    std::erase_if(entries, [&](const auto& entry) { return entry.first == variable; });
    entries.emplace_back(variable, value);
}

// Puts a path first into a variable that is a list of paths, such as LD_PRELOAD.
void put_first(const std::string& variable, const std::string& path,
               const std::vector<std::string>& environment, EnvironmentEntries& entries) {
    const auto is = [&](const auto& entry) { return entry.first == variable; };
    const auto entry = std::find_if(entries.begin(), entries.end(), is);
    if (entry != entries.end()) {
        entry->second = path + ":" + entry->second;
        return;
    }
    const std::string before = variable + "=";
    const auto set = std::find_if(environment.begin(), environment.end(),
                                  [&](const auto& each) { return each.starts_with(before); });
    const std::string rest = set != environment.end() ? set->substr(before.size()) : "";
    entries.emplace_back(variable, rest.empty() ? path : path + ":" + rest);
}

// `before` is the command line of a helper that later executes this program.
pid_t spawn_program(SpawnRequest request, const LoadedCommand& command,
                    const std::vector<std::string>& before) {
    if (!before.empty()) {
        std::vector<char*> argv = pointers(before);
        argv.back() = const_cast<char*>(command.program.file.c_str());
        argv.insert(argv.end(), command.argv.begin(), command.argv.end());
        request.path = before.front().c_str();
        request.argv = argv.data();
        return spawn(request);
    }
    request.path = command.program.file.c_str();
    request.argv = command.argv.data();
    const pid_t pid = spawn(request);
    if (pid != -ENOEXEC || !is_shell_text(command.program.file)) return pid;
    // A script without a "#!" line runs under /bin/sh, as in execvp and every shell.
    std::vector<char*> argv{const_cast<char*>("/bin/sh"),
                            const_cast<char*>(command.program.file.c_str())};
    argv.insert(argv.end(), command.argv.begin() + 1, command.argv.end());
    request.path = "/bin/sh";
    request.argv = argv.data();
    return spawn(request);
}

// The start of one node's tasks by several threads. A thread that starts a process waits until the
// process has left the daemon's memory; meanwhile another thread can start the next process (128
// tasks: a sixth less time on two cores). Data of the daemon is accessed only under the lock.
class Round {
  public:
    Round(const TaskLauncher& starter, const std::vector<LoadedCommand>& commands)
        : starter_(starter),
          commands_(commands),
          processors_lock_(binds(starter.job) ? lock_processors(kJobDirectoryParent) : UniqueFd()),
          shares_(shares_of(starter.job, starter.node)) {
        const auto tasks = static_cast<TaskId>(starter.job.tasks.size());
        for (TaskId task = 0; task < tasks; ++task)
            if (starter.job.tasks[task].node == starter.node) tasks_.push_back(task);
    }

    // Rethrows an exception of a thread. All threads have stopped by then.
    void run() {
        const std::size_t most =
            std::min({usable_cores().size(), tasks_.size() / kTasksPerThread, kMostThreads});
        if (most > 1) make_room_for_descriptors();
        for (std::size_t thread = 1; thread < most; ++thread) add_thread();
        work();
        std::unique_lock lock(mutex_);
        stopped_.wait(lock, [this] { return helpers_ == 0; });
        if (trouble_) std::rethrow_exception(trouble_);
    }

    std::vector<StartedTask>& started() { return started_; }
    std::vector<LaunchFailure>& failures() { return failures_; }

  private:
    static constexpr std::size_t kTasksPerThread = 4;
#ifdef __SANITIZE_THREAD__
    // ThreadSanitizer keeps one record of descriptors for this process and for children that share
    // its memory but have their own descriptors. Two threads with such children corrupt it.
    static constexpr std::size_t kMostThreads = 1;
#else
    static constexpr std::size_t kMostThreads = 8;
#endif
    static constexpr std::size_t kDescriptorsPerTask = 8;  // with a reserve

    struct Prepared {
        StartedTask task;
        Pipe in;
        Pipe out;
        Pipe err;
        UniqueFd kept;
        UniqueFd listener;
        std::vector<std::string> environment;
        const cpu_set_t* cpus = nullptr;
    };

    // Enlarges the descriptor table in advance. If a process with threads needs a larger table, it
    // waits each time until all processors have noticed, which takes 10 ms.
    void make_room_for_descriptors() const {
        const auto last = kLowDescriptors + kDescriptorsPerTask * tasks_.size();
        UniqueFd(::fcntl(empty_.get(), F_DUPFD_CLOEXEC, static_cast<int>(last)));
    }

    // The kernel sends the death signal to a task when the thread that created it ends. Therefore
    // these threads never end.
    void add_thread() {
        {
            const std::lock_guard lock(mutex_);
            ++helpers_;
        }
        try {
            std::thread([this] {
                sigset_t all;
                ::sigfillset(&all);
                ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
                work();
                {
                    const std::lock_guard lock(mutex_);
                    --helpers_;
                    stopped_.notify_one();
                }
                while (true) ::pause();
            }).detach();
        } catch (const std::system_error&) {  // no more threads are available: it takes longer
            const std::lock_guard lock(mutex_);
            --helpers_;
        }
    }

    void work() noexcept {
        try {
            while (auto next = prepare()) finish(std::move(*next));
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!trouble_) trouble_ = std::current_exception();
        }
    }

    // Descriptors are created just before they are needed, so that only few of them have low
    // numbers (see spawn.hpp).
    std::optional<Prepared> prepare() {
        const std::lock_guard lock(mutex_);
        if (next_ == tasks_.size() || !failures_.empty() || trouble_) return std::nullopt;
        const JobSpec& job = starter_.job;
        Prepared one;
        if (!shares_.empty()) one.cpus = &shares_[next_];
        const TaskId task = one.task.task = tasks_[next_++];
        if (job.terminal.wanted)
            open_terminal(one);
        else
            open_pipes(one);
        one.kept = starter_.keep_fd_of(task);
        one.listener = starter_.listener_of(task);
        EnvironmentEntries entries = starter_.environment_of(task);
        one.task.bound = one.cpus != nullptr;
        if (job.threads > 0) add_thread_variables(job, one.task.bound, entries);
        const MpiLibraryChoice& library = mpi_library_of(one.task);
        add_preloads(one, library, entries);
        if (!library.preload.empty())
            put_first("LD_PRELOAD", library.preload, job.environment, entries);
        if (!library.folders.empty())
            put_first("LD_LIBRARY_PATH", library.folders, job.environment, entries);
        one.environment = merged_environment(job.environment, entries);
        return one;
    }

    // The choice for the command of this task. The first task of the command gets the attention.
    const MpiLibraryChoice& mpi_library_of(StartedTask& task) {
        const JobSpec& job = starter_.job;
        const std::uint32_t command = job.tasks[static_cast<std::size_t>(task.task)].command;
        if (mpi_libraries_.empty()) mpi_libraries_.resize(commands_.size());
        std::optional<MpiLibraryChoice>& choice = mpi_libraries_[command];
        if (choice) return *choice;
        const std::string& file = commands_[command].program.file;
        choice.emplace();
        if (job.own_mpi_library) choice = choose_mpi_library(file, own_mpi_library_);
        if (job.foreign_on_poe && choice->preload.empty() && choice->attention.empty())
            choice = choose_foreign_library(file, find_foreign_folders(own_directory()));
        task.attention = choice->attention;
        return *choice;
    }

    void open_pipes(Prepared& one) const {
        const JobSpec& job = starter_.job;
        one.out = make_pipe(job.tasks.size() <= kLargePipeTasks);
        one.err = make_pipe(false);
        if (reads_stdin(job, one.task.task)) one.in = make_pipe(false);
    }

    // The three streams of the task are one terminal. The daemon has one descriptor for each
    // direction.
    void open_terminal(Prepared& one) const {
        const JobSpec& job = starter_.job;
        const auto copy = [](const UniqueFd& fd) {
            return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
        };
        TaskTerminal terminal = make_task_terminal(job.terminal, job.stdout_is_terminal);
        one.out = {copy(terminal.master), copy(terminal.slave)};
        one.err.write = copy(terminal.slave);
        if (reads_stdin(job, one.task.task))
            one.in = {std::move(terminal.slave), copy(terminal.master)};
        one.task.terminal = std::move(terminal.master);
    }

    // Preloads the observer of other MPI libraries, and the library that makes output
    // line-buffered.
    void add_preloads(Prepared& one, const MpiLibraryChoice& library, EnvironmentEntries& entries) {
        const JobSpec& job = starter_.job;
        const std::uint32_t command = job.tasks[static_cast<std::size_t>(one.task.task)].command;
        if (programs_.empty()) programs_.resize(commands_.size());
        std::optional<ProgramFile>& program = programs_[command];
        if (!program) {
            program = look_at_program(commands_[command].program.file);
            if (job.observe == Observe::kYes && observer_library_.empty())
                add_attention(one.task,
                              "calls of other MPI libraries are not observed: "
                              "libpoe-observe.so is missing; ./dev build makes it");
        }
        constexpr std::string_view kPreload = "LD_PRELOAD=";
        std::string preload;
        for (const std::string& entry : job.environment)
            if (entry.starts_with(kPreload)) preload = entry.substr(kPreload.size());
        // POE's library itself records the calls of a program that uses it through a foreign
        // interface.
        const bool observe =
            !observer_library_.empty() && program->accepts_preload && library.folders.empty() &&
            (job.observe == Observe::kYes || !program->needs_mpl) &&
            (job.observe == Observe::kYes || !job.own_mpi_library || !program->needs_mpi_abi);
        if (observe) {
            preload = with_preload(preload, observer_library_);
            set_entry(entries, "LD_PRELOAD", preload);
        }
        if (!starter_.sample_slots.empty()) add_sampler(one.task, *program, preload, entries);
        if (job.unbuffered == Unbuffered::kNo || job.terminal.wanted) return;
        struct stat pipe = {};
        ::fstat(one.out.write.get(), &pipe);
        const std::string& unbuffered = program->accepts_preload ? unbuffered_library_ : "";
        for (const auto& [name, value] : line_buffering_variables(
                 job.unbuffered, unbuffered, pipe.st_ino, job.environment, preload))
            set_entry(entries, name, value);
    }

    static void add_attention(StartedTask& task, const std::string& text) {
        if (!task.attention.empty()) task.attention += "\n";
        task.attention += text;
    }

    // Makes the task copy its call stacks, because the kernel allows no perf events.
    void add_sampler(StartedTask& task, const ProgramFile& program, std::string& preload,
                     EnvironmentEntries& entries) const {
        if (!program.accepts_preload) {
            add_attention(task,
                          "the program of task " + std::to_string(task.task) +
                              " is not sampled: the kernel allows no perf events, and a timer "
                              "signal is not possible in a program that is static or has a "
                              "sanitizer (man pmd-sample)");
            return;
        }
        if (sample_library_.empty()) return;
        preload = with_preload(preload, sample_library_);
        set_entry(entries, "LD_PRELOAD", preload);
        for (const auto& [name, value] : sample_variables(starter_.sample_slots, task.task))
            set_entry(entries, name, value);
    }

    void finish(Prepared one) {
        const JobSpec& job = starter_.job;
        const TaskId task = one.task.task;
        const std::uint32_t command = job.tasks[task].command;
        const std::vector<char*> envp = pointers(one.environment);
        SpawnRequest request;
        request.envp = envp.data();
        request.stdin_fd = one.in.read ? one.in.read.get() : empty_.get();
        request.stdout_fd = one.out.write.get();
        request.stderr_fd = one.err.write.get();
        request.keep_fd[0] = one.kept.get();
        request.keep_fd[1] = one.listener.get();
        request.death_signal = SIGKILL;
        request.signal_mask = &starter_.heritage.blocked;
        request.ignored_signals = &starter_.heritage.ignored;
        request.open_files = starter_.open_files;
        request.cpus = one.cpus;
        request.new_session = request.take_terminal = job.terminal.wanted;
        request.hold = job.hold_tasks;
        request.traceable = true;
        one.task.processors =
            one.cpus != nullptr ? processors_in_words(*one.cpus) : all_processors_;
        if (!commands_[command].directory.empty())
            request.directory = commands_[command].directory.c_str();
        one.task.pid = spawn_program(
            request, commands_[command],
            job.hold_tasks ? std::vector<std::string>()
                           : stack_keeper(job.core, public_number(job, task), keeper_));

        const std::lock_guard lock(mutex_);
        if (one.task.pid < 0) {
            if (failures_.empty())
                add_failures(job, starter_.node, command,
                             explain_exec_failure(commands_[command].program.file, -one.task.pid),
                             failures_);
            return;
        }
        one.task.stdin_pipe = move_up(std::move(one.in.write));
        one.task.stdout_pipe = move_up(std::move(one.out.read));
        if (one.err.read) one.task.stderr_pipe = move_up(std::move(one.err.read));
        if (one.task.terminal) one.task.terminal = move_up(std::move(one.task.terminal));
        started_.push_back(std::move(one.task));
    }

    const TaskLauncher& starter_;
    const std::vector<LoadedCommand>& commands_;
    const UniqueFd processors_lock_;  // held until all tasks are bound
    const std::vector<cpu_set_t> shares_;
    const std::string all_processors_ = processors_in_words(usable_processors());
    const std::string keeper_ =
        starter_.job.core.format.empty() ? "" : find_pmd_sibling("pmd-core");
    const UniqueFd empty_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const std::string unbuffered_library_ =
        starter_.job.unbuffered == Unbuffered::kNo
            ? ""
            : find_preload(own_directory(), "libpoe-unbuffered.so");
    const std::string observer_library_ = starter_.job.observe == Observe::kNo
                                              ? ""
                                              : find_preload(own_directory(), "libpoe-observe.so");
    const std::string sample_library_ =
        starter_.sample_slots.empty() ? "" : find_preload(own_directory(), "libpoe-sample.so");
    const std::string own_mpi_library_ =
        starter_.job.own_mpi_library ? find_mpi_library(own_directory()) : "";
    // By command; protected by the lock.
    std::vector<std::optional<ProgramFile>> programs_;
    std::vector<std::optional<MpiLibraryChoice>> mpi_libraries_;
    std::vector<TaskId> tasks_;

    std::mutex mutex_;  // protects everything below
    std::condition_variable stopped_;
    std::size_t helpers_ = 0;
    std::size_t next_ = 0;
    std::vector<StartedTask> started_;
    std::vector<LaunchFailure> failures_;
    std::exception_ptr trouble_;
};

}  // namespace

std::vector<std::string> merged_environment(const std::vector<std::string>& base,
                                            const EnvironmentEntries& extra) {
    std::unordered_set<std::string_view> names;
    for (const auto& [name, value] : extra) names.insert(name);
    std::vector<std::string> merged;
    merged.reserve(base.size() + extra.size());
    for (const std::string& entry : base)
        if (!names.contains(std::string_view(entry).substr(0, entry.find('='))))
            merged.push_back(entry);
    for (const auto& [name, value] : extra) merged.push_back(name + "=" + value);
    return merged;
}

std::vector<LaunchFailure> TaskLauncher::start(std::vector<StartedTask>& started) const {
    const std::vector<LoadedCommand> commands = load_commands(job, node);
    std::vector<LaunchFailure> failures = failures_of(job, node, commands);
    if (!failures.empty()) return failures;
    Round round(*this, commands);
    round.run();
    started = std::move(round.started());
    std::sort(started.begin(), started.end(),
              [](const StartedTask& a, const StartedTask& b) { return a.task < b.task; });
    return std::move(round.failures());
}

std::vector<LaunchFailure> missing_programs(const JobSpec& job, NodeIndex node) {
    return failures_of(job, node, load_commands(job, node));
}

std::optional<rlimit> raise_open_files_limit() {
    rlimit before = {};
    ::getrlimit(RLIMIT_NOFILE, &before);
    if (before.rlim_cur == before.rlim_max) return std::nullopt;
    rlimit raised = before;
    raised.rlim_cur = raised.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &raised);
    return before;
}

std::string open_files_trouble(std::size_t tasks, std::size_t descriptors_per_task) {
    constexpr std::size_t kOwn = 32;
    rlimit limit = {};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t needed = kOwn + tasks * descriptors_per_task;
    if (limit.rlim_cur == RLIM_INFINITY || needed <= limit.rlim_cur) return "";
    return std::to_string(tasks) + " tasks need " + std::to_string(needed) +
           " open files on this node, but the limit is " + std::to_string(limit.rlim_cur) +
           "; raise the hard limit (`ulimit -Hn`) or start fewer tasks";
}

}  // namespace poe::pm
