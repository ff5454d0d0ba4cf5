// How gdb gets its tasks: attaching, core files, programs of a script, and the way to main; see
// node_gdb.hpp.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/parse.hpp"
#include "debugger/attach_trouble.hpp"
#include "debugger/node_gdb.hpp"

namespace poe::debugger {

namespace {

using Life = DebuggedTask::Life;

// gfortran's main program.
constexpr const char* kFortranMain = "MAIN__";

}  // namespace

void NodeGdb::attach(std::vector<DebuggedTask> tasks, bool at_start) {
    tasks_ = std::move(tasks);
    set_up();
    // The signal that holds the tasks before their first instruction is not theirs.
    if (at_start) command("-interpreter-exec console \"handle SIGSTOP nostop noprint nopass\"");
    const std::size_t count = tasks_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count;
        command("-target-attach --thread-group " + tasks_[i].group() + " " +
                    std::to_string(tasks_[i].pid),
                [this, i, last, at_start](const GdbAnswer& answer) {
                    DebuggedTask& task = tasks_[i];
                    if (!answer.ok) {
                        lose(task, answer);
                    } else if (task.life == Life::kAttaching) {
                        task.life = at_start ? Life::kStarting : Life::kAlive;
                        if (task.all_threads_stopped()) check_stopped(task);
                    }
                    if (last && at_start) begin_attached();
                    check_attached();
                });
    }
    check_attached();
}

// If the kernel forbids to attach, the node's gdb says how far it does so, because pdbx may run
// elsewhere.
void NodeGdb::lose(DebuggedTask& task, const GdbAnswer& answer) {
    const auto give_up = [this, &task, answer](const std::string& scope) {
        if (task.life == Life::kEnded || task.life == Life::kLost) return;  // its end is known
        task.life = Life::kLost;
        task.note = attach_trouble(answer.error, answer.log, scope);
        handlers_.on_ended(task);
        check_attached();
    };
    if (!is_forbidden(answer.error)) return give_up("");
    const std::string read = "python print(open('" + std::string(kPtraceScope) + "').read())";
    command("-interpreter-exec console " + mi_quoted(read),
            [give_up](const GdbAnswer& scope) { give_up(scope.ok ? scope.console : ""); });
}

void NodeGdb::hand_over(DebuggedTask& task, int pid, const std::string& program) {
    if (gone_ || task.pid == pid) return;
    if (task.life != Life::kEnded && task.life != Life::kLost && task.life != Life::kScript)
        command("-target-detach " + task.group());
    const int inferior = task.inferior;
    const TaskId number = task.task;
    task = {};
    task.task = number;
    task.inferior = inferior;
    task.pid = pid;
    task.handed_over = true;
    // Without the right program, gdb would insert breakpoints at wrong addresses while it attaches.
    command("-file-exec-and-symbols --thread-group " + task.group() + " " + mi_quoted(program));
    command("-target-attach --thread-group " + task.group() + " " + std::to_string(pid),
            [this, &task, pid](const GdbAnswer& answer) {
                if (task.pid != pid) return;
                handlers_.on_taken(pid);
                if (!answer.ok) return lose(task, answer);
                task.life = Life::kStarting;
                if (task.all_threads_stopped()) check_stopped(task);
            });
}

// If the main program runs already, as that of Python does which loads the library later, the task
// stays where it is.
void NodeGdb::look_for_main(DebuggedTask& task) {
    command("-stack-list-frames --thread " + std::to_string(task.thread),
            [this, &task](const GdbAnswer& answer) {
                const MiValue* frames = answer.results.find("stack");
                bool in_main = false;
                if (frames != nullptr)
                    for (const auto& frame : frames->items) {
                        const std::string& function = frame.second.text_of("func");
                        in_main = in_main || function == "main" || function == kFortranMain ||
                                  function.starts_with("__libc_start");
                    }
                if (in_main) {
                    task.note = "a script has started it, and it has loaded the library";
                    return started(task);
                }
                insert_start_breakpoints(&task, [this, &task] { start_handed_over(task); });
            });
}

