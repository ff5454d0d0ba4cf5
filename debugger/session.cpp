// The state of a session and the events of its tasks; see session.hpp.
#include "debugger/session.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "partition_manager/job/signal_words.hpp"

namespace poe::debugger {

namespace {

using Life = DebuggedTask::Life;

// Source lines are shown below stops at this many different places at most.
constexpr std::size_t kShownSourceLines = 4;

std::string source_line(const std::string& file, int number) {
    std::ifstream in(file);
    std::string text;
    for (int line = 0; line < number; ++line)
        if (!std::getline(in, text)) return "";
    return in ? std::to_string(number) + "\t" + text : "";
}

}  // namespace

Session::Session(Handlers handlers) : handlers_(std::move(handlers)) {}

void Session::show(Report report) {
    if (report.kind == Report::Kind::kError) had_error_ = true;
    handlers_.show(report);
}

void Session::fail(const std::string& error) {
    Report report;
    report.kind = Report::Kind::kError;
    report.command = typed_.line;
    report.error = error;
    show(std::move(report));
}

void Session::answer(std::vector<std::string> lines) {
    Report report;
    report.command = typed_.line;
    report.lines = std::move(lines);
    show(std::move(report));
}

NodeGdb* Session::gdb_of(TaskId task) {
    return gdbs_
        .by_node[static_cast<std::size_t>(job_.node_of_task[static_cast<std::size_t>(task)])]
        .get();
}

const DebuggedTask* Session::find(TaskId task) const {
    const auto node = static_cast<std::size_t>(job_.node_of_task[static_cast<std::size_t>(task)]);
    if (!gdbs_.by_node[node]) return nullptr;
    for (const DebuggedTask& each : gdbs_.by_node[node]->tasks())
        if (each.task == task) return &each;
    return nullptr;
}

DebuggedTask* Session::find(TaskId task) {
    return const_cast<DebuggedTask*>(std::as_const(*this).find(task));
}

TaskSet Session::tasks_that(const std::function<bool(const DebuggedTask&)>& condition) const {
    TaskSet tasks;
    for (const auto& gdb : gdbs_.by_node) {
        if (!gdb) continue;
        for (const DebuggedTask& task : gdb->tasks())
            if (condition(task)) tasks.insert(task.task);
    }
    return tasks;
}

bool Session::some_alive() const {
    const TaskSet alive = tasks_that([](const DebuggedTask& task) {
        return task.life != Life::kEnded && task.life != Life::kLost;
    });
    return !ready_ || !alive.empty();
}

bool Session::some_stopped() const {
    return !tasks_that([](const DebuggedTask& task) { return task.stopped; }).empty();
}

TaskSet Session::stopped_of(const TaskSet& tasks) const {
    TaskSet stopped;
    for (const TaskId task : tasks)
        if (const DebuggedTask* each = find(task); each != nullptr && each->stopped)
            stopped.insert(task);
    return stopped;
}

void Session::on_message(NodeIndex from, pm::Message message, Time now) {
    now_ = now;
    const bool known = from >= 0 && static_cast<std::size_t>(from) < gdbs_.by_node.size();
    if (auto* job = std::get_if<pm::DebuggedJob>(&message)) {
        const bool complete =
            std::all_of(job->node_of_task.begin(), job->node_of_task.end(), [&](NodeIndex node) {
                return node >= 0 && static_cast<std::size_t>(node) < job->nodes.size();
            });
        if (gdbs_.by_node.empty() && complete) begin_job(std::move(*job));
    } else if (const auto* attention = std::get_if<pm::Attention>(&message)) {
        fail(attention->text);
    } else if (const auto* found = std::get_if<pm::DeadlockFound>(&message)) {
        Report report;
        report.kind = Report::Kind::kDeadlock;
        report.lines.push_back(found->headline);
        for (const std::string& line : found->lines) report.lines.push_back("  " + line);
        show(std::move(report));
        if (!breakpoints_.catch_deadlock) return;
        for (const TaskId task : found->tasks)
            if (DebuggedTask* each = find(task)) gdb_of(task)->interrupt(*each);
    } else if (const auto* started = std::get_if<pm::DebuggerStarted>(&message)) {
        if (known && !gdbs_.by_node[static_cast<std::size_t>(from)]) on_gdb_started(from, *started);
    } else if (const auto* output = std::get_if<pm::DebuggerOutput>(&message)) {
        if (!known || !gdbs_.by_node[static_cast<std::size_t>(from)]) return;
        gdbs_.by_node[static_cast<std::size_t>(from)]->feed(output->bytes);
        handlers_.send(pm::DebuggerCredit{output->bytes.size()}, from);
    } else if (const auto* ended = std::get_if<pm::DebuggerEnded>(&message)) {
        if (known) on_gdb_ended(from, ended->text);
    } else if (const auto* waits = std::get_if<pm::ProcessWaits>(&message)) {
        on_process_waits(from, *waits);
    } else if (const auto* exit = std::get_if<pm::TaskExit>(&message)) {
        on_task_exit(*exit);
    } else if (const auto* states = std::get_if<pm::TaskStates>(&message)) {
        on_states(from, *states);
    }
    check_wait();
}

void Session::begin_job(pm::DebuggedJob job) {
    job_ = std::move(job);
    gdbs_.by_node.resize(job_.nodes.size());
    define_groups();
    std::vector<bool> has_tasks(job_.nodes.size(), false);
    for (const NodeIndex node : job_.node_of_task) has_tasks[static_cast<std::size_t>(node)] = true;
    for (std::size_t node = 0; node < has_tasks.size(); ++node) {
        if (!has_tasks[node]) continue;
        ++gdbs_.awaited;
        handlers_.send(pm::StartDebugger{}, static_cast<NodeIndex>(node));
    }
    held_ = true;
    handlers_.send(pm::TasksHeld{true}, pm::kAllNodes);
}

void Session::open_cores(const std::vector<CoreFile>& cores, Time now) {
    now_ = now;
    cores_ = true;
    job_.nodes = {"core files"};
    job_.node_of_task.assign(static_cast<std::size_t>(cores.back().task) + 1, 0);
    gdbs_.by_node.resize(1);
    define_groups();
    std::vector<DebuggedTask> tasks(cores.size());
    for (std::size_t i = 0; i < cores.size(); ++i) tasks[i].task = cores[i].task;
    gdbs_.awaited = gdbs_.running = 1;
    add_gdb(0).open_cores(std::move(tasks), cores);
}

void Session::define_groups() {
    groups_ = std::make_unique<Groups>(static_cast<TaskId>(job_.node_of_task.size()));
    groups_->predefine("all", [this] { return all_tasks(groups_->tasks()); });
    groups_->predefine("running", [this] {
        return tasks_that([](const DebuggedTask& task) { return task.runs(); });
    });
    groups_->predefine("stopped", [this] {
        return tasks_that([](const DebuggedTask& task) { return task.stopped; });
    });
    groups_->predefine("failed", [this] {
        return tasks_that([](const DebuggedTask& task) { return task.failed; });
    });
    groups_->predefine("ended", [this] {
        return tasks_that([](const DebuggedTask& task) {
            return task.life == Life::kEnded || task.life == Life::kLost;
        });
    });
}

NodeGdb& Session::add_gdb(NodeIndex node) {
    auto& gdb = gdbs_.by_node[static_cast<std::size_t>(node)];
    gdb = std::make_unique<NodeGdb>(NodeGdb::Handlers{
        [this, node](const std::string& bytes) { handlers_.send(pm::DebuggerInput{bytes}, node); },
        [this, node](DebuggedTask& task) { on_stopped(node, task); },
        [this](DebuggedTask& task) { on_ended(task); },
        [this] {
            if (gdbs_.awaited > 0 && --gdbs_.awaited == 0) on_attached();
        },
        [this, node](int pid) { handlers_.send(pm::ProcessTaken{pid}, node); }});
    return *gdb;
}

void Session::on_gdb_started(NodeIndex node, const pm::DebuggerStarted& started) {
    NodeGdb& gdb = add_gdb(node);
    std::vector<DebuggedTask> tasks;
    for (const pm::TaskProcess& process : started.tasks) {
        DebuggedTask task;
        task.task = process.task;
        task.pid = process.pid;
        tasks.push_back(std::move(task));
    }
    if (started.trouble.empty()) {
        ++gdbs_.running;
        return gdb.attach(std::move(tasks), job_.at_start);
    }
    fail("node " + job_.nodes[static_cast<std::size_t>(node)] + ": " + started.trouble);
    gdb.tasks() = std::move(tasks);
    gdbs_.failed = true;
    gdb.on_gone("not debugged: " + started.trouble);
}

void Session::on_gdb_ended(NodeIndex node, const std::string& why) {
    NodeGdb* gdb = gdbs_.by_node[static_cast<std::size_t>(node)].get();
    if (gdb == nullptr) return;
    if (gdbs_.running > 0) --gdbs_.running;
    if (cores_ && why.empty()) return;
    if (!why.empty() && leave_ == Leave::kNo)
        fail(cores_ ? why
                    : "node " + job_.nodes[static_cast<std::size_t>(node)] + ": " + why +
                          "; its tasks continue without debugger, and end if they reach a "
                          "breakpoint that was set in them");
    gdbs_.failed = gdbs_.failed || !why.empty();
    // poe ends the job, after the gdbs. How each task ends is about to be reported.
    const bool job_ends = why.empty() && leave_ == Leave::kNo;
    gdb->on_gone(job_ends ? "" : why.empty() ? "detached" : "without debugger");
}

void Session::on_process_waits(NodeIndex node, const pm::ProcessWaits& waits) {
    DebuggedTask* task =
        waits.task >= 0 && static_cast<std::size_t>(waits.task) < job_.node_of_task.size()
            ? find(waits.task)
            : nullptr;
    NodeGdb* gdb = task != nullptr ? gdb_of(waits.task) : nullptr;
    if (gdb == nullptr || gdb->gone() || leave_ != Leave::kNo)
        return handlers_.send(pm::ProcessTaken{waits.pid}, node);
    gdb->hand_over(*task, waits.pid, waits.program);
}

void Session::on_task_exit(const pm::TaskExit& exit) {
    const bool known =
        exit.task >= 0 && static_cast<std::size_t>(exit.task) < job_.node_of_task.size();
    NodeGdb* gdb = known ? gdb_of(exit.task) : nullptr;
    if (gdb == nullptr || leave_ == Leave::kDetach) return;
    const bool killed = exit.signal != 0;
    gdb->on_exit(exit.task,
                 killed ? "was killed by " + pm::signal_name(exit.signal)
                        : "ended with code " + std::to_string(exit.code),
                 killed || exit.code != 0);
}

void Session::on_attached() {
    ready_ = true;
    if (!job_.at_start) waits_ = Wait{all_tasks(groups_->tasks()), "", false, now_};
    show_events();
    tell_held();  // there may be no task to debug
}

std::string Session::stop_in_words(NodeIndex node, const DebuggedTask& task) const {
    std::string text;
    switch (task.reason.kind) {
        case StopReason::Kind::kBreakpoint:
        case StopReason::Kind::kWatch:
        case StopReason::Kind::kCatch: {
            const Breakpoint* found =
                const_cast<Session*>(this)->breakpoint_of(node, task.reason.breakpoint);
            if (found != nullptr && found->text == kCatchExit)
                return "exits with a code other than 0";
            if (found != nullptr && found->text.starts_with(kCatchError)) {
                if (!task.error.empty()) return task.error;
                text = "ends the job because of an error";
                break;
            }
            if (found != nullptr) text = found->name();
            if (!task.reason.text.empty()) text += (text.empty() ? "" : ", ") + task.reason.text;
            break;
        }
        case StopReason::Kind::kSignal:
        case StopReason::Kind::kStep:
            text = task.reason.text;
            break;
        case StopReason::Kind::kInterrupt:
        case StopReason::Kind::kOther:
            break;
    }
    const StackFrame frame = frame_of(task.where);
    std::string place = frame.function.empty() ? task.where.text_of("addr") : frame.function;
    if (!frame.place.empty())
        place += " at " + frame.place;
    else if (!frame.library.empty())
        place += " in " + frame.library;
    text = text.empty() ? place : text + ", " + place;
    return task.note.empty() ? text : text + " (" + task.note + ")";
}

void Session::on_stopped(NodeIndex node, DebuggedTask& task) {
    const Breakpoint* found = task.reason.kind == StopReason::Kind::kBreakpoint
                                  ? breakpoint_of(node, task.reason.breakpoint)
                                  : nullptr;
    task.stack.reset();
    if (task.begins && !stops_at_programs_)
        return gdb_of(task.task)->resume(task, "-exec-continue");
    if (found != nullptr && found->text.starts_with(kCatchError) &&
        task.where.text_of("func").find("call_fails") != std::string::npos)
        ask_for_error(node, task);
    else
        add_event(Report::Kind::kStop, task.task, stop_in_words(node, task), &task.where);
    if (found != nullptr && found->traces)
        gdbs_.by_node[static_cast<std::size_t>(node)]->resume(task, "-exec-continue");
    else if (waits_ && waits_->tasks.contains(task.task))
        waits_->any_stopped = true;
    tell_held();
}

// The stop is reported when its message is known, which comm/bootstrap/call_error.cpp keeps.
void Session::ask_for_error(NodeIndex node, DebuggedTask& task) {
    ++events_.errors_asked;
    gdb_of(task.task)->console(
        task, "with language c++ -- printf \"%s\", (char*)&'poe::comm::last_error_text'",
        [this, node, &task](const GdbAnswer& answer) {
            --events_.errors_asked;
            task.error = "a call fails";
            if (answer.ok && !answer.console.empty()) task.error += ": " + answer.console;
            add_event(Report::Kind::kStop, task.task, stop_in_words(node, task), nullptr);
        });
}

void Session::on_ended(DebuggedTask& task) {
    add_event(Report::Kind::kEnd, task.task, task.note, nullptr);
    if (waits_ && waits_->tasks.contains(task.task)) waits_->last_event = now_;
    tell_held();
}

void Session::add_event(Report::Kind kind, TaskId task, const std::string& text,
                        const MiValue* where) {
    Event event{kind, task, text, "", 0, ""};
    if (where != nullptr) {
        event.file = where->text_of("fullname");
        event.line = std::atoi(where->text_of("line").c_str());
    }
    events_.all.push_back(std::move(event));
    events_.due = now_ + kEventTime;
    if (waits_) waits_->last_event = now_;
}

void Session::show_events() {
    events_.due.reset();
    const std::vector<Event> events = std::exchange(events_.all, {});
    for (const Report::Kind kind :
         {Report::Kind::kError, Report::Kind::kStop, Report::Kind::kEnd}) {
        // A task may have several events, so each has a report of its own.
        std::vector<Event> rest;
        for (const Event& event : events)
            if (event.kind == kind) rest.push_back(event);
        while (!rest.empty()) {
            Report report;
            report.kind = kind;
            report.command = rest.front().command;
            Answers answers;
            TaskSet seen;
            std::vector<Event> shown;
            std::vector<Event> later;
            for (Event& event : rest) {
                const bool first = seen.insert(event.task).second;
                if (first) answers.emplace_back(event.task, event.text);
                (first ? shown : later).push_back(std::move(event));
            }
            report.answers = fold(answers);
            std::vector<std::pair<std::string, int>> places;
            for (const Event& event : shown)
                if (!event.file.empty()) places.emplace_back(event.file, event.line);
            std::sort(places.begin(), places.end());
            places.erase(std::unique(places.begin(), places.end()), places.end());
            if (places.size() <= kShownSourceLines)
                for (const auto& [file, line] : places)
                    if (const std::string text = source_line(file, line); !text.empty())
                        report.lines.push_back(text);
            show(std::move(report));
            rest = std::move(later);
        }
    }
}

// While a task is stopped, the job's time limits stand still.
void Session::tell_held() {
    const bool held = !tasks_that([](const DebuggedTask& task) {
                           return task.stopped || task.life == Life::kStarting;
                       }).empty();
    if (held == held_ || leave_ != Leave::kNo || !ready_) return;
    held_ = held;
    handlers_.send(pm::TasksHeld{held}, pm::kAllNodes);
}

// gdb 13 may forget to stop a thread that makes another thread at that moment, and the new one.
void Session::check_stops() {
    const TaskSet stopping = tasks_that([](const DebuggedTask& task) {
        return task.life == Life::kAlive && task.stop_requested && !task.stopped;
    });
    if (stops_due_ && now_ >= *stops_due_) {
        stops_due_.reset();
        for (const TaskId task : stopping) gdb_of(task)->interrupt(*find(task));
    }
    if (stopping.empty())
        stops_due_.reset();
    else if (!stops_due_)
        stops_due_ = now_ + kStopAgain;
}

// Ends the wait of a command when there is nothing left to wait for.
void Session::check_wait() {
    check_stops();
    if (!waits_ || operation_ || events_.errors_asked > 0) return;
    const bool all = std::none_of(waits_->tasks.begin(), waits_->tasks.end(), [this](TaskId task) {
        const DebuggedTask* each = find(task);
        return each != nullptr && each->life != Life::kEnded && each->life != Life::kLost &&
               !each->stopped;
    });
    if (!all && !(waits_->any_stopped && now_ >= waits_->last_event + kQuietTime)) return;
    show_events();
    waits_.reset();
}

std::optional<Session::Time> Session::deadline() const {
    std::optional<Time> first = events_.due;
    const auto add = [&first](Time time) { first = first ? std::min(*first, time) : time; };
    if (waits_ && waits_->any_stopped) add(waits_->last_event + kQuietTime);
    if (asked_) add(asked_->limit);
    if (interrupt_due_) add(*interrupt_due_);
    if (stops_due_) add(*stops_due_);
    return first;
}

void Session::tick(Time now) {
    now_ = now;
    if (ready_ && events_.due && now >= *events_.due) show_events();
    if (asked_ && now >= asked_->limit) show_waits();
    if (interrupt_due_ && now >= *interrupt_due_) interrupt_again();
    check_wait();
}

void Session::interrupt(Time now) {
    now_ = now;
    typed_.sourced.clear();
    if (!groups_) return;
    if (operation_) return interrupt_operation();
    const auto group = groups_->find(group_);
    TaskSet tasks = waits_ ? waits_->tasks : group ? group.value() : TaskSet();
    for (const TaskId task : tasks)
        if (DebuggedTask* each = find(task)) gdb_of(task)->interrupt(*each);
    if (waits_) {
        waits_->any_stopped = true;
        waits_->last_event = now_;
    }
    check_stops();
}

// A function of the program that gdb executes may never return, and other commands of gdb may take
// long.
void Session::interrupt_operation() {
    for (std::size_t node = 0; node < gdbs_.by_node.size(); ++node) {
        if (!gdbs_.by_node[node] || gdbs_.by_node[node]->outstanding() == 0) continue;
        const int pid = operation_->interrupted ? 0 : gdbs_.by_node[node]->executing_for();
        handlers_.send(pm::InterruptCommand{pid}, static_cast<NodeIndex>(node));
    }
    if (!std::exchange(operation_->interrupted, true)) {
        interrupted_.push_back(operation_);
        interrupt_due_ = now_ + kInterruptAgain;
        Report report;
        report.kind = Report::Kind::kNotice;
        report.lines.emplace_back("interrupting gdb; Ctrl-C again abandons the command");
        return show(std::move(report));
    }
    operation_.reset();
    fail("abandoned; gdb may still execute it, and answers later");
}

void Session::detach() {
    leave_ = Leave::kDetach;
    handlers_.send(pm::TasksHeld{false}, pm::kAllNodes);
    handlers_.send(pm::EndDebugger{}, pm::kAllNodes);
}

std::string Session::prompt() const {
    if (!groups_) return "pdbx> ";
    const auto tasks = groups_->find(group_);
    const std::size_t count = tasks ? tasks.value().size() : 0;
    const std::size_t stopped = tasks ? stopped_of(tasks.value()).size() : 0;
    return "pdbx " + group_ + " " + std::to_string(stopped) + "/" + std::to_string(count) + "> ";
}

std::vector<std::string> Session::completions(const std::string& word, bool first_word) const {
    std::vector<std::string> names;
    if (first_word)
        for (const CommandName& command : command_names()) names.emplace_back(command.name);
    else if (groups_)
        names = groups_->names();
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(word); });
    return names;
}

}  // namespace poe::debugger
