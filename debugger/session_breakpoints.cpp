// Breakpoints, watchpoints and catchpoints. gdb has breakpoints for all inferiors or for one
// thread, and none for some inferiors. A breakpoint of some tasks therefore has a condition on the
// number of the inferior, and is set on the nodes of these tasks only.
#include <algorithm>

#include "base/parse.hpp"
#include "debugger/session.hpp"

namespace poe::debugger {

namespace {

// Splits "PLACE if CONDITION".
std::pair<std::string, std::string> split_condition(const std::string& arguments) {
    std::size_t at = arguments.starts_with("if ") ? 0 : arguments.find(" if ");
    if (at == std::string::npos) return {arguments, ""};
    std::string place = arguments.substr(0, at);
    while (!place.empty() && place.back() == ' ') place.pop_back();
    return {place, arguments.substr(at + (at == 0 ? 3 : 4))};
}

TaskSet tasks_of(NodeGdb& gdb) {
    TaskSet tasks;
    for (const DebuggedTask& task : gdb.tasks()) tasks.insert(task.task);
    return tasks;
}

std::string inferior_is(int inferior) {
    return "$_inferior == " + std::to_string(inferior);
}

}  // namespace

// An expression of gdb that is the number of the task, from the number of its inferior.
std::string Session::task_expression(NodeIndex node) {
    const std::vector<DebuggedTask>& tasks = gdbs_.by_node[static_cast<std::size_t>(node)]->tasks();
    if (tasks.empty()) return "-1";
    const TaskId first = tasks.front().task;
    const TaskId stride = tasks.size() > 1 ? tasks[1].task - first : 1;
    bool regular = true;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        regular = regular && tasks[i].task == first + static_cast<TaskId>(i) * stride;
    if (regular)
        return "(" + std::to_string(first) + " + ($_inferior - 1) * " + std::to_string(stride) +
               ")";
    std::string text = std::to_string(tasks.back().task);
    for (std::size_t i = tasks.size() - 1; i-- > 0;)
        text = "(" + inferior_is(static_cast<int>(i) + 1) + " ? " + std::to_string(tasks[i].task) +
               " : " + text + ")";
    return text;
}

// The condition of a breakpoint of these tasks on this node. Empty: there is none.
std::string Session::condition_for(NodeIndex node, const TaskSet& tasks,
                                   const std::string& condition) {
    std::string group;
    bool all = true;
    for (const DebuggedTask& task : gdbs_.by_node[static_cast<std::size_t>(node)]->tasks()) {
        if (!tasks.contains(task.task)) {
            all = false;
            continue;
        }
        if (!group.empty()) group += " || ";
        group += inferior_is(task.inferior);
    }
    const std::string own =
        condition.empty() ? "" : "(" + with_task(condition, task_expression(node)) + ")";
    if (all) return own;
    return own.empty() ? group : "(" + group + ") && " + own;
}

// The option of -break-insert for it; empty if there is no condition.
std::string Session::condition_option(NodeIndex node, const TaskSet& tasks,
                                      const std::string& condition) {
    const std::string on = condition_for(node, tasks, condition);
    return on.empty() ? on : "-c " + mi_quoted(on) + " ";
}

Session::Breakpoint* Session::breakpoint_of(NodeIndex node, int gdb_number) {
    for (Breakpoint& each : breakpoints_.all)
        for (const auto& [on, number] : each.of_gdbs)
            if (on == node && number == gdb_number) return &each;
    return nullptr;
}

Session::Breakpoint* Session::breakpoint_of(int number) {
    for (Breakpoint& each : breakpoints_.all)
        if (each.number == number) return &each;
    return nullptr;
}

// Begins an operation that makes the breakpoint. If no gdb has made one, it is forgotten, and the
// next one gets its number.
Session::OperationPtr Session::make_breakpoint(Breakpoint breakpoint) {
    breakpoint.number = breakpoints_.next++;
    const int number = breakpoint.number;
    breakpoints_.all.push_back(std::move(breakpoint));
    return operation([this, number](Operation& done) {
        const Breakpoint* made = breakpoint_of(number);
        if (made != nullptr && !made->of_gdbs.empty()) {
            answer({made->name() + ": " + (made->where.empty() ? made->text : made->where) + ", " +
                    in_words(made->tasks)});
        } else if (made != nullptr) {
            std::erase_if(breakpoints_.all,
                          [&](const Breakpoint& b) { return b.number == number; });
            if (number + 1 == breakpoints_.next) --breakpoints_.next;
        }
        if (!done.errors.empty()) show_answers(done);
    });
}

// gdb has made a breakpoint. The command may have been abandoned, and the breakpoint removed before
// gdb has answered; then gdb removes it, too.
void Session::record_breakpoint(NodeIndex node, int number, int gdb_number) {
    if (Breakpoint* made = breakpoint_of(number))
        made->of_gdbs.emplace_back(node, gdb_number);
    else
        gdbs_.by_node[static_cast<std::size_t>(node)]->command("-break-delete " +
                                                               std::to_string(gdb_number));
}

// Inserts the breakpoint at all places on each node that has tasks of it, and records what gdb has
// made. A place that gdb does not know may be in a library that is loaded later. A line that a
// known file does not have is a mistake.
void Session::insert_on_nodes(Breakpoint breakpoint,
                              const std::function<std::string(NodeIndex)>& options,
                              const std::vector<std::string>& places) {
    const TaskSet tasks = breakpoint.tasks;
    const OperationPtr all = make_breakpoint(std::move(breakpoint));
    const int number = breakpoints_.all.back().number;
    for (std::size_t index = 0; index < gdbs_.by_node.size(); ++index) {
        NodeGdb* gdb = gdbs_.by_node[index].get();
        const auto node = static_cast<NodeIndex>(index);
        if (gdb == nullptr || gdb->gone()) continue;
        const TaskSet told = intersection(tasks, tasks_of(*gdb));
        if (told.empty()) continue;
        for (const std::string& place : places) {
            const std::string rest = options(node) + mi_quoted(place);
            ++all->outstanding;
            gdb->command("-break-insert " + rest, [=, this](const GdbAnswer& answer) {
                const bool is_missing_line = answer.error.starts_with("No line ") ||
                                             answer.error.starts_with("No compiled code for line ");
                if (answer.ok || is_missing_line)
                    return on_inserted(all, node, number, told, answer);
                gdb->command("-break-insert -f " + rest, [=, this](const GdbAnswer& later) {
                    on_inserted(all, node, number, told, later);
                });
            });
        }
    }
    seal(all);
}

void Session::on_inserted(const OperationPtr& all, NodeIndex node, int number, const TaskSet& told,
                          const GdbAnswer& answer) {
    const MiValue* bkpt = answer.results.find("bkpt");
    Breakpoint* made = breakpoint_of(number);
    if (answer.ok && bkpt != nullptr)
        record_breakpoint(node, number, parse_number<int>(bkpt->text_of("number")).value_or(0));
    if (answer.ok && bkpt != nullptr && made != nullptr) {
        const MiValue* where = bkpt;
        if (const MiValue* locations = bkpt->find("locations"))
            if (!locations->items.empty()) where = &locations->items.front().second;
        const StackFrame frame = frame_of(*where);
        if (made->where.empty() || !made->text.starts_with(kCatchError))
            made->where = bkpt->find("pending") != nullptr
                              ? bkpt->text_of("pending") + " (not loaded yet)"
                          : frame.function.empty() ? ""
                                                   : frame.function + " at " + frame.place;
    } else if (!answer.ok) {
        for (const TaskId task : told) all->errors.emplace_back(task, answer.error);
    }
    finish_one(all);
}

void Session::add_breakpoint(const TaskSet& tasks, const std::string& arguments, bool traces) {
    auto [place, condition] = split_condition(arguments);
    if (place.empty() && traces) return fail("trace needs a place: trace FUNCTION or FILE:LINE");
    if (place.empty()) {  // gdb's default: where the task is
        const TaskSet stopped = stopped_of(tasks);
        if (stopped.empty()) return fail("break needs a place: break FUNCTION or FILE:LINE");
        const MiValue& where = find(*stopped.begin())->where;
        place = where.text_of("fullname").empty()
                    ? "*" + where.text_of("addr")
                    : where.text_of("fullname") + ":" + where.text_of("line");
    }
    Breakpoint breakpoint;
    breakpoint.text = arguments.empty() ? place : arguments;
    breakpoint.tasks = tasks;
    breakpoint.traces = traces;
    if (traces) breakpoint.kind = "tracepoint";
    insert_on_nodes(std::move(breakpoint),
                    [=, this, condition = condition](NodeIndex node) {
                        return condition_option(node, tasks, condition);
                    },
                    {place});
}

void Session::stop_command(const TaskSet& tasks, std::string arguments) {
    const std::string word = take_word(arguments);
    const bool is_complete = !arguments.empty();
    if (is_complete && (word == "at" || word == "in"))
        return add_breakpoint(tasks, arguments, false);
    if (is_complete && word == "if") return add_breakpoint(tasks, "if " + arguments, false);
    fail("stop has the forms stop at LINE, stop in FUNCTION and stop if CONDITION");
}

// A watched variable belongs to one task, so each task gets a watchpoint of its own.
void Session::watch(const TaskSet& tasks, const std::string& expression) {
    if (expression.empty()) return fail("watch needs an expression: watch VARIABLE");
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    Breakpoint breakpoint;
    breakpoint.kind = "watchpoint";
    breakpoint.text = "watch " + expression;
    breakpoint.where = expression;
    breakpoint.tasks = stopped;
    const OperationPtr all = make_breakpoint(std::move(breakpoint));
    const int number = breakpoints_.all.back().number;
    for (const TaskId task : stopped) {
        const NodeIndex node = job_.node_of_task[static_cast<std::size_t>(task)];
        ++all->outstanding;
        gdb_of(task)->command(
            "-break-watch" + NodeGdb::context(*find(task)) + " " +
                mi_quoted(with_task(expression, std::to_string(task))),
            [this, all, node, number, task](const GdbAnswer& answer) {
                if (answer.ok && !answer.results.items.empty())
                    record_breakpoint(
                        node, number,
                        parse_number<int>(answer.results.items.front().second.text_of("number"))
                            .value_or(0));
                else
                    all->errors.emplace_back(task, answer.error);
                finish_one(all);
            });
    }
    seal(all);
}

void Session::catch_command(const TaskSet& tasks, std::string arguments) {
    const std::string whole = arguments;
    const std::string word = take_word(arguments);
    if (word == "deadlock") {
        breakpoints_.catch_deadlock = true;
        return answer({"the tasks of a deadlock are stopped when the deadlock watch finds it"});
    }
    if (word == "exit") {
        Breakpoint breakpoint;
        breakpoint.kind = "catchpoint";
        breakpoint.text = kCatchExit;
        breakpoint.tasks = tasks;
        return insert_on_nodes(
            std::move(breakpoint),
            [=, this](NodeIndex node) { return condition_option(node, tasks, "(int)$rdi != 0"); },
            {"_exit"});
    }
    if (word == "error") return catch_error(tasks, arguments);
    if (word == "call") {
        if (arguments.empty()) return fail("catch call needs a name: catch call MPI_Allreduce");
        return add_breakpoint(tasks, arguments, false);
    }
    if (word.empty())
        return fail(
            "catch has the forms catch signal [NAME], catch call NAME, catch error "
            "[collective|fatal], "
            "catch exit, catch deadlock, and those of gdb (throw, catch, fork, exec, syscall)");
    // The others are commands of gdb's command line. gdb tells their number only in words.
    Breakpoint breakpoint;
    breakpoint.kind = "catchpoint";
    breakpoint.text = "catch " + whole;
    breakpoint.tasks = all_tasks(groups_->tasks());  // gdb has no conditions for it
    const OperationPtr all = make_breakpoint(std::move(breakpoint));
    const int number = breakpoints_.all.back().number;
    for (std::size_t place = 0; place < gdbs_.by_node.size(); ++place) {
        NodeGdb* gdb = gdbs_.by_node[place].get();
        if (gdb == nullptr || gdb->gone() || gdb->tasks().empty()) continue;
        const auto node = static_cast<NodeIndex>(place);
        const TaskSet told = tasks_of(*gdb);
        ++all->outstanding;
        gdb->command("-interpreter-exec console " + mi_quoted("catch " + whole),
                     [this, all, node, number, told](const GdbAnswer& answer) {
                         std::string text = answer.console;
                         while (answer.ok && !text.empty()) {
                             const auto gdb_number = parse_number<int>(take_word(text));
                             if (!gdb_number) continue;
                             record_breakpoint(node, number, *gdb_number);
                             break;
                         }
                         if (!answer.ok)
                             for (const TaskId task : told)
                                 all->errors.emplace_back(task, answer.error);
                         finish_one(all);
                     });
    }
    seal(all);
}

// Calls of POE's library that fail are announced (comm/bootstrap/call_error.hpp). Of another MPI
// library only MPI_Abort is known.
void Session::catch_error(const TaskSet& tasks, const std::string& which) {
    struct Catch {
        std::string_view which;
        std::vector<std::string> places;
    };
    const Catch catches[] = {
        {"",
         {"poe::comm::call_fails", "poe::comm::collective_call_fails", "mpc_stopall", "mp_stopall",
          "MPI_Abort"}},
        {"collective", {"poe::comm::collective_call_fails"}},
        {"fatal", {"poe::comm::Runtime::stop_all", "MPI_Abort"}},
    };
    for (const Catch& each : catches) {
        if (each.which != which) continue;
        Breakpoint breakpoint;
        breakpoint.kind = "catchpoint";
        breakpoint.text = which.empty() ? kCatchError : kCatchError + (" " + which);
        breakpoint.where = breakpoint.text;
        breakpoint.tasks = tasks;
        return insert_on_nodes(
            std::move(breakpoint),
            [=, this](NodeIndex node) { return condition_option(node, tasks, ""); }, each.places);
    }
    fail("catch error has the forms catch error, catch error collective and catch error fatal");
}

void Session::remove_breakpoints(const std::string& arguments) {
    std::vector<int> numbers;
    std::string rest = arguments;
    while (!rest.empty()) {
        const std::string word = take_word(rest);
        const auto number = parse_number<int>(word);
        const bool exists =
            number && std::any_of(breakpoints_.all.begin(), breakpoints_.all.end(),
                                  [&](const Breakpoint& each) { return each.number == *number; });
        if (!exists) return fail("there is no breakpoint " + word);
        numbers.push_back(*number);
    }
    const OperationPtr all = operation([this](Operation& done) {
        if (!done.errors.empty()) show_answers(done);
    });
    for (const Breakpoint& each : breakpoints_.all) {
        if (!numbers.empty() &&
            std::find(numbers.begin(), numbers.end(), each.number) == numbers.end())
            continue;
        for (const auto& [node, gdb_number] : each.of_gdbs) {
            ++all->outstanding;
            gdbs_.by_node[static_cast<std::size_t>(node)]->command(
                "-break-delete " + std::to_string(gdb_number),
                [this, all](const GdbAnswer&) { finish_one(all); });
        }
    }
    std::erase_if(breakpoints_.all, [&](const Breakpoint& each) {
        return numbers.empty() ||
               std::find(numbers.begin(), numbers.end(), each.number) != numbers.end();
    });
    seal(all);
}

void Session::list_breakpoints() {
    std::vector<std::string> lines;
    for (const Breakpoint& each : breakpoints_.all)
        lines.push_back(std::to_string(each.number) + "  " + (each.traces ? "trace " : "") +
                        each.text + (each.where.empty() ? "" : "  (" + each.where + ")") + "  " +
                        in_words(each.tasks));
    if (lines.empty()) lines.emplace_back("there are no breakpoints");
    if (breakpoints_.catch_deadlock) lines.emplace_back("catch deadlock");
    answer(std::move(lines));
}

}  // namespace poe::debugger