void NodeGdb::start_handed_over(DebuggedTask& task) {
    task.going = true;
    if (has_main(task)) return command("-exec-continue --thread-group " + task.group());
    task.note = "no symbols: stopped before its main program";
    started(task);
}

void NodeGdb::open_cores(std::vector<DebuggedTask> tasks, const std::vector<CoreFile>& cores) {
    tasks_ = std::move(tasks);
    set_up();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        const std::string whom = " --thread-group " + tasks_[i].group() + " ";
        command("-file-exec-and-symbols" + whom + mi_quoted(cores[i].program));
        command(
            "-target-select" + whom + "core " + cores[i].file,  // taken as it is, also with blanks
            [this, i](const GdbAnswer& answer) {
                on_core(tasks_[i], answer);
                check_attached();
            });
    }
}

void NodeGdb::on_core(DebuggedTask& task, const GdbAnswer& answer) {
    if (!answer.ok) {
        task.life = Life::kLost;
        task.note = answer.error;
        return handlers_.on_ended(task);
    }
    task.life = Life::kAlive;
    task.stopped = task.failed = true;
    for (auto& each : task.threads) each.second = false;
    if (const MiValue* frame = answer.results.find("frame")) task.where = *frame;
    // gdb says "Program terminated with signal SIGSEGV, Segmentation fault."
    constexpr std::string_view kSignal = "terminated with signal ";
    const std::size_t at = answer.console.find(kSignal);
    if (at != std::string::npos) {
        std::string text = answer.console.substr(at + kSignal.size());
        text.resize(std::min(text.size(), text.find('.')));
        const std::size_t comma = text.find(", ");
        task.reason.kind = StopReason::Kind::kSignal;
        task.reason.text = comma == std::string::npos
                               ? text
                               : text.substr(0, comma) + " (" + text.substr(comma + 2) + ")";
    }
    handlers_.on_stopped(task);
}

void NodeGdb::check_attached() {
    const bool is_pending = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
        return task.life == Life::kAttaching || task.life == Life::kStarting;
    });
    if (attached_ || is_pending) return;
    attached_ = true;
    for (const StartBreakpoint& each : start_breakpoints_) command(delete_command(each));
    start_breakpoints_.clear();
    handlers_.on_attached();
}

// All tasks that could be attached are at their first instruction.
void NodeGdb::begin_attached() {
    if (std::none_of(tasks_.begin(), tasks_.end(),
                     [](const auto& task) { return task.life == Life::kStarting; }))
        return;
    insert_start_breakpoints(nullptr, [this] {
        can_start_ = true;
        for (DebuggedTask& task : tasks_) go_to_main(task);
    });
}

bool NodeGdb::has_main(const DebuggedTask& task) const {
    return std::any_of(start_breakpoints_.begin(), start_breakpoints_.end(),
                       [&](const StartBreakpoint& each) { return each.is_in(task.group()); });
}

// The stop of the attachment may be reported before or after the breakpoints have been set. A
// program without symbols has no main, and stays where it is.
void NodeGdb::go_to_main(DebuggedTask& task) {
    if (task.life != Life::kStarting || !task.held || !can_start_ || task.going) return;
    task.going = true;
    if (has_main(task)) return command("-exec-continue --thread-group " + task.group());
    task.note = "no symbols: stopped at its first instruction";
    started(task);
}

// `only`: the breakpoints are for this task alone. `done` is called when gdb has made all that it
// can.
void NodeGdb::insert_start_breakpoints(const DebuggedTask* only,
                                       const std::function<void()>& done) {
    insert_start_breakpoint(kFortranMain, only,
                            [=, this] { insert_start_breakpoint("main", only, done); });
}

