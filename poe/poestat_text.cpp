// See poestat_text.hpp.
#include "poe/poestat_text.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <pwd.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/task_ranges.hpp"
#include "partition_manager/job/state_words.hpp"

namespace poe::cli {
namespace {

using pm::TaskState;
using Row = std::vector<std::string>;

// Formats: 59.9 s, 12:34, 3:25:45, 2d 03:25
std::string duration_in_words(std::chrono::milliseconds time) {
    const long long whole = time.count() / 1000;
    if (whole < 60) return fmt::format("{:.1f} s", seconds(time));
    if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
    if (whole < 86400)
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}d {:02}:{:02}", whole / 86400, whole / 3600 % 24, whole / 60 % 60);
}

std::string size_in_words(Bytes bytes) {
    constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
    double amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
        amount /= 1024;
        ++unit;
    }
    const bool whole = unit == 0 || amount >= 10 || amount == static_cast<double>(Bytes(amount));
    return fmt::format("{:.{}f} {}", amount, whole ? 0 : 1, kUnits[unit]);
}

std::string user_name(uid_t uid) {
    const passwd* entry = ::getpwuid(uid);
    return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

// Columns are as wide as their widest cell, except the last. `right` marks right-aligned columns.
std::string table(const std::vector<Row>& rows, const std::vector<bool>& right) {
    std::vector<std::size_t> widths(right.size(), 0);
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - row[i].size(), ' ');
            const bool last = i + 1 == row.size();
            text += right[i] ? padding + row[i] : row[i] + (last ? "" : padding);
            text += last ? "\n" : "  ";
        }
    }
    return text;
}

std::string ended_in_words(int status) {
    if (WIFSIGNALED(status)) {
        const char* name = ::sigabbrev_np(WTERMSIG(status));
        return name != nullptr ? std::string("killed by SIG") + name
                               : "killed by signal " + std::to_string(WTERMSIG(status));
    }
    const int code = WEXITSTATUS(status);
    return code == 0 ? "ended" : "ended with code " + std::to_string(code);
}

std::string peer_in_words(TaskId peer) {
    return peer < 0 ? "any" : peer == kTaskOfOtherJob ? "another job" : std::to_string(peer);
}

std::string call_in_words(const TaskState& state) {
    const TaskActivity& doing = state.doing;
    const CallKind kind = call_kind(doing.call);
    std::string text(call_name(doing.call));
    const bool one_peer =
        kind == CallKind::kSends || kind == CallKind::kReceives || kind == CallKind::kExchanges;
    if (one_peer) {
        text += (kind == CallKind::kReceives ? " from " : " to ") + peer_in_words(doing.peer) +
                (doing.type < 0 ? "" : pm::type_in_words(doing)) + ", " +
                size_in_words(doing.bytes);
    } else {
        text += pm::progress_in_words(state);
        if (kind != CallKind::kFlushes && state.measured &&
            state.awaited.kind != Awaited::Kind::kUnknown && state.awaited.peer >= 0)
            text += ", waits for " + peer_in_words(state.awaited.peer);
    }
    text += pm::communicator_in_words(state);
    if (state.waits_ms > 0)
        text += ", " + duration_in_words(std::chrono::milliseconds(state.waits_ms));
    return text;
}

std::string elsewhere_text(const pm::RunningJob& job) {
    const std::vector<TaskId>& tasks = job.tasks_elsewhere;
    return tasks.empty() ? ""
                         : tasks_in_words(tasks) + (tasks.size() == 1 ? " runs" : " run") +
                               " on other nodes and cannot be seen from here";
}

std::string programs_in_words(const pm::RunningJob& job) {
    return job.programs.empty() ? "-" : visible(fmt::format("{}", fmt::join(job.programs, ", ")));
}

