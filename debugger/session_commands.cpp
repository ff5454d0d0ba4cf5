// The commands that ask or move tasks; see session.hpp.
#include <algorithm>
#include <fstream>

#include "base/parse.hpp"
#include "debugger/session.hpp"

namespace poe::debugger {

namespace {

using Kind = CommandKind;
using Life = DebuggedTask::Life;

// Splits "/x n" into the format "/x" and the expression.
std::pair<std::string, std::string> format_of(std::string expression) {
    if (expression.empty() || expression.front() != '/') return {"", expression};
    std::string format = take_word(expression);
    return {format, expression};
}

// Commands of gdb that pdbx does not pass on, with the reason.
struct Refused {
    std::string_view names;  // separated by blanks
    std::string_view reason;
};
constexpr Refused kRefused[] = {
    {"define document if while commands compile guile gu",
     "it reads more lines, which gdb would take from the commands that follow"},
    {"run r start starti attach target kill k checkpoint restart file exec-file core-file",
     "it would end or replace the task, which belongs to poe"},
    {"shell shel she ! pipe pip | edit edi ed make mak",
     "a command of the shell would read what pdbx writes to gdb; use another terminal"},
    {"inferior add-inferior remove-inferiors clone-inferior disconnect",
     "pdbx has one inferior for each task; choose tasks with \"on\" and \"group\""},
    {"tbreak tb hbreak hb thbreak thb rbreak rwatch awatch dprintf clear disable disa dis enable "
     "ena en "
     "condition cond ignore",
     "pdbx has numbers of its own for breakpoints; use break, watch and delete"},
};

// Returns why a command of gdb is not passed on; empty if it is.
std::string_view refusal(std::string command) {
    std::string word = take_word(command);
    if (word.starts_with('!') || word.starts_with('|')) word.resize(1);
    for (const Refused& each : kRefused) {
        std::string names(each.names);
        while (!names.empty())
            if (take_word(names) == word) return each.reason;
    }
    if (command.empty() &&
        (word == "python" || word == "py" || word == "python-interactive" || word == "pi"))
        return kRefused[0].reason;
    if (word == "set")
        for (const char* setting : {"non-stop", "mi-async", "schedule-multiple", "interpreter"})
            if (command.starts_with(setting)) return "pdbx depends on this setting";
    return {};
}

// Commands that make no sense for a core file.
bool needs_process(CommandKind kind) {
    switch (kind) {
        case Kind::kBreak:
        case Kind::kStop:
        case Kind::kTrace:
        case Kind::kWatch:
        case Kind::kCatch:
        case Kind::kContinue:
        case Kind::kStep:
        case Kind::kNext:
        case Kind::kStepInstruction:
        case Kind::kNextInstruction:
        case Kind::kFinish:
        case Kind::kUntil:
        case Kind::kHalt:
        case Kind::kWhy:
        case Kind::kMessages:
            return true;
        default:
            return false;
    }
}

}  // namespace

void Session::execute(const std::string& line, Time now) {
    now_ = now;
    std::string text = line;
    if (text.find_first_not_of(" \t") == std::string::npos) text = typed_.last;
    const std::optional<CommandLine> command = parse_command(text);
    if (!command) return;
    typed_.last = repetition(text, *command);
    typed_.line = text;
    const auto tasks = groups_->find(group_);
    if (!tasks) {  // the group was predefined by `why`, and does not exist any more
        group_ = "all";
        return fail(tasks.error().str() + "; the current group is now all");
    }
    run(*command, tasks.value());
    check_wait();
}

void Session::run(const CommandLine& command, const TaskSet& tasks) {
    context_ = tasks;
    if (cores_ && needs_process(command.kind))
        return fail(std::string(command.name) + " needs a running job; these are core files");
    const std::string& arguments = command.arguments;
    if (!arguments.empty() && takes_nothing(command.kind))
        return fail(command.name + " takes no argument; \"" + arguments + "\" is one");
    switch (command.kind) {
        case Kind::kGroup:
            return on_group_command(arguments);
        case Kind::kOn:
            return on_on_command(arguments);
        case Kind::kTasks:
            return list_tasks(tasks);
        case Kind::kBreak:
            return add_breakpoint(tasks, arguments, false);
        case Kind::kStop:
            return stop_command(tasks, arguments);
        case Kind::kTrace:
            return add_breakpoint(tasks, arguments, true);
        case Kind::kWatch:
            return watch(tasks, arguments);
        case Kind::kCatch:
            return catch_command(tasks, arguments);
        case Kind::kDelete:
            return remove_breakpoints(arguments);
        case Kind::kBreakpoints:
            return list_breakpoints();
        case Kind::kContinue:
            return resume(tasks, "-exec-continue", command.background);
        case Kind::kStep:
            return resume(tasks, "-exec-step " + arguments, command.background);
        case Kind::kNext:
            return resume(tasks, "-exec-next " + arguments, command.background);
        case Kind::kStepInstruction:
            return resume(tasks, "-exec-step-instruction " + arguments, command.background);
        case Kind::kNextInstruction:
            return resume(tasks, "-exec-next-instruction " + arguments, command.background);
        case Kind::kFinish:
            return resume(tasks, "-exec-finish", command.background);
        case Kind::kUntil:
            // gdb would not read other commands while it executes -exec-until.
            return resume(tasks,
                          "-interpreter-exec console " + mi_quoted("until " + arguments + " &"),
                          command.background);
        case Kind::kHalt: {
            for (const TaskId task : tasks)
                if (DebuggedTask* each = find(task); each != nullptr && each->runs())
                    gdb_of(task)->interrupt(*each);
            if (!command.background) waits_ = Wait{tasks, typed_.line, true, now_};
            return;
        }
        case Kind::kWhere:
            if (!arguments.empty() && arguments != "full")
                return fail("where has the forms where and where full");
            return where(tasks, arguments == "full");
        case Kind::kPrint:
            return print(tasks, arguments, false);
        case Kind::kValues:
            return print(tasks, arguments, true);
        case Kind::kList:
            return list_source(tasks, arguments);
        case Kind::kUp:
        case Kind::kDown:
        case Kind::kFrame:
            return select_frame(tasks, command.kind, arguments);
        case Kind::kThread:
            if (arguments.empty() || command.name != "thread") return list_threads(tasks);
            return select_thread(tasks, arguments);
        case Kind::kWhy:
            return why(tasks, false);
        case Kind::kMessages:
            return why(tasks, true);
        case Kind::kSource:
            return source(arguments);
        case Kind::kDetach:
            return detach();
        case Kind::kQuit:
            leave_ = Leave::kQuit;
            return;
        case Kind::kHelp: {
            std::vector<std::string> lines = help_lines(arguments);
            if (lines.empty())
                lines.push_back("pdbx has no command \"" + arguments +
                                "\"; gdb may have one, such as info, x and ptype");
            return answer(std::move(lines));
        }
        case Kind::kGdb:
            return pass_to_gdb(tasks, command.name);
    }
}

void Session::on_on_command(std::string arguments) {
    const std::string name = take_word(arguments);
    if (name.empty()) return fail("on needs a group or tasks: on GROUP|TASKS [COMMAND]");
    const auto tasks = groups_->find(name);
    if (!tasks) return fail(tasks.error().str());
    if (arguments.empty()) {
        group_ = name;
        return;
    }
    if (tasks.value().empty()) return fail("no task is in the group " + name);
    if (const auto command = parse_command(arguments)) run(*command, tasks.value());
}

void Session::on_group_command(std::string arguments) {
    const std::string action = take_word(arguments);
    const std::string name = take_word(arguments);
    const auto matches = [&action](std::string_view word) {
        return !action.empty() && word.starts_with(action);
    };
    if (action.empty() || matches("list")) {
        std::vector<std::string> lines;
        for (const Groups::Group& group : groups_->list()) {
            std::string line = group.name;
            line.resize(std::max<std::size_t>(line.size() + 1, 16), ' ');
            lines.push_back(line + (group.tasks.empty() ? "-" : in_ranges(group.tasks)));
        }
        return answer(std::move(lines));
    }
    if (name.empty())
        return fail(
            "group needs a name: group add NAME TASKS, group delete NAME [TASKS], "
            "group change NAME NEW_NAME, group list");
    if (matches("change") || matches("rename")) {
        const auto changed = groups_->rename(name, take_word(arguments));
        if (!changed) return fail(changed.error().str());
        return;
    }
    TaskSet tasks;
    const bool has_tasks = !arguments.empty();
    while (!arguments.empty()) {
        const auto more = groups_->find(take_word(arguments));
        if (!more) return fail(more.error().str());
        tasks.insert(more.value().begin(), more.value().end());
    }
    if (matches("add")) {
        if (!has_tasks) return fail("group add needs tasks: group add " + name + " 0-3,7");
        const auto added = groups_->add(name, tasks);
        if (!added) return fail(added.error().str());
        return answer({name + ": " + in_words(added.value())});
    }
    if (matches("delete")) {
        const auto rest = groups_->remove(name, has_tasks ? &tasks : nullptr);
        if (!rest) return fail(rest.error().str());
        if (rest.value().empty() && group_ == name) group_ = "all";
        return;
    }
    fail("group has the actions add, delete, change and list, not \"" + action + "\"");
}

void Session::list_tasks(const TaskSet& tasks) {
    Answers answers;
    for (const TaskId task : tasks) {
        const DebuggedTask* each = find(task);
        std::string text = "not debugged";
        if (each != nullptr) {
            switch (each->life) {
                case Life::kAttaching:
                case Life::kStarting:
                    text = "starting";
                    break;
                case Life::kAlive:
                    text = each->stopped
                               ? "stopped: " +
                                     stop_in_words(
                                         job_.node_of_task[static_cast<std::size_t>(task)], *each)
                               : "running";
                    break;
                case Life::kScript:
                case Life::kEnded:
                case Life::kLost:
                    text = each->note;
                    break;
            }
        }
        answers.emplace_back(task, text);
    }
    Report report;
    report.command = typed_.line;
    report.answers = fold(answers);
    show(std::move(report));
}

// Tells which tasks the command leaves out because they run, with the consequence `so`. Returns
// false, with an error, if these are all.
bool Session::note_running(const TaskSet& tasks, const TaskSet& stopped, const std::string& so) {
    if (stopped.empty()) {
        const TaskSet running = intersection(tasks, groups_->find("running").value());
        fail(running.empty() ? "no task of the group can be debugged any more"
                             : in_words(running) + (running.size() == 1 ? " runs" : " run") +
                                   "; stop them first (halt, or Ctrl-C)");
        return false;
    }
    const TaskSet running =
        intersection(difference(tasks, stopped), groups_->find("running").value());
    if (!running.empty()) {
        Report report;
        report.kind = Report::Kind::kNotice;
        report.lines.push_back(in_words(running) + (running.size() == 1 ? " runs" : " run") + so);
        show(std::move(report));
    }
    return true;
}

void Session::resume(const TaskSet& tasks, const std::string& how, bool background) {
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped, " already")) return;
    if (!background) waits_ = Wait{stopped, typed_.line, false, now_};
    std::string words = how;
    while (words.ends_with(' ')) words.pop_back();
    for (const TaskId task : stopped) {
        const std::string line = typed_.line;
        gdb_of(task)->resume(*find(task), words, [this, task, line](const std::string& error) {
            add_event(Report::Kind::kError, task, error, nullptr);
            events_.all.back().command = line;
        });
    }
    tell_held();
}

