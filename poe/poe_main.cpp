// poe: runs a parallel job. Wires together what the rooms provide: options, host file, programs,
// partition, report.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include <climits>

#include "comm/base/error.hpp"
#include "partition_manager/commands_file.hpp"
#include "partition_manager/host_file.hpp"
#include "partition_manager/input_source.hpp"
#include "partition_manager/local_names.hpp"
#include "poe/diagnostics.hpp"
#include "poe/help.hpp"
#include "poe/job.hpp"
#include "poe/live_panel.hpp"
#include "poe/options.hpp"
#include "poe/program_prompt.hpp"
#include "poe/report.hpp"

extern char** environ;

namespace {

using namespace poe;
using namespace poe::cli;

constexpr int kOwnError = 1;

// Whoever started us may have closed the standard descriptors; what we open must not become one.
void hold_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

Surroundings look_around() {
    Surroundings surroundings;
    for (char** entry = environ; *entry != nullptr; ++entry)
        surroundings.environment.emplace_back(*entry);
    char path[PATH_MAX];
    if (::getcwd(path, sizeof path) == nullptr)
        throw_errno("cannot find out the current directory (was it removed?)");
    surroundings.directory = path;
    surroundings.stdin_is_empty = pm::InputSource::is_empty(STDIN_FILENO);
    surroundings.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    surroundings.pid = ::getpid();
    surroundings.now = std::chrono::system_clock::now();
    return surroundings;
}

pm::PartitionOptions partition_options(const Options& options, const Diagnostics& diagnostics) {
    pm::PartitionOptions result;
    result.labels = options.labelio;
    result.hold_stdin = options.hold_stdin;
    result.timeout = options.timeout;
    result.pulse = options.pulse;
    result.maxtime = options.maxtime;
    result.pmd = pm::find_pmd(options.pmd, std::getenv("PATH"));
    const char* temporary = std::getenv("TMPDIR");
    result.temporary_directory = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
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

void write_report(const std::string& file, const std::string& json,
                  const Diagnostics& diagnostics) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << json;
    out.close();
    if (!out)
        diagnostics.error(kOutputLost,
                          "cannot write the report to " + file + ": " + std::strerror(errno));
}

// Before a job runs for hours: is there a place for its report? Without opening it: a reader of a
// pipe would take the closing for the report's end.
void check_report(const std::string& file) {
    const std::filesystem::path path(file);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code none;
    errno = std::filesystem::is_directory(path, none) ? EISDIR : 0;
    if (errno == 0 && ::access(file.c_str(), W_OK) == 0) return;
    if (errno == ENOENT && ::access(folder.c_str(), W_OK) == 0) return;
    throw Error("cannot write the report to " + file, errno);
}

struct Run {
    const Options& options;
    const Diagnostics& diagnostics;
    const pm::TaskMap& map;
    const Surroundings& surroundings;
    const pm::SignalHeritage& heritage;
};

// One job step from start to report; returns its status.
int run_step(const Run& run, const JobStep& step, int number, bool& dropped) {
    const pm::JobSpec job = make_job(run.options, run.map, step, run.surroundings, number);
    run.diagnostics.info(kExecuting, "executing " + job.commands[0][0] + " as job " + job.id);
    pm::PartitionOptions partition_settings = partition_options(run.options, run.diagnostics);
    std::unique_ptr<markers::Panel> panel = make_panel(run.options, job.id, job.tasks.size());
    partition_settings.on_stopping = [&panel](bool stopping) {
        if (panel != nullptr) stopping ? panel->leave() : panel->come_back();
    };
    pm::Partition partition(job, std::move(partition_settings), run.heritage, environ);
    const pm::Outcome outcome = partition.run();
    panel.reset();
    if (outcome.cause == pm::Cause::kInterrupted && ::isatty(STDERR_FILENO) == 1)
        run.diagnostics.detail("");  // behind the ^C that the terminal has shown
    for (const ReportLine& line : report_lines(job, outcome, partition.stderr_tails())) {
        if (line.is_error)
            run.diagnostics.error(line.number, line.text);
        else
            run.diagnostics.detail(line.text);
    }
    if (!run.options.report.empty())
        write_report(run.options.report, report_json(job, outcome, partition.stderr_tails()),
                     run.diagnostics);
    if (partition.output_abandoned()) ::_exit(outcome.status);
    dropped = outcome.cause != pm::Cause::kNone && outcome.cause != pm::Cause::kOrderly;
    return outcome.status;
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

int run_job(const Options& options, const Diagnostics& diagnostics,
            const pm::SignalHeritage& heritage) {
    auto host_file = pm::load_host_file(options.host_file_use, options.host_file);
    if (!host_file) {
        diagnostics.error(host_file.error());
        return kOwnError;
    }
    auto map = pm::make_task_map(options.procs, host_file.value(), pm::local_host_name(),
                                 pm::local_name_test());
    if (!map) {
        diagnostics.error(map.error());
        return kOwnError;
    }
    if (!options.save_host_file.empty()) pm::save_host_file(map.value(), options.save_host_file);
    std::optional<pm::CommandsFile> commands;
    // With a program and one step, nothing is read from it.
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
    const Surroundings surroundings = look_around();
    if (!options.report.empty() && !options.dry_run) check_report(options.report);
    return run_all_steps({options, diagnostics, map.value(), surroundings, heritage}, prompt);
}

}  // namespace

int main(int argc, char** argv) {
    const pm::SignalHeritage heritage = pm::SignalHeritage::capture();
    ::signal(SIGPIPE, SIG_IGN);
    hold_standard_descriptors();
    const Result<Options> options =
        read_options({argv + std::min(argc, 1), argv + argc}, mp_variables(environ));
    if (!options) {
        Diagnostics(1).error(options.error());
        return kOwnError;
    }
    if (options.value().request == Request::kHelp) {
        std::cout << help_text();
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
        return run_job(options.value(), diagnostics, heritage);
    } catch (const std::exception& error) {
        diagnostics.error(kFatal, error.what());
        return kOwnError;
    }
}
