// From TaskSpec to process; see task_start.hpp.
#include "partition_manager/task_start.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <unordered_set>

#include "comm/base/error.hpp"
#include "partition_manager/core_files.hpp"
#include "partition_manager/cpu_shares.hpp"
#include "partition_manager/local_launcher.hpp"
#include "partition_manager/program_path.hpp"

namespace poe::pm {

namespace {

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

// A larger pipe lets a task that writes much run on while the daemon reads; the system's limit for
// the sum of all pipes of a user (fs.pipe-user-pages-soft) is why only small jobs get one.
constexpr int kLargePipe = 256 << 10;
constexpr std::size_t kLargePipeTasks = 64;

Pipe make_pipe(bool large) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("making a pipe for a task");
    if (large) ::fcntl(fds[0], F_SETPIPE_SZ, kLargePipe);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Where programs are looked for when there is no PATH, as execvp does.
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
    std::vector<char*> argv;
};

// Those that no task of the node runs stay empty.
std::vector<LoadedCommand> load_commands(const JobSpec& job, NodeIndex node) {
    std::vector<LoadedCommand> commands(job.commands.size());
    for (const TaskSpec& task : job.tasks) {
        LoadedCommand& command = commands[task.command];
        if (task.node != node || !command.argv.empty()) continue;
        command.program =
            find_program(job.commands[task.command][0], path_of(job.environment), job.directory);
        command.argv = pointers(job.commands[task.command]);
    }
    return commands;
}

// What is wrong with a command is wrong for all tasks of the node that run it.
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

// By position among the node's tasks; empty when they may use all processors. A single task may
// have threads for all of them.
std::vector<cpu_set_t> shares_of(const JobSpec& job, NodeIndex node) {
    if (!job.bind || job.tasks.size() < 2) return {};
    const auto local = std::count_if(job.tasks.begin(), job.tasks.end(),
                                     [node](const TaskSpec& task) { return task.node == node; });
    return cpu_shares(usable_cores(), static_cast<std::size_t>(local));
}

// `before`: the words of a program that is to become this one.
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
    // A script without its first line: what execvp and every shell do.
    std::vector<char*> argv{const_cast<char*>("/bin/sh"),
                            const_cast<char*>(command.program.file.c_str())};
    argv.insert(argv.end(), command.argv.begin() + 1, command.argv.end());
    request.path = "/bin/sh";
    request.argv = argv.data();
    return spawn(request);
}

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

std::vector<LaunchFailure> TaskStarter::start(std::vector<StartedTask>& started) const {
    const std::vector<LoadedCommand> commands = load_commands(job, node);
    std::vector<LaunchFailure> failures = failures_of(job, node, commands);
    if (!failures.empty()) return failures;

    const std::string keeper = job.core.format.empty() ? "" : find_pmd_sibling("pmd-core");
    const UniqueFd empty(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const bool large = job.tasks.size() <= kLargePipeTasks;
    const std::vector<cpu_set_t> shares = shares_of(job, node);
    for (TaskId task = 0; task < static_cast<TaskId>(job.tasks.size()); ++task) {
        if (job.tasks[task].node != node) continue;
        StartedTask one;
        one.task = task;
        Pipe out = make_pipe(large);
        Pipe err = make_pipe(false);
        Pipe in;
        if (reads_stdin(job, task)) in = make_pipe(false);
        const UniqueFd kept = keep_fd_of(task);
        const UniqueFd listener = listener_of(task);
        const std::vector<std::string> environment =
            merged_environment(job.environment, environment_of(task));
        const std::vector<char*> envp = pointers(environment);
        SpawnRequest request;
        request.envp = envp.data();
        request.stdin_fd = in.read ? in.read.get() : empty.get();
        request.stdout_fd = out.write.get();
        request.stderr_fd = err.write.get();
        request.keep_fd[0] = kept.get();
        request.keep_fd[1] = listener.get();
        request.death_signal = SIGKILL;
        request.signal_mask = &heritage.blocked;
        request.ignored_signals = &heritage.ignored;
        request.open_files = open_files;
        if (!shares.empty()) request.cpus = &shares[started.size()];
        one.pid = spawn_program(request, commands[job.tasks[task].command],
                                stack_keeper(job.core, task, keeper));
        if (one.pid < 0) {
            const std::uint32_t command = job.tasks[task].command;
            add_failures(job, node, command,
                         explain_exec_failure(commands[command].program.file, -one.pid), failures);
            return failures;
        }
        one.stdin_pipe = move_up(std::move(in.write));
        one.stdout_pipe = move_up(std::move(out.read));
        one.stderr_pipe = move_up(std::move(err.read));
        started.push_back(std::move(one));
    }
    return failures;
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