void Session::where(const TaskSet& tasks, bool full) {
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const OperationPtr all = operation([this, full](Operation& done) {
        for (auto& [task, stack] : done.stacks)
            if (!full) stack = without_library_frames(stack);
        Report report;
        report.command = typed_.line;
        report.lines = lines_of(merge(done.stacks));
        if (!report.lines.empty()) show(std::move(report));
        if (!done.errors.empty()) show_answers(done);
    });
    ask_for_stacks(all, stopped);
    seal(all);
}

void Session::ask_for_stacks(const OperationPtr& all, const TaskSet& tasks) {
    for (const TaskId task : tasks) {
        ++all->outstanding;
        gdb_of(task)->command(
            "-stack-list-frames --thread " + std::to_string(find(task)->thread) + frames_wanted(),
            [this, all, task](const GdbAnswer& answer) {
                Stack stack = stack_of(answer.results);
                if (answer.ok)
                    all->stacks.emplace_back(task, std::move(stack));
                else
                    all->errors.emplace_back(task, answer.error);
                finish_one(all);
            });
    }
}

void Session::print(const TaskSet& tasks, const std::string& expression, bool values) {
    if (expression.empty()) return fail("an expression is missing: print EXPRESSION");
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const auto [format, what] = format_of(expression);
    const OperationPtr all = operation([this, values](Operation& done) {
        if (!values) return show_answers(done);
        Report report;
        report.command = typed_.line;
        report.lines = lines_of(summarize(done.answers));
        if (!done.answers.empty()) show(std::move(report));
        done.answers.clear();
        if (!done.errors.empty()) show_answers(done);
    });
    for (const TaskId task : stopped)
        send_command(all, task, "output" + format + " " + with_task(what, std::to_string(task)));
    seal(all);
}

void Session::pass_to_gdb(const TaskSet& tasks, const std::string& command) {
    if (const std::string_view reason = refusal(command); !reason.empty())
        return fail("this command is not passed to gdb: " + std::string(reason));
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const OperationPtr all = operation([this](Operation& done) {
        std::erase_if(done.answers, [](const auto& answer) { return answer.second.empty(); });
        if (!done.answers.empty() || !done.errors.empty()) show_answers(done);
    });
    for (const TaskId task : stopped)
        send_command(all, task, with_task(command, std::to_string(task)));
    seal(all);
}

void Session::source(const std::string& file) {
    std::ifstream in(file);
    if (!in) return fail("cannot read the file \"" + file + "\"");
    std::deque<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    if (in.bad()) return fail("cannot read the file \"" + file + "\"");
    typed_.sourced.insert(typed_.sourced.begin(), lines.begin(), lines.end());
}

}  // namespace poe::debugger