std::string count_of(std::uint32_t number, const char* thing) {
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace

std::string state_in_words(const pm::TaskView& view) {
    const TaskState& state = view.state;
    if (state.life == TaskState::Life::kEnded) return ended_in_words(state.wait_status);
    if (state.pid == 0) return "unstarted";
    if (!view.process && view.elsewhere.empty()) return "gone";
    // Outside MPL, the same words as in pmarray are used.
    const std::string between = state.idle ? "idle" : "computing";
    std::string text;
    if (state.stopped) text = "stopped, ";
    if (state.life == TaskState::Life::kOutside)
        return text + between + ", no message-passing call yet";
    text += state.doing.call == Call::kNone ? between : call_in_words(state);
    if (state.measured && state.doing.call != Call::kNone && state.unexpected.count > 0)
        text += fmt::format(", {} unexpected", state.unexpected.count);
    return text;
}

std::string job_table(std::span<const pm::RunningJob> jobs, bool owners) {
    std::vector<Row> rows{{"JOB", "POE", "TASKS", "NODES", "ELAPSED"}};
    if (owners) rows[0].emplace_back("USER");
    rows[0].emplace_back("PROGRAM");
    rows[0].emplace_back("DIRECTORY");
    for (const pm::RunningJob& job : jobs) {
        Row row{job.id, job.poe == 0 ? "-" : std::to_string(job.poe), std::to_string(job.tasks),
                std::to_string(job.nodes), duration_in_words(job.elapsed)};
        if (owners) row.push_back(user_name(job.owner));
        row.push_back(programs_in_words(job));
        row.push_back(job.directory.empty() ? "-" : visible(job.directory));
        rows.push_back(std::move(row));
    }
    std::vector<bool> right{false, true, true, true, true};
    right.resize(rows[0].size(), false);
    return table(rows, right);
}

std::string kill_table(std::span<const pm::RunningJob> jobs,
                       std::chrono::system_clock::time_point now) {
    std::vector<Row> rows{{"JOB", "TASKS", "STARTED", "PROGRAM", "DIRECTORY"}};
    for (const pm::RunningJob& job : jobs) {
        const std::time_t began = std::chrono::system_clock::to_time_t(now - job.elapsed);
        std::tm local = {};
        ::localtime_r(&began, &local);
        char text[32];
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
        rows.push_back({job.id, std::to_string(job.tasks), text, programs_in_words(job),
                        job.directory.empty() ? "-" : visible(job.directory)});
    }
    return table(rows, {false, true, false, false, false});
}

std::string task_table(const pm::RunningJob& job, std::span<const pm::TaskView> tasks,
                       const std::string& node) {
    std::string text = fmt::format("job {}: {}, {} on {}, for {}{}{}\n\n", job.id,
                                   programs_in_words(job), count_of(job.tasks, "task"),
                                   count_of(job.nodes, "node"), duration_in_words(job.elapsed),
                                   job.poe == 0 ? "" : fmt::format(", poe is {}", job.poe),
                                   job.directory.empty() ? "" : ", in " + visible(job.directory));
    std::vector<Row> rows{{"TASK", "NODE", "PID", "CPU", "MEMORY", "STATE"}};
    for (const pm::TaskView& view : tasks) {
        const auto& process = view.process;
        const bool here = view.elsewhere.empty();
        rows.push_back({std::to_string(view.state.task), here ? node : view.elsewhere,
                        process || !here ? std::to_string(view.state.pid) : "-",
                        process ? fmt::format("{:.2f} s", seconds(process->cpu)) : "-",
                        process ? size_in_words(process->memory) : "-", state_in_words(view)});
    }
    text += table(rows, {true, false, true, true, true, false});
    const std::string elsewhere = elsewhere_text(job);
    return elsewhere.empty() ? text : text + elsewhere + "\n";
}

std::string deadlock_text(std::span<const JobFindings> jobs) {
    std::string text;
    for (const auto& [job, findings] : jobs) {
        text += "job " + job.id + ": " +
                (findings.stuck.empty() ? "no deadlock" : findings.headline()) + "\n";
        for (const std::string& line : findings.lines) text += "       " + line + "\n";
        const std::string elsewhere = elsewhere_text(job);
        if (!elsewhere.empty()) text += "       " + elsewhere + "; poe itself looks there, too\n";
    }
    return text;
}

std::string cut_to(const std::string& text, std::size_t columns) {
    std::string out;
    std::size_t column = 0;
    for (const char c : text) {
        const bool continues = (static_cast<unsigned char>(c) & 0xc0u) == 0x80u;
        if (c == '\n')
            column = 0;
        else if (!continues)
            ++column;
        if (column <= columns) out += c;
    }
    return out;
}

}  // namespace poe::cli
