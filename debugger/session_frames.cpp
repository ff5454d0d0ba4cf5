// The commands that select a frame or a thread, and source lines around the selected frame; see
// session.hpp.
#include <algorithm>
#include <cstdlib>

#include "base/parse.hpp"
#include "debugger/session.hpp"

namespace poe::debugger {

namespace {

// As many lines as gdb shows.
constexpr int kLinesBefore = 5;
constexpr int kLinesAfter = 4;
constexpr int kLinesShown = kLinesBefore + 1 + kLinesAfter;

}  // namespace

void Session::select_frame(const TaskSet& tasks, CommandKind kind, const std::string& arguments) {
    const auto number = parse_number<int>(arguments);
    if (!arguments.empty() && (!number || *number < 0))
        return fail("\"" + arguments + "\" is no number of frames; give one from 0 on");
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const OperationPtr all = operation([this](Operation& done) { show_answers(done); });
    for (const TaskId task : stopped) {
        const DebuggedTask& each = *find(task);
        const int steps = number.value_or(1);
        ++all->outstanding;
        if (kind == CommandKind::kUp && !number && each.frame == 0)
            leave_library(all, task);
        else if (kind == CommandKind::kFrame)
            show_frame(all, task, number.value_or(each.frame));
        else if (kind == CommandKind::kDown && each.frame == 0)
            add_error(all, task, "frame 0 is the innermost one");
        else
            show_frame(all, task,
                       std::max(each.frame + (kind == CommandKind::kUp ? steps : -steps), 0));
    }
    seal(all);
}

// From a frame in a library, `up` goes to the program at once, however deep the call is.
void Session::leave_library(const OperationPtr& all, TaskId task) {
    gdb_of(task)->command(
        "-stack-list-frames --thread " + std::to_string(find(task)->thread) + frames_wanted(),
        [this, all, task](const GdbAnswer& answer) {
            const Stack stack = stack_of(answer.results);
            const std::size_t program = innermost_of_program(stack);
            show_frame(all, task,
                       program < stack.size() && program > 0 ? static_cast<int>(program) : 1);
        });
}

// Selects the frame and adds what it is to the answers.
void Session::show_frame(const OperationPtr& all, TaskId task, int wanted) {
    gdb_of(task)->command("-stack-info-frame --thread " + std::to_string(find(task)->thread) +
                              " --frame " + std::to_string(wanted),
                          [this, all, task, wanted](const GdbAnswer& answer) {
                              const MiValue* frame = answer.results.find("frame");
                              if (answer.error.starts_with("Invalid frame id"))
                                  return add_error(all, task,
                                                   "there is no frame " + std::to_string(wanted));
                              std::string text;
                              if (answer.ok && frame != nullptr) {
                                  if (DebuggedTask* moved = find(task))
                                      moved->select(moved->thread, wanted);
                                  const StackFrame shown = frame_of(*frame);
                                  text = "#" + std::to_string(wanted) + " " + shown.function + " " +
                                         (shown.place.empty() ? shown.library : shown.place);
                              }
                              add_answer(all, task, answer, text);
                          });
}

// The threads of a task have numbers from 1 in the order in which they began. "* 1  work at a.c:5": *
// marks the selected one.
void Session::list_threads(const TaskSet& tasks) {
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const OperationPtr all = operation([this](Operation& done) { show_answers(done); });
    for (const TaskId task : stopped) {
        ++all->outstanding;
        const std::string group = "i" + std::to_string(find(task)->inferior);
        gdb_of(task)->command("-list-thread-groups " + group, [=, this](const GdbAnswer& answer) {
            const DebuggedTask& each = *find(task);
            std::map<int, std::string> places;
            if (const MiValue* threads = answer.results.find("threads"))
                for (const auto& item : threads->items) {
                    const MiValue& thread = item.second;
                    const MiValue* at = thread.find("frame");
                    const StackFrame frame = at != nullptr ? frame_of(*at) : StackFrame{};
                    std::string& text = places[parse_number<int>(thread.text_of("id")).value_or(0)];
                    text = frame.function.empty() ? "?" : frame.function;
                    if (!frame.place.empty()) text += " at " + frame.place;
                    if (!frame.library.empty()) text += " in " + frame.library;
                    if (const std::string& name = thread.text_of("name"); !name.empty())
                        text += " (" + name + ")";
                }
            std::string lines;
            int number = 0;
            for (const auto& known : each.threads) {
                lines += lines.empty() ? "" : "\n";
                lines += known.first == each.thread ? "* " : "  ";
                lines += std::to_string(++number) + "  " + places[known.first];
            }
            add_answer(all, task, answer, lines);
        });
    }
    seal(all);
}

void Session::select_thread(const TaskSet& tasks, const std::string& arguments) {
    const auto number = parse_number<std::size_t>(arguments);
    if (!number || *number == 0) return fail("\"" + arguments + "\" is no number of a thread");
    Answers answers;
    Answers errors;
    for (const TaskId task : tasks) {
        DebuggedTask* each = find(task);
        if (each == nullptr || each->threads.empty()) continue;
        if (*number > each->threads.size()) {
            errors.emplace_back(task, "there is no thread " + arguments);
        } else {
            each->select(
                std::next(each->threads.begin(), static_cast<std::ptrdiff_t>(*number) - 1)->first,
                0);
            answers.emplace_back(task, "thread " + arguments);
        }
    }
    Operation done;
    done.answers = std::move(answers);
    done.errors = std::move(errors);
    show_answers(done);
}

// The first `list` after a stop, or after another frame has been selected, shows the lines around
// the place. The next one goes on from there, which gdb does by itself, and `list -` goes back.
// (gdb has one state for that, and would show each task other lines.)
void Session::list_source(const TaskSet& tasks, const std::string& arguments) {
    const TaskSet stopped = stopped_of(tasks);
    if (!note_running(tasks, stopped)) return;
    const OperationPtr all = operation([this](Operation& done) { show_answers(done); });
    for (const TaskId task : stopped) {
        DebuggedTask& each = *find(task);
        ++all->outstanding;
        if (each.listed == 0 && (arguments.empty() || arguments == "-"))
            list_around_frame(all, task);
        else if (arguments != "-")
            show_lines(all, task, "list " + arguments);
        else if (each.listed == 1)
            add_error(all, task, "line 1 has been shown");
        else
            show_lines(all, task,
                       "list " + std::to_string(std::max(each.listed - kLinesShown, 1)) + "," +
                           std::to_string(each.listed - 1));
    }
    seal(all);
}

void Session::list_around_frame(const OperationPtr& all, TaskId task) {
    gdb_of(task)->command(
        "-stack-info-frame" + NodeGdb::context(*find(task)), [=, this](const GdbAnswer& answer) {
            const MiValue* frame = answer.results.find("frame");
            if (!answer.ok || frame == nullptr) return add_answer(all, task, answer, "");
            const int line = parse_number<int>(frame->text_of("line")).value_or(0);
            if (line == 0) {
                const std::string& function = frame->text_of("func");
                return add_error(all, task,
                                 "no source lines are known of " +
                                     (function.empty() ? "this function" : function));
            }
            show_lines(all, task,
                       "list '" + frame->text_of("fullname") +
                           "':" + std::to_string(std::max(line - kLinesBefore, 1)) + "," +
                           std::to_string(line + kLinesAfter));
        });
}

void Session::show_lines(const OperationPtr& all, TaskId task, const std::string& command) {
    gdb_of(task)->console(*find(task), command, [=, this](const GdbAnswer& answer) {
        const int first = std::atoi(answer.console.c_str());
        if (answer.ok && first > 0) find(task)->listed = first;
        add_answer(all, task, answer, without_line_end(answer.console));
    });
}

}  // namespace poe::debugger
