// Commands to gdb, and what its records say about tasks; see node_gdb.hpp. How tasks start under it
// is in node_gdb_start.cpp.
#include "debugger/node_gdb.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/parse.hpp"
#include "debugger/attach_trouble.hpp"

namespace poe::debugger {

namespace {

using Life = DebuggedTask::Life;

constexpr const char* kSettings[] = {
    "mi-async on",
    "non-stop on",
    "pagination off",
    "confirm off",
    // A function that gdb has called and that does not return is unwound when it is interrupted.
    "unwindonsignal on",
    "width 0",
    "height 0",
    "breakpoint pending on",
    // The default, 64 KB, refuses most arrays. gdb reads a value as a whole before it shows the
    // beginning.
    "max-value-size 67108864",
    "print inferior-events off",
    "print thread-events off",
    "schedule-multiple off",
    "detach-on-fork on",
    "follow-fork-mode parent",
    // gdb asks a server for files that are not here otherwise.
    "debuginfod enabled off",
};

int number_of(const std::string& text) {
    return parse_number<int>(text).value_or(0);
}

// Signals after which a task cannot continue.
bool is_fatal(const std::string& signal) {
    for (const char* fatal : {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS"})
        if (signal == fatal) return true;
    return false;
}

// True if gdb names no cause for this stop. If nobody has asked for it, gdb has stopped the thread
// for its own work and has reported that by mistake. gdb 13 does so if it starts or attaches to
// other processes while the thread forks.
bool is_without_cause(const MiValue& event) {
    const std::string& word = event.text_of("reason");
    return word.empty() || (word == "signal-received" && event.text_of("signal-name") == "0");
}

StopReason reason_of(const MiValue& event) {
    StopReason reason;
    const std::string& word = event.text_of("reason");
    reason.breakpoint = number_of(event.text_of("bkptno"));
    if (word == "breakpoint-hit") {
        reason.kind = StopReason::Kind::kBreakpoint;
    } else if (word == "signal-received") {
        const std::string& signal = event.text_of("signal-name");
        reason.kind = signal == "0" || signal == "SIGINT" ? StopReason::Kind::kInterrupt
                                                          : StopReason::Kind::kSignal;
        reason.text = signal + " (" + event.text_of("signal-meaning") + ")";
    } else if (word.find("watchpoint-trigger") != std::string::npos) {
        reason.kind = StopReason::Kind::kWatch;
        for (const auto& [name, item] : event.items) {
            if (name == "wpt" || name == "hw-rwpt" || name == "hw-awpt") {
                reason.breakpoint = number_of(item.text_of("number"));
                reason.text = item.text_of("exp") + reason.text;
            } else if (name == "value") {
                const std::string& old = item.text_of("old");
                reason.text += old.empty() ? ": " + item.text_of("value")
                                           : ": " + old + " -> " + item.text_of("new");
            }
        }
    } else if (word == "watchpoint-scope") {
        reason.kind = StopReason::Kind::kWatch;
        reason.breakpoint = number_of(event.text_of("wpnum"));
        reason.text = "the watched variable has gone out of scope";
    } else if (word == "end-stepping-range" || word == "function-finished" ||
               word == "location-reached") {
        reason.kind = StopReason::Kind::kStep;
        const std::string& value = event.text_of("return-value");
        if (!value.empty()) reason.text = "returned " + value;
    } else if (!word.empty()) {
        reason.kind = StopReason::Kind::kCatch;
        reason.text = word;
        for (const char* more : {"syscall-name", "newpid", "new-exec"})
            if (!event.text_of(more).empty()) reason.text += " " + event.text_of(more);
    }
    return reason;
}

}  // namespace

void NodeGdb::command(const std::string& text, OnAnswer on_answer) {
    write(text, 0, std::move(on_answer));
}

void NodeGdb::write(const std::string& text, int pid, OnAnswer on_answer) {
    if (gone_) {
        if (on_answer) on_answer({false, {}, "", "there is no gdb on this node", ""});
        return;
    }
    // For "catch signal" gdb names no cause either.
    catches_ = catches_ || text.find("catch ") != std::string::npos;
    const std::uint64_t token = next_token_++;
    pending_.emplace(token, Pending{std::move(on_answer), pid});
    handlers_.send(std::to_string(token) + text + "\n");
}

std::string NodeGdb::context(const DebuggedTask& task) {
    return " --thread " + std::to_string(task.thread) + " --frame " + std::to_string(task.frame);
}

void NodeGdb::console(const DebuggedTask& task, const std::string& text, OnAnswer on_answer) {
    write("-interpreter-exec" + context(task) + " console " + mi_quoted(text), task.pid,
          std::move(on_answer));
}

void NodeGdb::set_up() {
    for (const char* setting : kSettings) command("-gdb-set " + std::string(setting));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        tasks_[i].inferior = static_cast<int>(i) + 1;
        if (i > 0) command("-add-inferior");
    }
}

void NodeGdb::interrupt(DebuggedTask& task) {
    if (!task.stopped && task.life == Life::kAlive) interrupt_threads(task);
}

// gdb interrupts the threads that it knows and that run.
void NodeGdb::interrupt_threads(DebuggedTask& task) {
    task.stop_requested = true;
    command("-exec-interrupt --thread-group " + task.group());
}

void NodeGdb::feed(std::string_view bytes) {
    rest_ += bytes;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = rest_.find('\n', begin);
        if (end == std::string::npos) break;
        on_line(std::string_view(rest_).substr(begin, end - begin));
        begin = end + 1;
    }
    rest_.erase(0, begin);
}

void NodeGdb::on_line(std::string_view line) {
    const MiRecord record = parse_mi(line);
    switch (record.kind) {
        case MiRecord::Kind::kResult:
            on_result(record);
            break;
        case MiRecord::Kind::kExec:
            console_.clear();
            if (record.name == "stopped")
                on_stopped(record.results);
            else if (record.name == "running")
                on_running(record.results.text_of("thread-id"));
            break;
        case MiRecord::Kind::kNotify:
            on_notify(record);
            break;
        case MiRecord::Kind::kConsole:
            console_ += record.text;
            break;
        case MiRecord::Kind::kLog:
            log_ += record.text;
            break;
        case MiRecord::Kind::kPrompt:
            console_.clear();
            log_.clear();
            break;
        default:
            break;
    }
}

void NodeGdb::on_result(const MiRecord& record) {
    GdbAnswer answer;
    answer.ok = record.name != "error";
    answer.results = record.results;
    answer.error = record.results.text_of("msg");
    answer.console = std::exchange(console_, {});
    answer.log = std::exchange(log_, {});
    const auto found = pending_.find(record.token.value_or(0));
    if (found == pending_.end()) return;
    const OnAnswer on_answer = std::move(found->second.on_answer);
    pending_.erase(found);
    if (on_answer) on_answer(answer);
}

DebuggedTask* NodeGdb::task_of_group(const std::string& group) {
    for (DebuggedTask& task : tasks_)
        if (task.group() == group) return &task;
    return nullptr;
}

DebuggedTask* NodeGdb::task_of_thread(int thread) {
    const auto group = group_of_thread_.find(thread);
    return group != group_of_thread_.end() ? task_of_group(group->second) : nullptr;
}

void NodeGdb::on_running(const std::string& thread) {
    if (thread == "all") {
        for (DebuggedTask& task : tasks_)
            for (auto& each : task.threads) each.second = true;
    } else if (DebuggedTask* task = task_of_thread(number_of(thread))) {
        task->threads[number_of(thread)] = true;
    }
}

void NodeGdb::on_stopped(const MiValue& event) {
    const std::string& word = event.text_of("reason");
    if (word.starts_with("exited")) {  // thread-group-exited comes before it, and has the code
        DebuggedTask* ended = std::exchange(ended_, nullptr);
        if (ended != nullptr && word == "exited-signalled")
            end(*ended, "was killed by " + event.text_of("signal-name"), true);
        return;
    }
    const int thread = number_of(event.text_of("thread-id"));
    DebuggedTask* task = task_of_thread(thread);
    if (task == nullptr) return;
    const MiValue* stopped = event.find("stopped-threads");
    const StopReason reason = reason_of(event);
    if (task->resumed && !task->stop_requested && !catches_ && is_without_cause(event))
        return command("-exec-continue --thread " + std::to_string(thread));
    if (stopped != nullptr && stopped->text == "all")
        for (auto& each : task->threads) each.second = false;
    task->threads[thread] = false;
    const bool is_news =
        reason.kind != StopReason::Kind::kOther && reason.kind != StopReason::Kind::kInterrupt;
    // The first event of a stop decides; others are interrupts of the remaining threads.
    if (is_news || task->thread == 0 || !task->threads.contains(task->thread) ||
        task->thread == thread) {
        if (is_news || task->reason.kind == StopReason::Kind::kOther ||
            task->reason.kind == StopReason::Kind::kInterrupt) {
            task->thread = thread;
            task->reason = reason;
            if (const MiValue* frame = event.find("frame")) task->where = *frame;
        }
    }
    if (reason.kind == StopReason::Kind::kSignal)
        task->failed = is_fatal(event.text_of("signal-name"));
    check_stopped(*task);
}

// Interrupts the remaining threads, or reports the stop of the whole task.
void NodeGdb::check_stopped(DebuggedTask& task) {
    if (task.stopped || task.threads.empty()) return;
    if (task.life != Life::kAlive && task.life != Life::kStarting) return;
    if (!task.all_threads_stopped()) {
        if (!task.stop_requested) interrupt_threads(task);
        return;
    }
    task.stop_requested = false;
    task.resumed = false;
    task.stopped = true;
    task.select(task.thread, 0);
    if (task.life == Life::kStarting)
        on_start_stop(task);
    else
        handlers_.on_stopped(task);
}

void NodeGdb::on_notify(const MiRecord& record) {
    const MiValue& results = record.results;
    if (record.name == "thread-created") {
        const int thread = number_of(results.text_of("id"));
        group_of_thread_[thread] = results.text_of("group-id");
        DebuggedTask* task = task_of_thread(thread);
        if (task == nullptr) return;
        task->threads[thread] = true;
        if (task->thread == 0) task->thread = thread;
        // Another thread may have made it before the interrupt.
        if (task->stop_requested) interrupt_threads(*task);
    } else if (record.name == "thread-exited") {
        const int thread = number_of(results.text_of("id"));
        if (DebuggedTask* task = task_of_thread(thread)) {
            task->threads.erase(thread);
            if (task->thread == thread && !task->threads.empty())
                task->thread = task->threads.begin()->first;
            const bool some_stopped = std::any_of(task->threads.begin(), task->threads.end(),
                                                  [](const auto& each) { return !each.second; });
            if (some_stopped && task->stop_requested) check_stopped(*task);
        }
        group_of_thread_.erase(thread);
    } else if (record.name == "thread-group-exited") {
        DebuggedTask* task = task_of_group(results.text_of("id"));
        // A process that is let go for another one (kAttaching) has not ended.
        if (task == nullptr || (task->life != Life::kStarting && task->life != Life::kAlive))
            return;
        const std::string& code = results.text_of("exit-code");
        if (code.empty()) {
            ended_ = task;
            return;
        }
        const long status = std::strtol(code.c_str(), nullptr, 8);
        end(*task, "ended with code " + std::to_string(status), status != 0);
    }
}

void NodeGdb::end(DebuggedTask& task, const std::string& note, bool failed) {
    const bool goes_on = task.handed_over && task.life != Life::kScript && task.exit.empty();
    task.life = goes_on ? Life::kScript : Life::kEnded;
    task.stopped = task.stop_requested = false;
    task.threads.clear();
    task.note = goes_on ? "the program " + note + "; the script that started it continues" : note;
    task.failed = task.failed || failed;
    handlers_.on_ended(task);
    check_attached();
}

void NodeGdb::on_exit(TaskId task, const std::string& note, bool failed) {
    for (DebuggedTask& each : tasks_) {
        if (each.task != task || each.life == Life::kEnded) continue;
        each.exit = note;
        each.failed = each.failed || failed;
        if (each.life == Life::kLost || each.life == Life::kScript) end(each, note, failed);
    }
}

void NodeGdb::on_gone(const std::string& why) {
    if (gone_) return;
    gone_ = true;
    for (DebuggedTask& task : tasks_) {
        if (task.life == Life::kEnded || task.life == Life::kLost) continue;
        const bool has_ended = !task.exit.empty();
        task.life = has_ended ? Life::kEnded : Life::kLost;
        task.stopped = false;
        task.note = has_ended ? task.exit : why;
        if (has_ended || !why.empty()) handlers_.on_ended(task);
    }
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& each : pending)
        if (each.second.on_answer)
            each.second.on_answer({false, {}, "", why.empty() ? "the job has ended" : why, ""});
    check_attached();
}

}  // namespace poe::debugger
