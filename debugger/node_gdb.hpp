// NodeGdb: the gdb of one node as pdbx knows it. It writes commands with tokens, all at once,
// assigns the answers to them, and follows what gdb reports about the node's tasks. Task t of the
// node is inferior t's place + 1. No input or output of its own: bytes are given and taken.
//
// gdb runs in its non-stop mode, because tasks stop and continue independently. A user however
// expects that a task stops as a whole, so when one thread of a task stops, its other threads are
// interrupted, and the stop is reported when the last one has stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "debugger/core_files.hpp"
#include "debugger/mi_record.hpp"
#include "debugger/stack_tree.hpp"
#include "debugger/start_breakpoint.hpp"

namespace poe::debugger {

// Why a task has stopped.
struct StopReason {
    enum class Kind { kOther, kBreakpoint, kStep, kSignal, kInterrupt, kWatch, kCatch };
    Kind kind = Kind::kOther;
    int breakpoint = 0;  // gdb's number; 0: none
    std::string text;    // "SIGSEGV (Segmentation fault)"; "x: 1 -> 2" of a watchpoint
};

struct DebuggedTask {
    enum class Life {
        kAttaching,  // gdb does not have it yet
        kStarting,   // it is on its way to main
        kAlive,
        kScript,  // a program of its script has ended, and the script runs without debugger
        kEnded,
        kLost,  // gdb cannot attach, or has died
    };
    TaskId task = 0;
    int pid = 0;
    int inferior = 0;  // gdb's number
    Life life = Life::kAttaching;
    std::map<int, bool> threads;  // by gdb's number; true: it runs
    int thread = 0;               // the one that commands refer to
    int frame = 0;                // the selected frame
    int listed = 0;               // the first source line that was shown last; 0: none yet
    bool held = false;            // a task at its start: gdb has reported that it is stopped
    bool going = false;           // and has let it continue
    bool stop_requested = false;
    bool stopped = false;  // as a whole
    bool resumed = false;  // a command has let it continue, and it has not stopped as a whole since
    StopReason reason;
    MiValue where;               // gdb's frame of the stop
    std::string note;            // how it ended, or why it is lost
    std::optional<Stack> stack;  // of the current stop, if somebody has asked for it
    bool failed = false;         // it has stopped at a fatal signal, or ended with an error
    std::string error;           // the message of the call that fails, if it has stopped there
    bool handed_over = false;    // a script has started its process
    bool begins = false;         // the stop is that at the beginning of such a process
    std::string exit;            // how it has ended according to its daemon

    void select(int of_thread, int of_frame) {
        thread = of_thread;
        frame = of_frame;
        listed = 0;
    }
    bool runs() const { return life == Life::kAlive && !stopped; }
    // gdb's name of its process.
    std::string group() const { return "i" + std::to_string(inferior); }
    bool all_threads_stopped() const {
        return !threads.empty() && std::none_of(threads.begin(), threads.end(),
                                                [](const auto& each) { return each.second; });
    }
};

struct GdbAnswer {
    bool ok = false;
    MiValue results;
    std::string console;  // what a command of gdb's command line has printed
    std::string error;
    std::string log;  // gdb's warnings before the answer
};

class NodeGdb {
  public:
    using OnAnswer = std::function<void(const GdbAnswer&)>;
    struct Handlers {
        std::function<void(const std::string&)> send;
        // The task has stopped as a whole, has ended, or is lost.
        std::function<void(DebuggedTask&)> on_stopped;
        std::function<void(DebuggedTask&)> on_ended;
        // Once: each task is lost, has ended, or can be debugged; one that was held at its start
        // has reached its main program.
        std::function<void()> on_attached;
        // A process that was handed over is attached, or cannot be, and may continue.
        std::function<void(int pid)> on_taken{};
    };

    explicit NodeGdb(Handlers handlers) : handlers_(std::move(handlers)) {}

    // Attaches to the tasks. `at_start`: they are held at their first instruction. They continue to
    // the beginning of their main program.
    void attach(std::vector<DebuggedTask> tasks, bool at_start);

