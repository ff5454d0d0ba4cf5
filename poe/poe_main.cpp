// poe: runs a parallel job. Connects the rooms: options, host file, programs, partition, report.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <climits>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/home_address.hpp"
#include "partition_manager/job/host_file.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/launch/spawn.hpp"
#include "partition_manager/stdio/input_source.hpp"
#include "poe/debugger_interface.hpp"
#include "poe/diagnostics.hpp"
#include "poe/help.hpp"
#include "poe/job.hpp"
#include "poe/live_panel.hpp"
#include "poe/nodes.hpp"
#include "poe/options.hpp"
#include "poe/program_prompt.hpp"
#include "poe/raw_terminal.hpp"
#include "poe/read_options.hpp"
#include "poe/report.hpp"
#include "poe/trace_command.hpp"
#include "poe/trace_job.hpp"
#include "poe/tuning_file.hpp"

extern char** environ;

namespace {

using namespace poe;
using namespace poe::cli;

constexpr int kOwnError = 1;

// True if a line can be written without blocking.
bool takes_more(int fd) {
    pollfd wait{fd, POLLOUT, 0};
    return ::poll(&wait, 1, 0) == 1 && (wait.revents & POLLOUT) != 0;
}

// Opens closed standard descriptors, so that files opened later do not get their numbers. A closed
// standard output is opened for reading only, so that writing to it is an error.
void hold_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) < 0)
            ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

std::string own_path() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::string temporary_directory() {
    const char* said = std::getenv("TMPDIR");
    return said != nullptr && *said != '\0' ? said : "/tmp";
}

std::string own_host() {
    char name[HOST_NAME_MAX + 1] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

HostContext read_host_context() {
    HostContext surroundings;
    for (char** entry = environ; *entry != nullptr; ++entry)
        surroundings.environment.emplace_back(*entry);
    std::erase_if(surroundings.environment,
                  [](const std::string& entry) { return entry.starts_with("MP_TUNING="); });
    std::string tuning = tuning_entry(surroundings.environment, own_host());
    if (!tuning.empty()) surroundings.environment.push_back(std::move(tuning));
    char path[PATH_MAX];
    if (::getcwd(path, sizeof path) == nullptr)
        throw_errno("cannot find out the current directory (was it removed?)");
    surroundings.directory = path;
    surroundings.temporary = temporary_directory();
    surroundings.stdin_is_empty = pm::InputSource::is_empty(STDIN_FILENO);
    surroundings.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    if (const auto size = terminal_size()) surroundings.terminal = *size;
    surroundings.pid = ::getpid();
    surroundings.now = std::chrono::system_clock::now();
    surroundings.umask = ::umask(0);
    ::umask(surroundings.umask);
    for (const int resource : {RLIMIT_CORE, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_STACK,
                               RLIMIT_AS, RLIMIT_NOFILE}) {
        rlimit limit = {};
        if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0)
            surroundings.limits.push_back({resource, limit.rlim_cur});
    }
    surroundings.address_towards = pm::address_towards;
    return surroundings;
}

