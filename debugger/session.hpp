// Session: what pdbx does with a command line and with the events of the tasks. It knows the gdbs
// of all nodes, the groups and the breakpoints, and makes reports of what is to be shown. No input,
// output or clock of its own, so whoever drives it decides where commands come from.
//
// One command is executed at a time. A command that lets tasks continue is over when all tasks of
// its group have stopped or ended, or when some have stopped and no other has for kQuietTime.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/commands.hpp"
#include "debugger/groups.hpp"
#include "debugger/node_gdb.hpp"
#include "debugger/picture.hpp"
#include "debugger/report.hpp"
#include "partition_manager/status/debug_socket.hpp"

namespace poe::debugger {

// The other tasks of the group may wait for those that have stopped, so a command does not wait
// longer for them.
inline constexpr std::chrono::milliseconds kQuietTime{1000};
// Events of this time are reported together.
inline constexpr std::chrono::milliseconds kEventTime{150};

// A command that was interrupted is interrupted again after this time if gdb has not answered.
inline constexpr std::chrono::milliseconds kInterruptAgain{100};
// A task that has been interrupted and has not stopped as a whole is interrupted again after this
// time.
inline constexpr std::chrono::milliseconds kStopAgain{500};

// The breakpoint of `catch exit`: the first argument of _exit() is the exit code (x86-64).
inline constexpr const char* kCatchExit = "catch exit";
// The breakpoints of `catch error`, with or without another word: calls that fail.
inline constexpr const char* kCatchError = "catch error";

class Session {
  public:
    using Time = std::chrono::steady_clock::time_point;

    struct Handlers {
        std::function<void(const pm::Message&, NodeIndex)> send;
        std::function<void(const Report&)> show;
    };

    explicit Session(Handlers handlers);

    // From poe.
    void on_message(NodeIndex from, pm::Message message, Time now);

    // Examines core files instead of a job. Commands go to node 0.
    void open_cores(const std::vector<CoreFile>& cores, Time now);

    // Executes a line. To be called if busy() is false.
    void execute(const std::string& line, Time now);
    // Ctrl-C: stops the running tasks of the current group, and ends the wait of a command. If gdb
    // executes a command, the first call interrupts that, and the second abandons it.
    void interrupt(Time now);
    // Reports the events that have not been reported yet.
    void show_events();
    // To be called when deadline() has passed.
    void tick(Time now);
    std::optional<Time> deadline() const;

    // A command is being executed, or the job is not ready.
    bool busy() const { return waits_.has_value() || operation_ || !ready_; }
    bool ready() const { return ready_; }
    // The user wants to leave. kDetach: when all gdbs have ended, the job continues.
    enum class Leave { kNo, kQuit, kDetach };
    Leave leaving() const { return leave_; }
    bool detached() const { return leave_ == Leave::kDetach && gdbs_.running == 0; }
    // Ends all gdbs. The tasks continue.
    void detach();
    // As the command quit, at any time.
    void quit() {
        typed_.sourced.clear();
        if (leave_ == Leave::kNo) leave_ = Leave::kQuit;
    }
    // Asks for the stacks that picture() needs and that are not known yet. Does nothing if busy().
    void look_around();
    Picture picture() const;
    // False: a task whose script has started a program does not stop at the beginning of the
    // program.
    void stop_at_programs(bool on) { stops_at_programs_ = on; }
    // "pdbx all 3/4> ": the current group, and how many of its tasks have stopped.
    std::string prompt() const;
    // Names that complete the first or a later word of a line.
    std::vector<std::string> completions(const std::string& word, bool first_word) const;
    // True if a command or the start has failed, for the exit status of scripts.
    bool had_error() const { return had_error_; }
    // Lines that `source` has read, to be executed before others.
    std::deque<std::string>& sourced() { return typed_.sourced; }
    const pm::DebuggedJob& job() const { return job_; }
    bool attached() const { return !job_.at_start; }
    // False: no task is left that is debugged, so the job goes on to its end.
    bool some_alive() const;
    bool some_stopped() const;
    // Some tasks run on without debugger, because their gdb has failed.
    bool some_lost() const { return gdbs_.failed; }