    // A script that is the task has started a program of MPL or MPI, which waits before its main
    // program. gdb lets the previous process of the task go, and attaches to this one. The task
    // stops at the beginning of the main program, or where it is if that has begun already.
    void hand_over(DebuggedTask& task, int pid, const std::string& program);

    // Opens core files instead of attaching to processes.
    void open_cores(std::vector<DebuggedTask> tasks, const std::vector<CoreFile>& cores);

    void command(const std::string& text, OnAnswer on_answer = nullptr);
    // A command of gdb's command line, executed in the selected thread and frame of the task.
    void console(const DebuggedTask& task, const std::string& text, OnAnswer on_answer);
    // " --thread 3 --frame 0"
    static std::string context(const DebuggedTask& task);

    // Lets the task continue. `how`: "-exec-continue", "-exec-next", ... for the selected thread;
    // the others continue. `finish` and `until` refer to the selected frame. on_error receives
    // gdb's refusal.
    void resume(DebuggedTask& task, const std::string& how,
                std::function<void(const std::string&)> on_error = nullptr);
    void interrupt(DebuggedTask& task);

    // Takes bytes that gdb has written.
    void feed(std::string_view bytes);
    // The daemon of the node says how the task has ended. Usually gdb says so, too. It does not if
    // it has gone, or goes before it has looked at the task again.
    void on_exit(TaskId task, const std::string& note, bool failed);
    // gdb has gone. Outstanding commands get an error, and the tasks are lost. If `why` is empty,
    // only the tasks are reported whose ends are known.
    void on_gone(const std::string& why);
    bool gone() const { return gone_; }

    std::vector<DebuggedTask>& tasks() { return tasks_; }
    std::size_t outstanding() const { return pending_.size(); }
    // The process for which gdb executes the oldest command without an answer; 0: for none in
    // particular.
    int executing_for() const { return pending_.empty() ? 0 : pending_.begin()->second.pid; }

  private:
    void write(const std::string& text, int pid, OnAnswer on_answer);
    void set_up();
    void begin_attached();
    void check_attached();
    void on_core(DebuggedTask& task, const GdbAnswer& answer);
    void insert_start_breakpoints(const DebuggedTask* only, const std::function<void()>& done);
    void insert_start_breakpoint(const std::string& function, const DebuggedTask* only,
                                 const std::function<void()>& done);
    void on_start_stop(DebuggedTask& task);
    void lose(DebuggedTask& task, const GdbAnswer& answer);
    void look_for_main(DebuggedTask& task);
    void start_handed_over(DebuggedTask& task);
    void go_to_main(DebuggedTask& task);
    bool has_main(const DebuggedTask& task) const;
    void on_line(std::string_view line);
    void on_result(const MiRecord& record);
    void on_stopped(const MiValue& event);
    void on_running(const std::string& thread);
    void on_notify(const MiRecord& record);
    void interrupt_threads(DebuggedTask& task);
    void check_stopped(DebuggedTask& task);
    void end(DebuggedTask& task, const std::string& note, bool failed);
    void started(DebuggedTask& task);
    DebuggedTask* task_of_group(const std::string& group);
    DebuggedTask* task_of_thread(int thread);

    Handlers handlers_;
    std::vector<DebuggedTask> tasks_;
    struct Pending {
        OnAnswer on_answer;
        int pid = 0;
    };
    std::map<std::uint64_t, Pending> pending_;
    std::map<int, std::string> group_of_thread_;
    std::uint64_t next_token_ = 1;
    std::string rest_;  // an incomplete line
    std::string console_;
    std::string log_;
    bool can_start_ = false;  // the breakpoints at main have been set
    std::vector<StartBreakpoint> start_breakpoints_;
    DebuggedTask* ended_ = nullptr;  // its signal is about to be reported, if it was killed
    bool gone_ = false;
    bool attached_ = false;  // on_attached has been called
    bool catches_ = false;   // the user has set catchpoints
};

}  // namespace poe::debugger
