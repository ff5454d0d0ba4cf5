// poestat: shows running jobs, the activity of their tasks, and deadlocks. Connects the scan of job
// directories, the wait graph and the texts.
#include <algorithm>
#include <iostream>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fold.hpp"
#include "partition_manager/job/commands_file.hpp"
#include "partition_manager/job/host_file.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/job/pools.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/remote_launcher.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/status/status_socket.hpp"
#include "poe/diagnostics.hpp"
#include "poe/node_query.hpp"
#include "poe/poestat_options.hpp"
#include "poe/poestat_text.hpp"

namespace {

using namespace poe;
using namespace poe::cli;
using namespace std::chrono_literals;

constexpr int kDeadlockStatus = 1;
constexpr int kErrorStatus = 2;
constexpr const char* kDefaultRemoteShell = "ssh -xT -o BatchMode=yes";

// Tasks must not have moved for kPatience; they are checked again every kLookAgain.
constexpr std::chrono::milliseconds kPatience = 1s;
constexpr std::chrono::milliseconds kLookAgain = 50ms;

// Returns the tasks of this node and, if the job's poe is here and answers, those of the other
// nodes. Removes the returned tasks from job.tasks_elsewhere.
std::vector<pm::TaskView> look_everywhere(pm::RunningJob& job) {
    std::vector<pm::TaskView> views;
    if (!job.segment.empty()) views = pm::look_at_job(job);
    if (job.tasks_elsewhere.empty() || job.poe == 0) return views;
    auto states = pm::ask_poe(job.owner, job.id);
    if (!states) return views;
    for (pm::TaskState& state : *states) {
        const auto node = static_cast<std::size_t>(state.node);
        if (std::erase(job.tasks_elsewhere, state.task) == 0 || node >= job.node_names.size())
            continue;
        views.push_back({std::move(state), job.node_names[node], std::nullopt});
    }
    std::sort(views.begin(), views.end(), [](const pm::TaskView& a, const pm::TaskView& b) {
        return a.state.task < b.state.task;
    });
    return views;
}

std::vector<pm::TaskState> states_of(pm::RunningJob& job) {
    std::vector<pm::TaskState> states;
    for (pm::TaskView& view : look_everywhere(job)) states.push_back(view.state);
    return states;
}

// True if there would be a deadlock if all waiting tasks continued to wait.
bool may_become_one(std::vector<pm::TaskState> states, TaskId tasks) {
    for (pm::TaskState& state : states) {
        if (state.life != pm::TaskState::Life::kInside) continue;
        if (!state.measured) state.awaited = {};
        state.measured = true;
        state.unmoved_ms = static_cast<std::uint32_t>(kPatience.count());
        state.unlooked_ms = 0;
    }
    return !pm::find_deadlock(states, tasks, kPatience).stuck.empty();
}

// A wait shorter than the patience is checked repeatedly until it is long enough or over.
pm::WaitFindings deadlock_of(pm::RunningJob& job) {
    const auto tasks = static_cast<TaskId>(job.tasks);
    const auto deadline = std::chrono::steady_clock::now() + 2 * kPatience;
    while (true) {
        const std::vector<TaskId> elsewhere = job.tasks_elsewhere;
        const std::vector<pm::TaskState> states = states_of(job);
        pm::WaitFindings findings = pm::find_deadlock(states, tasks, kPatience);
        if (!findings.stuck.empty() || !may_become_one(states, tasks) ||
            std::chrono::steady_clock::now() > deadline)
            return findings;
        job.tasks_elsewhere = elsewhere;
        std::this_thread::sleep_for(kLookAgain);
    }
}

// Prints to standard output. On a terminal lines are cut to its width.
void show(const std::string& text) {
    winsize size{};
    const bool terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    std::cout << (terminal ? cut_to(text, size.ws_col) : text) << std::flush;
}

int show_deadlocks(const StatOptions& options, const std::vector<pm::RunningJob>& jobs) {
    std::vector<JobFindings> all;
    for (pm::RunningJob job : jobs) {
        try {
            pm::WaitFindings findings = deadlock_of(job);
            all.push_back({std::move(job), std::move(findings)});
        } catch (const Error&) {
            if (!options.job.empty()) throw;  // otherwise the job has ended meanwhile
        }
    }
    if (all.empty() && !options.json) std::cout << "no jobs are running\n";
    // Sentences are not cut, because their end matters.
    std::cout << (options.json ? deadlocks_json(all) : deadlock_text(all)) << std::flush;
    const auto dead = [](const JobFindings& one) { return !one.findings.stuck.empty(); };
    return std::any_of(all.begin(), all.end(), dead) ? kDeadlockStatus : 0;
}

// Returns how to ask nodes, by the variables that poe uses, too.
Result<NodeQuery> node_query() {
    const char* shell = std::getenv("MP_REMOTE_SHELL");
    const char* pmd = std::getenv("MP_PMD");
    auto words =
        pm::split_command(shell != nullptr ? shell : kDefaultRemoteShell, "MP_REMOTE_SHELL", 0);
    if (!words) return words.error();
    return NodeQuery{std::move(words.value()),
                     pm::find_pmd(pmd != nullptr ? pmd : "", std::getenv("PATH"))};
}

Result<pm::Pools> pools_of_file() {
    const char* file = std::getenv("MP_POOLFILE");
    auto pools = pm::load_pools(file != nullptr ? file : pm::kDefaultPoolFile);
    if (pools) return pools;
    UserError error = pools.error();
    error.expected = "poe-pools(5) describes it; with Slurm, sinfo shows partitions";
    return error;
}

// The nodes of a host file, or of all pools if no file is named.
Result<std::vector<std::string>> nodes_to_watch(const std::string& host_file) {
    std::vector<std::string> names;
    if (host_file.empty()) {
        const auto pools = pools_of_file();
        if (!pools) return pools.error();
        for (const auto& [pool, nodes] : pools.value().nodes)
            names.insert(names.end(), nodes.begin(), nodes.end());
        return names;
    }
    const auto file = pm::load_host_file(pm::HostFileUse::kGiven, host_file);
    if (!file) return file.error();
    for (const pm::HostLine& line : file.value()->lines) {
        if (line.is_pool)
            return UserError{host_file,
                             line.line,
                             line.column,
                             "a pool",
                             "expected names of nodes; -nodes alone shows all pools",
                             0};
        names.push_back(line.name);
    }
    return names;
}

int report_error(const UserError& error, const Diagnostics& diagnostics) {
    diagnostics.error(error);
    return kErrorStatus;
}

int show_pools(const StatOptions& options, const Diagnostics& diagnostics) {
    const auto pools = pools_of_file();
    if (!pools) return report_error(pools.error(), diagnostics);
    const auto query = node_query();
    if (!query) return report_error(query.error(), diagnostics);
    const std::vector<PoolNode> nodes = ask_pools(pools.value(), query.value());
    if (options.json)
        std::cout << pools_json(nodes) << std::flush;
    else
        show(pools_text(nodes));
    return 0;
}

int show_nodes(const StatOptions& options, const Diagnostics& diagnostics) {
    const auto names = nodes_to_watch(options.job);
    if (!names) return report_error(names.error(), diagnostics);
    const auto query = node_query();
    if (!query) return report_error(query.error(), diagnostics);
    const auto answers = ask_nodes(names.value(), query.value(), pm::kStatisticsArguments);
    if (options.json)
        std::cout << loads_json(answers) << std::flush;
    else
        show(loads_text(answers));
    return 0;
}

int show_once(const StatOptions& options, const Diagnostics& diagnostics) {
    if (options.pools) return show_pools(options, diagnostics);
    if (options.nodes) return show_nodes(options, diagnostics);
    const bool all_users = options.all_users && ::geteuid() == 0;
    pm::JobScan scan =
        pm::jobs_seen_here(pm::kJobDirectoryParent,
                           all_users ? std::optional<uid_t>() : std::optional<uid_t>(::geteuid()));
    for (const std::string& trouble : scan.troubles) diagnostics.attention(kAttention, trouble);
    if (!options.job.empty()) {
        const Result<pm::RunningJob> job = pm::choose_job(scan.jobs, options.job);
        if (!job) {
            diagnostics.error(job.error());
            return kErrorStatus;
        }
        scan.jobs = pm::with_spawned_jobs(scan.jobs, job.value());
    }
    if (options.deadlock) return show_deadlocks(options, scan.jobs);
    if (options.job.empty()) {
        if (options.json)
            std::cout << jobs_json(scan.jobs) << std::flush;
        else
            show(scan.jobs.empty() ? "no jobs are running\n" : job_table(scan.jobs, all_users));
        return 0;
    }
    const std::string here = pm::local_host_name();
    if (options.json) {
        const std::vector<pm::TaskView> tasks = look_everywhere(scan.jobs.front());
        std::cout << tasks_json(scan.jobs, tasks, here) << std::flush;
        return 0;
    }
    std::string text;
    for (pm::RunningJob& job : scan.jobs)
        text += (text.empty() ? "" : "\n") + task_table(job, look_everywhere(job), here);
    show(text);
    return 0;
}

// Repeats until the job has ended or there is no reader any more.
int show_again_and_again(const StatOptions& options, const Diagnostics& diagnostics) {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    for (bool first = true;; first = false) {
        if (terminal)
            std::cout << "\033[H\033[J";
        else if (!first && !options.json)
            std::cout << "\n";
        const int status = show_once(options, diagnostics);
        if (!std::cout) return kErrorStatus;
        if (status == kErrorStatus) return first ? status : 0;
        std::this_thread::sleep_for(*options.every);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Diagnostics diagnostics(1);
    const Result<StatOptions> options = read_stat_options({argv + std::min(argc, 1), argv + argc});
    if (!options) {
        diagnostics.error(options.error());
        return kErrorStatus;
    }
    try {
        if (options.value().request == StatOptions::Request::kHelp) {
            std::cout << folded_help(stat_help_text(), STDOUT_FILENO) << std::flush;
        } else if (options.value().request == StatOptions::Request::kVersion) {
            std::cout << "poestat " POE_VERSION "\n" << std::flush;
        } else {
            const int status = options.value().every
                                   ? show_again_and_again(options.value(), diagnostics)
                                   : show_once(options.value(), diagnostics);
            return std::cout ? status : kErrorStatus;
        }
        return std::cout ? 0 : kErrorStatus;
    } catch (const std::exception& error) {
        diagnostics.error(kFatal, error.what());
        return kErrorStatus;
    }
}