void NodeGdb::insert_start_breakpoint(const std::string& function, const DebuggedTask* only,
                                      const std::function<void()>& done) {
    const int thread = only != nullptr ? only->thread : 0;
    const std::string group = only != nullptr ? only->group() : "";
    const auto keep = [this, group, done](std::optional<StartBreakpoint> made) {
        if (made && !group.empty())
            std::erase_if(made->groups, [&](const std::string& each) { return each != group; });
        if (made) start_breakpoints_.push_back(std::move(*made));
        done();
    };
    command(internal_breakpoint_command(function, thread), [=, this](const GdbAnswer& answer) {
        if (answer.ok) return keep(internal_breakpoint_of(answer.console));
        command(ordinary_breakpoint_command(function, thread), [keep](const GdbAnswer& ordinary) {
            keep(ordinary.ok ? ordinary_breakpoint_of(ordinary.results) : std::nullopt);
        });
    });
}

void NodeGdb::on_start_stop(DebuggedTask& task) {
    task.stopped = false;
    if (!task.going) {
        task.held = true;
        if (task.handed_over) return look_for_main(task);
        return go_to_main(task);
    }
    const auto found = std::find_if(
        start_breakpoints_.begin(), start_breakpoints_.end(),
        [&](const StartBreakpoint& each) { return each.number == task.reason.breakpoint; });
    if (task.reason.kind == StopReason::Kind::kBreakpoint && found != start_breakpoints_.end()) {
        // A Fortran program has both. Its own begins at MAIN__, whose breakpoint was made first.
        const bool is_first =
            std::none_of(start_breakpoints_.begin(), found,
                         [&](const StartBreakpoint& each) { return each.is_in(task.group()); });
        if (is_first) return started(task);
    } else if (task.reason.kind == StopReason::Kind::kSignal) {
        return started(task);
    }
    task.reason = {};
    command("-exec-continue --thread-group " + task.group());
}

void NodeGdb::started(DebuggedTask& task) {
    std::erase_if(start_breakpoints_, [&](const StartBreakpoint& each) {
        const bool is_own = task.handed_over && each.groups.size() == 1 && each.is_in(task.group());
        if (is_own) command(delete_command(each));
        return is_own;
    });
    task.life = Life::kAlive;
    task.stopped = true;
    task.begins = task.handed_over;
    handlers_.on_stopped(task);
    check_attached();
}

void NodeGdb::resume(DebuggedTask& task, const std::string& how,
                     std::function<void(const std::string&)> on_error) {
    task.stopped = false;
    task.stop_requested = false;
    task.resumed = true;
    const std::string selected = " --thread " + std::to_string(task.thread) +
                                 (task.frame > 0 ? " --frame " + std::to_string(task.frame) : "");
    task.select(task.thread, 0);
    task.reason = {};
    task.stack.reset();
    task.note.clear();
    task.error.clear();
    task.begins = false;
    const bool alone = task.threads.size() <= 1;
    if (how == "-exec-continue" || alone) {
        const std::string whom =
            how == "-exec-continue" ? " --thread-group " + task.group() : selected;
        const std::size_t blank = how.find(' ');
        command(how.substr(0, blank) + whom + (blank == std::string::npos ? "" : how.substr(blank)),
                [this, &task, on_error](const GdbAnswer& answer) {
                    if (answer.ok) return;
                    task.stopped = true;
                    if (on_error) on_error(answer.error);
                });
        return;
    }
    // The other threads first, because the selected one may wait for them.
    for (const auto& [thread, runs] : task.threads)
        if (thread != task.thread && !runs)
            command("-exec-continue --thread " + std::to_string(thread));
    const std::size_t blank = how.find(' ');
    command(how.substr(0, blank) + selected + (blank == std::string::npos ? "" : how.substr(blank)),
            [this, &task, on_error](const GdbAnswer& answer) {
                if (answer.ok) return;
                interrupt(task);
                if (on_error) on_error(answer.error);
            });
}

}  // namespace poe::debugger