    struct Breakpoint {
        int number = 0;
        const char* kind = "breakpoint";  // or "tracepoint", "watchpoint", "catchpoint"
        std::string text;                 // what was typed
        TaskSet tasks;
        bool traces = false;                             // reports and continues
        std::vector<std::pair<NodeIndex, int>> of_gdbs;  // gdb's numbers
        std::string where;                               // "work at ring.c:5"

        std::string name() const { return kind + (" " + std::to_string(number)); }
    };

  private:
    // The answers of several gdbs to one command.
    struct Operation {
        std::size_t outstanding = 0;
        Answers answers;
        Answers errors;
        std::vector<std::pair<TaskId, Stack>> stacks;
        TaskSet executing;  // tasks whose commands gdb has not answered yet
        bool interrupted = false;
        std::function<void(Operation&)> finish;
    };
    using OperationPtr = std::shared_ptr<Operation>;
    struct Wait {
        TaskSet tasks;
        std::string line;
        bool any_stopped = false;
        Time last_event{};
    };

    // session.cpp
    NodeGdb* gdb_of(TaskId task);
    DebuggedTask* find(TaskId task);
    const DebuggedTask* find(TaskId task) const;
    TaskSet tasks_that(const std::function<bool(const DebuggedTask&)>& condition) const;
    TaskSet stopped_of(const TaskSet& tasks) const;
    void begin_job(pm::DebuggedJob job);
    void define_groups();
    NodeGdb& add_gdb(NodeIndex node);
    void on_gdb_started(NodeIndex node, const pm::DebuggerStarted& started);
    void on_gdb_ended(NodeIndex node, const std::string& why);
    void on_process_waits(NodeIndex node, const pm::ProcessWaits& waits);
    void on_task_exit(const pm::TaskExit& exit);
    void on_attached();
    void on_stopped(NodeIndex node, DebuggedTask& task);
    void on_ended(DebuggedTask& task);
    void add_event(Report::Kind kind, TaskId task, const std::string& text, const MiValue* where);
    void check_wait();
    void check_stops();
    void interrupt_operation();
    void tell_held();
    void show(Report report);
    void fail(const std::string& error);
    void answer(std::vector<std::string> lines);
    std::string stop_in_words(NodeIndex node, const DebuggedTask& task) const;
    void ask_for_error(NodeIndex node, DebuggedTask& task);

    // session_answers.cpp
    // Starts an operation. finish is called when each command that was added has been answered.
    OperationPtr operation(std::function<void(Operation&)> finish);
    // Sends a command of gdb's command line for one task. Its answer is added.
    void send_command(const OperationPtr& operation, TaskId task, const std::string& command);
    // Interrupts what the gdbs execute for operations that the user has interrupted.
    void interrupt_again();
    void add_answer(const OperationPtr& operation, TaskId task, const GdbAnswer& answer,
                    const std::string& text);
    void add_error(const OperationPtr& operation, TaskId task, const std::string& error);
    void finish_one(const OperationPtr& operation);
    void seal(const OperationPtr& operation);
    void show_answers(Operation& operation);

    // session_commands.cpp
    void run(const CommandLine& command, const TaskSet& tasks);
    void on_group_command(std::string arguments);
    void on_on_command(std::string arguments);
    void list_tasks(const TaskSet& tasks);
    void resume(const TaskSet& tasks, const std::string& how, bool background);
    void where(const TaskSet& tasks, bool full);
    void ask_for_stacks(const OperationPtr& all, const TaskSet& tasks);
    void print(const TaskSet& tasks, const std::string& expression, bool values);
    void pass_to_gdb(const TaskSet& tasks, const std::string& command);
    void source(const std::string& file);
    bool note_running(const TaskSet& tasks, const TaskSet& stopped,
                      const std::string& so = " and cannot answer");