// Returns a function that overwrites one line with the progress of a launch.
std::function<void(const std::string&)> progress_line() {
    if (::isatty(STDERR_FILENO) != 1) return nullptr;
    return [shown = false](const std::string& text) mutable {
        if (text.empty() && !shown) return;
        shown = !text.empty();
        const std::string line = "\r\033[K" + visible(text);
        [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
    };
}

pm::PartitionOptions partition_options(const Options& options, const Paths& paths,
                                       const Diagnostics& diagnostics) {
    pm::PartitionOptions result;
    result.output.labels = options.labelio;
    result.output.label_format = options.label_format;
    result.output.outfile = options.outfile;
    result.output.errfile = options.errfile;
    result.hold_stdin = options.hold_stdin;
    result.timeout = options.timeout;
    result.maxtime = options.maxtime;
    result.interrupt_grace = options.interrupt_grace;
    result.terminal_size = terminal_size;
    result.pmd = paths.pmd;
    result.on_progress = progress_line();
    result.make_key = make_job_key;
    result.output.temporary_directory = temporary_directory();
    result.on_attention = [&diagnostics](const std::string& text) {
        diagnostics.attention(kAttention, text);
    };
    result.on_info = [&diagnostics](const std::string& text) {
        diagnostics.info(kExecuting, text);
    };
    if (options.infolevel < 1) return result;
    result.on_deadlock = [&diagnostics](const pm::WaitFindings& findings) {
        diagnostics.attention(kDeadlock, findings.headline() + "; the job goes on");
        for (const std::string& line : findings.lines) diagnostics.detail("       " + line);
    };
    return result;
}

constexpr std::string_view kStandardOutput = "-";

// Returns false if the report could not be written; the error is reported.
bool write_report(const std::string& file, const std::string& json,
                  const Diagnostics& diagnostics) {
    bool written = false;
    if (file == kStandardOutput) {
        written = static_cast<bool>(std::cout << json << std::flush);
    } else {
        std::ofstream out(file, std::ios::binary | std::ios::trunc);
        out << json;
        out.close();
        written = static_cast<bool>(out);
    }
    if (!written)
        diagnostics.error(kOutputLost, "cannot write the report to " +
                                           (file == kStandardOutput ? "standard output" : file) +
                                           ": " + std::strerror(errno));
    return written;
}

// The processors that each task may use.
std::vector<std::string> binding_of(const std::vector<pm::TaskProcess>& processes) {
    std::vector<std::string> binding;
    binding.reserve(processes.size());
    for (const pm::TaskProcess& process : processes) binding.push_back(process.processors);
    return binding;
}

// Checks before the job runs that its report can be written. The file is not opened, because the
// reader of a pipe would take the close for the report's end.
void check_report(const std::string& file) {
    if (file == kStandardOutput) return;
    const std::filesystem::path path(file);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code none;
    errno = std::filesystem::is_directory(path, none) ? EISDIR : 0;
    if (errno == 0 && ::access(file.c_str(), W_OK) == 0) return;
    if (errno == ENOENT && ::access(folder.c_str(), W_OK) == 0) return;
    throw Error("cannot write the report to " + file, errno);
}

struct Run {
    Options& options;
    const Diagnostics& diagnostics;
    pm::TaskMap& map;
    const HostContext& surroundings;
    const Paths& paths;
    const pm::InheritedSignals& heritage;
    int debugger;  // the connection to pdbx; -1: none
};

// Takes other nodes of the pools in place of those that other jobs do not leave to this one.
// Returns false if there are not enough others.
bool take_other_nodes(const Run& run, const std::vector<NodeIndex>& busy) {
    if (run.map.pool_of_task.empty()) return false;
    std::string names;
    for (const NodeIndex node : busy) {
        run.options.avoided_nodes.push_back(run.map.nodes[static_cast<std::size_t>(node)]);
        names += (names.empty() ? "" : ", ") + run.options.avoided_nodes.back();
    }
    auto map = find_nodes(
        run.options, [](const char* name) { return std::getenv(name); }, run.diagnostics);
    if (!map || map.value().nodes == run.map.nodes) return false;
    run.map = std::move(map.value());
    run.diagnostics.attention(kAttention,
                              "other jobs use " + names + "; trying other nodes of the pool");
    return true;
}

// Runs one job step from start to report and returns its status. Returns nothing if the step must
// be run again, after a pause if `pause` is set: a node could not be reached, or was not free.
std::optional<int> run_once(const Run& run, const JobStep& step, int number, bool may_retry,
                            bool& dropped, bool& pause) {
    pm::JobSpec job = make_job(run.options, run.map, step, run.surroundings, run.paths, number);
    job.hold_tasks = run.debugger >= 0;
    if (debugger_holds_tasks()) job.environment.emplace_back("MP_DEBUG_GATE=yes");
    run.diagnostics.info(kExecuting, "executing " + job.commands[0][0] + " as job " + job.id);
    pm::PartitionOptions partition_settings =
        partition_options(run.options, run.paths, run.diagnostics);
    partition_settings.debugger = run.debugger;
    std::unique_ptr<markers::Panel> panel = make_panel(run.options, job.id, job.tasks.size());
    partition_settings.trace_path =
        trace_path(run.options, job.commands.front().front(), run.surroundings.directory, number);
    partition_settings.merge_trace = [](const pm::TraceGathering& gathered,
                                        const std::string& path) {
        return merge_words(gathered, path, {});
    };
    partition_settings.output.protect_terminals = panel != nullptr;
    std::optional<RawTerminal> raw;
    if (run.options.pty) raw.emplace();
    partition_settings.on_stopping = [&panel, &raw](bool stopping) {
        if (raw) stopping ? raw->leave() : raw->come_back();
        if (panel != nullptr) stopping ? panel->leave() : panel->come_back();
    };
    partition_settings.on_processes = [&run](const pm::JobSpec& started,
                                             const std::vector<pm::TaskProcess>& processes) {
        if (run.options.report_binding || run.options.infolevel >= 2)
            for (const std::string& line : binding_lines(run.map, binding_of(processes)))
                run.diagnostics.detail(line);
        tell_debuggers(started, processes);
    };
    pm::Partition partition(job, std::move(partition_settings), run.heritage, environ);
    const pm::Outcome outcome = partition.run();
    raw.reset();
    panel.reset();
    if (partition.trace() != nullptr)
        finish_trace(*partition.trace(), partition.trace_path(), run.diagnostics);
    pause = true;
    if (!outcome.busy.empty() && take_other_nodes(run, outcome.busy)) {
        pause = false;
        return std::nullopt;
    }
    if ((outcome.unreached || !outcome.busy.empty()) && may_retry) {
        run.options.avoided_nodes.clear();
        run.diagnostics.attention(kAttention, outcome.text + "; trying again (-retry)");
        return std::nullopt;
    }
    if (outcome.cause == pm::Cause::kInterrupted && ::isatty(STDERR_FILENO) == 1)
        run.diagnostics.detail("");  // starts a new line after the ^C on the terminal
    for (const ReportLine& line :
         report_lines(partition.job(), outcome, partition.stderr_tails())) {
        if (partition.output_abandoned() && !takes_more(STDERR_FILENO)) break;
        if (line.is_error)
            run.diagnostics.error(line.number, line.text);
        else
            run.diagnostics.detail(line.text);
    }
    int status = outcome.status;
    if (!run.options.report.empty() &&
        !write_report(run.options.report,
                      report_json(partition.job(), outcome, partition.stderr_tails(),
                                  binding_of(partition.processes())),
                      run.diagnostics) &&
        status == 0)
        status = kOwnError;
    if (partition.output_abandoned()) ::_exit(status);
    dropped = outcome.cause != pm::Cause::kNone && outcome.cause != pm::Cause::kOrderly;
    return status;
}

int run_step(const Run& run, const JobStep& step, int number, bool& dropped) {
    const Options& options = run.options;
    int left = options.retry_until_ready   ? std::numeric_limits<int>::max()
               : options.retry.count() > 0 ? options.retry_count
                                           : 0;
    while (true) {
        bool pause = false;
        if (const auto status = run_once(run, step, number, left > 0, dropped, pause))
            return *status;
        if (!pause) continue;
        --left;
        std::this_thread::sleep_for(std::max(options.retry, std::chrono::seconds(1)));
    }
}

int run_all_steps(const Run& run, ProgramPrompt& prompt) {
    int status = 0;
    for (int number = 0;; ++number) {
        Result<std::optional<JobStep>> step = prompt.next();
        for (const Notice& notice : prompt.take_notices())
            run.diagnostics.attention(notice.number, notice.text);
        if (!step) {
            run.diagnostics.error(step.error());
            return kOwnError;
        }
        if (!step.value()) return status;
        if (run.options.dry_run) {
            std::cout << pm::dry_run_text(run.map, step.value()->commands,
                                          step.value()->command_of_task)
                      << std::flush;
            continue;
        }
        bool dropped = false;
        status = std::max(status, run_step(run, *step.value(), number, dropped));
        if (dropped) return status;
    }
}

// Executes the resource manager's command in place of this process. Returns only by an exception.
[[noreturn]] void become(const Handover& handover) {
    if (!handover.input.empty()) {
        const int file = ::memfd_create("poe-batch", 0);
        if (file < 0 || ::write(file, handover.input.data(), handover.input.size()) < 0 ||
            ::lseek(file, 0, SEEK_SET) != 0 || ::dup2(file, STDIN_FILENO) < 0)
            throw_errno("cannot hand the job's script to the resource manager");
    }
    pm::Command words = handover.command;
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pm::make_writes_kill();
    ::execvp(argv[0], argv.data());
    throw Error("cannot run " + words[0] + ", the resource manager's command (is Slurm installed?)",
                errno);
}

int run_job(Options options, const std::vector<std::string>& arguments,
            const Diagnostics& diagnostics, const pm::InheritedSignals& heritage) {
    const pm::GetVariable variable = [](const char* name) { return std::getenv(name); };
    const auto handover = hand_over(options, variable, own_path(), arguments);
    if (!handover) {
        diagnostics.error(handover.error());
        return kOwnError;
    }
    if (handover.value()) become(*handover.value());
    auto map = find_nodes(options, variable, diagnostics);
    if (!map) {
        diagnostics.error(map.error());
        return kOwnError;
    }
    if (!options.save_host_file.empty()) pm::save_host_file(map.value(), options.save_host_file);
    std::optional<pm::CommandsFile> commands;
    // If there is a program and only one step, the commands file is not needed.
    if (!options.commands_file.empty() && (options.program.empty() || options.newjob)) {
        auto loaded = pm::load_commands_file(options.commands_file);
        if (!loaded) {
            diagnostics.error(loaded.error());
            return kOwnError;
        }
        commands = std::move(loaded.value());
    }
    ProgramPrompt prompt(options, map.value(), std::move(commands), ::isatty(STDIN_FILENO) == 1,
                         lines_of(STDIN_FILENO),
                         [](std::string_view text) { std::cout << text << std::flush; });
    const int debugger = take_debugger_connection();
    HostContext surroundings = read_host_context();
    // The user of pdbx sees what the tasks write, like the user of a terminal.
    std::erase_if(surroundings.environment,
                  [](const std::string& entry) { return entry.starts_with("MP_PLANTEXT="); });
    if (!options.plan.empty()) surroundings.environment.push_back(plan_entry(options.plan));
    if (debugger >= 0) surroundings.stdout_is_terminal = true;
    for (const std::string& name : unset_exports(options, surroundings.environment))
        diagnostics.attention(kAttention, "-x " + name +
                                              " has no effect: the variable is not set here; "
                                              "-x " +
                                              name + "=VALUE sets it");
    if (!options.report.empty() && !options.dry_run) check_report(options.report);
    const Paths paths = options.dry_run ? Paths{} : find_paths(options, map.value());
    return run_all_steps(
        {options, diagnostics, map.value(), surroundings, paths, heritage, debugger}, prompt);
}

int trace_command(const std::vector<std::string>& arguments) {
    try {
        const HostContext surroundings = read_host_context();
        return run_trace_command(arguments, mp_variables(environ), surroundings.directory,
                                 surroundings.temporary);
    } catch (const std::exception& error) {
        Diagnostics(1).error(kFatal, error.what());
        return kOwnError;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const pm::InheritedSignals heritage = pm::InheritedSignals::capture();
    pm::make_writes_fail();
    hold_standard_descriptors();
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (is_trace_command(arguments)) return trace_command(arguments);
    const Result<Options> options = read_options(arguments, mp_variables(environ));
    if (!options) {
        Diagnostics(1).error(options.error());
        return kOwnError;
    }
    if (options.value().request == Request::kHelp) {
        const std::size_t width = terminal_columns(STDOUT_FILENO);
        const std::size_t columns = width > 0 ? width : kUsualColumns;
        std::cout << (options.value().all_help ? help_text(columns) : short_help_text(columns));
        return std::cout.flush() ? 0 : kOwnError;
    }
    if (options.value().request == Request::kVersion) {
        std::cout << version_text(POE_VERSION);
        return std::cout.flush() ? 0 : kOwnError;
    }
    const Diagnostics diagnostics(options.value().infolevel);
    for (const Notice& notice : options.value().notices) {
        if (notice.severity == Notice::Severity::kAttention)
            diagnostics.attention(notice.number, notice.text);
        else
            diagnostics.info(notice.number, notice.text);
    }
    try {
        if (options.value().debug_failure && !options.value().dry_run) run_under_pdbx(arguments);
        return run_job(options.value(), arguments, diagnostics, heritage);
    } catch (const std::exception& error) {
        diagnostics.error(kFatal, error.what());
        return kOwnError;
    }
}
