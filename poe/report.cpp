// See report.hpp.
#include "poe/report.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/task_ranges.hpp"
#include "partition_manager/job/signal_words.hpp"
#include "poe/diagnostics.hpp"

namespace poe::cli {

namespace {

using pm::Cause;
using pm::signal_in_words;
using pm::signal_name;

constexpr std::size_t kLastWords = 5;

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

const std::string& program_of(const pm::JobSpec& job, TaskId task) {
    return job.commands[job.tasks[static_cast<std::size_t>(task)].command][0];
}

const std::string& node_of(const pm::JobSpec& job, TaskId task) {
    return job.nodes[static_cast<std::size_t>(job.tasks[static_cast<std::size_t>(task)].node)];
}

// Returns "node n1" or "nodes n1,n2": the nodes of the sorted `tasks`; only the first few if there
// are many.
std::string nodes_in_words(const pm::JobSpec& job, const std::vector<TaskId>& tasks) {
    constexpr std::size_t kNamed = 8;
    std::vector<NodeIndex> nodes;
    nodes.reserve(tasks.size());
    for (const TaskId task : tasks) nodes.push_back(job.tasks[static_cast<std::size_t>(task)].node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::string names;
    for (std::size_t i = 0; i < std::min(nodes.size(), kNamed); ++i)
        names += (i > 0 ? "," : "") + job.nodes[static_cast<std::size_t>(nodes[i])];
    if (nodes.size() > kNamed) names += fmt::format(" and {} more", nodes.size() - kNamed);
    return (nodes.size() == 1 ? "node " : "nodes ") + names;
}

// Returns "task 2 (node n1, ./ring)" or "tasks 0-2 (nodes n0,n1, ./ring)". The program is that of
// the first task.
std::string introduce(const pm::JobSpec& job, const std::vector<TaskId>& tasks) {
    return fmt::format("{} ({}, {})", tasks_in_words(tasks), nodes_in_words(job, tasks),
                       program_of(job, tasks.front()));
}
std::string introduce(const pm::JobSpec& job, TaskId task) {
    return introduce(job, std::vector{task});
}

// Returns with which call the task has ended the job; null if it has not.
const pm::TaskStop* stop_of(const pm::TaskEnd& end) {
    return end.exit && end.exit->stop ? &*end.exit->stop : nullptr;
}

// True if the task has ended the job by the same call, with the same code and text, as the task
// that is responsible. Often all tasks make the same mistake.
bool stopped_likewise(const pm::Outcome& outcome, TaskId task) {
    if (!outcome.first_failure) return false;
    const auto stop = [&](TaskId one) {
        return stop_of(outcome.tasks[static_cast<std::size_t>(one)]);
    };
    const pm::TaskStop* first = stop(*outcome.first_failure);
    return first != nullptr && stop(task) != nullptr && *stop(task) == *first;
}

std::string introduce_stopped(const pm::JobSpec& job, const pm::Outcome& outcome) {
    std::vector<TaskId> tasks;
    for (std::size_t task = 0; task < outcome.tasks.size(); ++task)
        if (stopped_likewise(outcome, static_cast<TaskId>(task)))
            tasks.push_back(static_cast<TaskId>(task));
    return tasks.empty() ? introduce(job, *outcome.first_failure) : introduce(job, tasks);
}

// True for signals that normally produce a core, so that its absence is worth reporting.
bool dumps_core(int signal) {
    constexpr int kDumping[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};
    return std::find(std::begin(kDumping), std::end(kDumping), signal) != std::end(kDumping);
}

// The text follows the name of one task or of several.
std::string ending_of(const pm::JobSpec& job, const pm::TaskExit& exit) {
    if (exit.signal != 0)
        return fmt::format("killed by {}{}", signal_in_words(exit.signal),
                           exit.core                  ? ", core dumped"
                           : !job.core.format.empty() ? ""  // the user wants stacks
                           : dumps_core(exit.signal)  ? ", no core dumped"
                                                      : "");
    return fmt::format("exited with code {}", exit.code);
}

std::string when(const pm::Outcome& outcome, TaskId task) {
    const auto& exit = outcome.tasks[static_cast<std::size_t>(task)].exit;
    return fmt::format("{:.3f} s after the start", seconds(exit ? exit->after : outcome.elapsed));
}

ReportLine first_line(const pm::JobSpec& job, const pm::Outcome& outcome) {
    const TaskId task = outcome.first_failure.value_or(-1);
    const auto about = [&](const std::string& what) {
        return introduce(job, task) + " " + what + ", " + when(outcome, task);
    };
    const auto about_stopped = [&](const std::string& what) {
        return introduce_stopped(job, outcome) + " " + what + ", " + when(outcome, task);
    };
    switch (outcome.cause) {
        case Cause::kOrderly:
        case Cause::kExitCode:
            return {true, kTaskExited,
                    about(ending_of(job, *outcome.tasks[static_cast<std::size_t>(task)].exit))};
        case Cause::kSignal:
            return {true, kTaskKilled,
                    about(ending_of(job, *outcome.tasks[static_cast<std::size_t>(task)].exit))};
        case Cause::kStopall:
            return {true, kTaskStopped,
                    about_stopped(fmt::format("called mpc_stopall({})", outcome.status))};
        case Cause::kMpiError:
            return {true, kTaskStopped, about_stopped("ended the job because of an MPI error")};
        case Cause::kAbort:
            if (const pm::TaskStop* stop = stop_of(outcome.tasks[static_cast<std::size_t>(task)]))
                return {true, kTaskStopped,
                        about_stopped(
                            fmt::format("ended the job by MPI_Abort with code {}", stop->code))};
            return {true, kTaskStopped,
                    about(fmt::format("aborted the job with code {}{}", outcome.status,
                                      outcome.text.empty() ? "" : " (" + outcome.text + ")"))};
        case Cause::kLeft:
            return {true, kTaskStopped,
                    about(ending_of(job, *outcome.tasks[static_cast<std::size_t>(task)].exit) +
                          " without MPI_Finalize")};
        case Cause::kInterrupted:
            return {true, kInterrupted,
                    fmt::format("the job was ended by {}, {:.3f} s after the start{}{}{}",
                                signal_in_words(outcome.status - 128), seconds(outcome.elapsed),
                                outcome.never_ran ? " and before its tasks ran" : "",
                                outcome.text.empty() ? "" : "; ", outcome.text)};
        case Cause::kMaxtime:
            return {true, kMaxtimeOver,
                    fmt::format("the job took longer than -maxtime allows and was ended after "
                                "{:.3f} s",
                                seconds(outcome.elapsed))};
        case Cause::kNodeFailed:
        case Cause::kLostDaemon:
            return {true, kDaemonLost, outcome.text + "; the job was ended"};
        case Cause::kOutputError:
            return {true, kOutputLost, outcome.text + "; the job was ended"};
        case Cause::kNotStarted:
            return {true, kNotLoaded, outcome.text};
        case Cause::kNone:
        case Cause::kOutputClosed:
            break;
    }
    return {};
}

// Programs that could not be loaded. Tasks with the same error share a line.
std::vector<ReportLine> not_started_lines(const pm::JobSpec& job, const pm::Outcome& outcome) {
    std::map<std::string, std::vector<TaskId>> by_text;
    for (const pm::LaunchFailure& failure : outcome.not_started)
        by_text[failure.text].push_back(failure.task);
    std::vector<ReportLine> lines;
    for (auto& [text, tasks] : by_text) {
        std::sort(tasks.begin(), tasks.end());
        lines.push_back(
            {true, kNotLoaded,
             fmt::format("{} ({}) {}", tasks_in_words(tasks), nodes_in_words(job, tasks), text)});
    }
    return lines;
}

constexpr const char* kUnheard = "did not report how they ended";

// Returns an empty string if there is nothing to report.
std::string fate(const pm::JobSpec& job, const pm::TaskEnd& end, const pm::Outcome& outcome) {
    if (!end.exit) return kUnheard;
    const pm::TaskExit& exit = *end.exit;
    if (outcome.cause == Cause::kInterrupted && exit.signal == outcome.status - 128) return "";
    // A call that fails because another task has ended is a consequence of that task's failure.
    if (exit.stop && exit.stop->kind == StopKind::kMpiError)
        return pm::is_consequence(*exit.stop)
                   ? "ended because a task that it communicated with had ended"
                   : "had an MPI error, too: " + exit.stop->text;
    if (end.ended_by_poe) {
        if (exit.signal == SIGTERM || exit.signal == SIGKILL)
            return "ended by poe (" + signal_name(exit.signal) + ")";
        if (exit.signal == 0 && exit.code == 0) return "";
        return ending_of(job, exit) + " while the job was being ended";
    }
    return exit.signal == 0 && exit.code == 0 ? "" : ending_of(job, exit);
}

// All tasks except the first failure, grouped by how they ended.
std::vector<ReportLine> other_lines(const pm::JobSpec& job, const pm::Outcome& outcome) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<TaskId>> by_fate;
    for (std::size_t task = 0; task < outcome.tasks.size(); ++task) {
        if (outcome.first_failure == static_cast<TaskId>(task) ||
            stopped_likewise(outcome, static_cast<TaskId>(task)))
            continue;
        const std::string text = fate(job, outcome.tasks[task], outcome);
        if (text.empty()) continue;
        if (!by_fate.contains(text)) order.push_back(text);
        by_fate[text].push_back(static_cast<TaskId>(task));
    }
    std::vector<ReportLine> lines;
    for (const std::string& text : order) {
        const std::vector<TaskId>& tasks = by_fate[text];
        const bool one = text == kUnheard && tasks.size() == 1;
        lines.push_back({false, 0,
                         "       " + tasks_in_words(tasks) + " " +
                             (one ? "did not report how it ended" : text)});
    }
    return lines;
}

// The text of the MPI error that has ended the job.
std::vector<ReportLine> error_lines(const pm::Outcome& outcome) {
    if (outcome.cause != Cause::kMpiError || outcome.text.empty()) return {};
    return {{false, 0, "       " + outcome.text}};
}

// Returns the last lines of a task on standard error, without the stack that the task may have left
// there (-corefile_format STDERR). If a stack is long, only its end is available.
std::vector<std::string> words_of(const pm::OutputTails& tails, TaskId task) {
    constexpr std::size_t kSearched = 1000;
    std::vector<std::string> words = tails.last_lines(task, kSearched);
    const auto begins = [](const std::string& line) {
        return line.starts_with("+++PARALLEL TOOLS CONSORTIUM");
    };
    const auto end = std::find(words.begin(), words.end(), "---LCB");
    if (end != words.end()) {
        const auto begin = std::find_if(words.begin(), end, begins);
        words.erase(begin == end ? words.begin() : begin, end + 1);
    }
    if (words.size() > kLastWords)
        words.erase(words.begin(), words.end() - static_cast<long>(kLastWords));
    return words;
}

std::vector<ReportLine> last_words(const pm::JobSpec& job, const pm::Outcome& outcome,
                                   const pm::OutputTails& tails) {
    std::vector<ReportLine> lines;
    // In a job with one task these lines are visible just above.
    if (!outcome.first_failure || job.tasks.size() < 2) return lines;
    const std::vector<std::string> words = words_of(tails, *outcome.first_failure);
    if (words.empty()) return lines;
    lines.push_back(
        {false, 0,
         fmt::format("       last on standard error of task {}:", *outcome.first_failure)});
    for (const std::string& line : words) lines.push_back({false, 0, "       | " + line});
    return lines;
}

const char* cause_name(Cause cause) {
    switch (cause) {
        case Cause::kNone:
            return "none";
        case Cause::kOrderly:
            return "exit code";
        case Cause::kExitCode:
            return "exit code, job ended";
        case Cause::kSignal:
            return "signal";
        case Cause::kStopall:
            return "mpc_stopall";
        case Cause::kAbort:
            return "abort";
        case Cause::kMpiError:
            return "MPI error";
        case Cause::kLeft:
            return "left without MPI_Finalize";
        case Cause::kNotStarted:
            return "not started";
        case Cause::kInterrupted:
            return "interrupted";
        case Cause::kMaxtime:
            return "maxtime";
        case Cause::kNodeFailed:
            return "node failed";
        case Cause::kLostDaemon:
            return "daemon lost";
        case Cause::kOutputError:
            return "output error";
        case Cause::kOutputClosed:
            return "output closed";
    }
    return "";
}

// Names and output may contain any bytes, but the result must be valid JSON.
std::string dump(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json task_json(const pm::JobSpec& job, TaskId task, const pm::TaskEnd& end) {
    nlohmann::ordered_json json;
    json["task"] = task;
    json["node"] = node_of(job, task);
    json["program"] = program_of(job, task);
    if (!end.exit) return json;
    const pm::TaskExit& exit = *end.exit;
    if (exit.signal != 0) {
        json["signal"] = exit.signal;
        json["signal_name"] = signal_name(exit.signal);
        json["core_dumped"] = exit.core;
    } else {
        json["code"] = exit.code;
    }
    if (const pm::TaskStop* stop = stop_of(end); stop != nullptr && !stop->text.empty())
        json["mpi_error"] = stop->text;
    json["ended_by_poe"] = end.ended_by_poe;
    json["seconds"] = seconds(exit.after);
    json["user_seconds"] = seconds(exit.user);
    json["system_seconds"] = seconds(exit.system);
    json["peak_memory_bytes"] = exit.peak_memory;
    return json;
}

}  // namespace

std::vector<ReportLine> report_lines(const pm::JobSpec& job, const pm::Outcome& outcome,
                                     const pm::OutputTails& tails) {
    if (outcome.cause == Cause::kNone || outcome.cause == Cause::kOutputClosed) return {};
    if (outcome.cause == Cause::kStopall && outcome.status == 0) return {};
    if (outcome.cause == Cause::kNotStarted && !outcome.not_started.empty())
        return not_started_lines(job, outcome);
    std::vector<ReportLine> lines{first_line(job, outcome)};
    if (outcome.cause == Cause::kNotStarted || outcome.never_ran) return lines;
    for (auto& line : error_lines(outcome)) lines.push_back(std::move(line));
    for (auto& line : last_words(job, outcome, tails)) lines.push_back(std::move(line));
    for (auto& line : other_lines(job, outcome)) lines.push_back(std::move(line));
    return lines;
}

std::string report_json(const pm::JobSpec& job, const pm::Outcome& outcome,
                        const pm::OutputTails& tails, const std::vector<std::string>& binding) {
    nlohmann::ordered_json json;
    json["job"] = job.id;
    json["status"] = outcome.status;
    json["cause"] = cause_name(outcome.cause);
    if (!outcome.text.empty()) json["text"] = outcome.text;
    json["seconds"] = seconds(outcome.elapsed);
    json["nodes"] = job.nodes;
    if (outcome.first_failure) {
        const TaskId task = *outcome.first_failure;
        auto first = task_json(job, task, outcome.tasks[static_cast<std::size_t>(task)]);
        first["last_stderr"] = words_of(tails, task);
        json["first_failure"] = std::move(first);
    }
    json["not_started"] = nlohmann::ordered_json::array();
    for (const pm::LaunchFailure& failure : outcome.not_started)
        json["not_started"].push_back({{"task", failure.task}, {"text", failure.text}});
    json["tasks"] = nlohmann::ordered_json::array();
    for (std::size_t task = 0; task < outcome.tasks.size(); ++task) {
        auto one = task_json(job, static_cast<TaskId>(task), outcome.tasks[task]);
        if (task < binding.size() && !binding[task].empty()) one["processors"] = binding[task];
        json["tasks"].push_back(std::move(one));
    }
    return dump(json);
}

std::vector<std::string> binding_lines(const pm::TaskMap& map,
                                       const std::vector<std::string>& binding) {
    std::map<std::pair<NodeIndex, std::string>, std::vector<TaskId>> tasks;
    std::vector<std::pair<NodeIndex, std::string>> order;
    for (std::size_t task = 0; task < binding.size(); ++task) {
        std::pair key(map.node_of_task[task], binding[task]);
        if (!tasks.contains(key)) order.push_back(key);
        tasks[std::move(key)].push_back(static_cast<TaskId>(task));
    }
    std::vector<std::string> lines;
    for (const auto& key : order)
        lines.push_back(fmt::format(
            "{} (node {}) may use {} {}", tasks_in_words(tasks[key]),
            map.nodes[static_cast<std::size_t>(key.first)],
            key.second.find_first_of(",-") == std::string::npos ? "processor" : "processors",
            key.second));
    return lines;
}

}  // namespace poe::cli