    // session_frames.cpp
    void select_frame(const TaskSet& tasks, CommandKind kind, const std::string& arguments);
    void leave_library(const OperationPtr& all, TaskId task);
    void show_frame(const OperationPtr& all, TaskId task, int wanted);
    void list_threads(const TaskSet& tasks);
    void select_thread(const TaskSet& tasks, const std::string& arguments);
    void list_source(const TaskSet& tasks, const std::string& arguments);
    void list_around_frame(const OperationPtr& all, TaskId task);
    void show_lines(const OperationPtr& all, TaskId task, const std::string& command);

    // session_picture.cpp
    TaskId task_in_view() const;

    // session_breakpoints.cpp
    void add_breakpoint(const TaskSet& tasks, const std::string& arguments, bool traces);
    void stop_command(const TaskSet& tasks, std::string arguments);
    void watch(const TaskSet& tasks, const std::string& expression);
    void catch_command(const TaskSet& tasks, std::string arguments);
    void catch_error(const TaskSet& tasks, const std::string& which);
    void remove_breakpoints(const std::string& arguments);
    void list_breakpoints();
    std::string condition_for(NodeIndex node, const TaskSet& tasks, const std::string& condition);
    std::string condition_option(NodeIndex node, const TaskSet& tasks,
                                 const std::string& condition);
    std::string task_expression(NodeIndex node);
    Breakpoint* breakpoint_of(NodeIndex node, int gdb_number);
    Breakpoint* breakpoint_of(int number);
    OperationPtr make_breakpoint(Breakpoint breakpoint);
    void record_breakpoint(NodeIndex node, int number, int gdb_number);
    void insert_on_nodes(Breakpoint breakpoint,
                         const std::function<std::string(NodeIndex)>& options,
                         const std::vector<std::string>& places);
    void on_inserted(const OperationPtr& all, NodeIndex node, int number, const TaskSet& told,
                     const GdbAnswer& answer);

    // session_waits.cpp
    void why(const TaskSet& tasks, bool messages);
    void on_states(NodeIndex node, const pm::TaskStates& states);
    void show_waits();

    struct Gdbs {
        std::vector<std::unique_ptr<NodeGdb>> by_node;  // null: none yet
        std::size_t awaited = 0;                        // that have not attached yet
        std::size_t running = 0;
        bool failed = false;
    };
    struct Typed {
        std::string line;                 // the command being executed
        std::string last;                 // repeated by an empty line
        std::deque<std::string> sourced;  // commands of a file that are still to be executed
    };
    struct Breakpoints {
        std::vector<Breakpoint> all;
        int next = 1;
        bool catch_deadlock = false;
    };

    Handlers handlers_;
    pm::DebuggedJob job_;
    Gdbs gdbs_;
    std::unique_ptr<Groups> groups_;
    std::string group_ = "all";
    TaskSet context_;  // the tasks of the command being executed
    Typed typed_;
    Breakpoints breakpoints_;
    OperationPtr operation_;
    std::vector<OperationPtr> interrupted_;  // gdb has not answered for all of their tasks yet
    std::optional<Time> interrupt_due_;
    std::optional<Time> stops_due_;  // a task that is being stopped is interrupted again
    std::optional<Wait> waits_;
    Time now_{};

    struct Event {
        Report::Kind kind = Report::Kind::kStop;
        TaskId task = 0;
        std::string text;
        std::string file;  // of the source line
        int line = 0;
        std::string command;  // of kError: what was typed
    };
    struct Events {
        std::vector<Event> all;
        std::size_t errors_asked = 0;  // stops whose error messages have been asked for
        std::optional<Time> due;
    };
    Events events_;

    struct Waits {
        std::uint32_t round = 0;
        std::vector<pm::TaskState> states;
        std::size_t nodes_left = 0;
        TaskSet tasks;
        bool messages = false;
        Time limit{};
    };
    std::optional<Waits> asked_;
    std::uint32_t round_ = 0;

    bool ready_ = false;
    bool held_ = false;  // told to poe
    bool had_error_ = false;
    bool stops_at_programs_ = true;
    bool cores_ = false;  // nothing can continue
    Leave leave_ = Leave::kNo;
};

}  // namespace poe::debugger
