// Control messages of the channel as plain structs, one for each step of the protocol between poe
// and a daemon. message_fields.hpp lists their fields; message_codec.hpp converts them to CBOR.
//
//   direction    message                when
//   pmd -> poe   Hello                  first; contains the version of the protocol
//   poe -> pmd   StartJob               once
//   pmd -> poe   Prepared, StartFailed  several nodes only: every task can be started, or not
//   poe -> pmd   RunTasks               several nodes only: where all tasks listen
//   pmd -> poe   Started, StartFailed   all tasks run, or none does
//   poe -> pmd   SignalTasks, EndJob, StdinEnd, AskTaskStates            at any time after that
//   pmd -> poe   StdoutMark             a task waits in mpc_flush
//   poe -> pmd   StdoutFlushed          all tasks wait there; they continue
//   pmd -> poe   TaskExit, TaskAbort, TaskLeft, NodeFailed, StdinProgress, Attention, TaskStates
//   pmd -> poe   NodesUp, NodeUnreached, NodeLost                about nodes below it in the tree
//   pmd -> poe   KeyExchangePart        a node's part of a PMI barrier or a PMIx fence
//   poe -> pmd   KeyExchangeDone        all parts have arrived
//   both         KeyRequest, KeyReply   PMIx data of a task on another node; poe forwards
//   pmd -> poe   NameRequest            published names
//   poe -> pmd   NameReply              the answer, possibly much later
//   pmd -> poe   SpawnTasks             a task starts more tasks
//   poe -> pmd   JobAnnounced           to the daemons of all other jobs of this poe
//   poe -> pmd   TasksSpawned           afterwards, to the daemon that sent SpawnTasks
//   poe -> pmd   TaskLeft               about a task of any node, for PMIx
//   poe -> pmd   StartTrace, StopTrace  tracing of a running job
//   poe -> pmd   WatchTasks             displays begin or stop to watch the job
//   pmd -> poe   WatchedTasks           task states for the displays
//   poe, display AskLines, TaskLines    a display requests the last output of a task from poe
//   pmd -> poe   ClockRequest           requests the time of poe's clock
//   poe -> pmd   ClockReply             the answer
//   pmd -> poe   TraceDone              the node's part of the trace has been sent
//   poe -> pmd   TraceTaken             poe has stored it, or has not
//   poe -> pmd   ResizeTerminals        the user's terminal has another size (-pty)
//   pmd -> poe   TasksStarted           the process of each task, and its processors
//   poe -> pmd   StartDebugger          pdbx wants to debug the node's tasks (debug_socket.hpp)
//   pmd -> poe   DebuggerStarted        gdb runs, or does not
//   poe -> pmd   DebuggerInput, DebuggerCredit, EndDebugger   commands; room for more output; the end
//   pmd -> poe   DebuggerOutput, DebuggerEnded
//   pmd -> poe   ProcessWaits           a program that a task's script has started waits for pdbx
//   poe -> pmd   ProcessTaken           pdbx has it, or does not want it
//   poe -> pmd   InterruptCommand       the user does not want to wait for gdb's answer
//   poe -> pmd   TasksHeld              the debugger has stopped tasks, or has let all continue
//   poe, pdbx    DebuggedJob, DeadlockFound   poe tells pdbx about the job
//   both         Pulse                  poe asks whether the daemon is alive; the daemon answers
//   pmd -> poe   Done                   last: no process of the job is left on the node
//
// In a launch tree (launch_tree.hpp) a daemon acts as poe for the daemons that it has started.
// Prepared, Started and Done then apply to a node and all nodes below it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/stream_window.hpp"
#include "partition_manager/job/job.hpp"
#include "partition_manager/job/published_names.hpp"
#include "partition_manager/job/task_state.hpp"
#include "partition_manager/job/watched_task.hpp"

namespace poe::pm {

// Both ends must have the same version. It changes with every change of a struct below.
inline constexpr int kChannelVersion = 22;

struct Hello {
    int version = kChannelVersion;
    int pid = 0;
    bool operator==(const Hello&) const = default;
};

struct StartJob {
    JobSpec job;
    NodeIndex node = 0;                   // the receiver's index in job.nodes
    std::int64_t window = kStreamWindow;  // window of each of its streams, in bytes
    bool operator==(const StartJob&) const = default;
};

// The addresses at which the tasks of a node can be reached.
struct NodeFacts {
    NodeIndex node = 0;
    std::string address;               // numeric
    std::vector<std::uint16_t> ports;  // one per task, in task order
    bool operator==(const NodeFacts&) const = default;
};

struct Prepared {
    std::vector<NodeFacts> nodes;
    bool operator==(const Prepared&) const = default;
};

struct RunTasks {
    std::vector<NodeFacts> nodes;  // all nodes of the job
    bool operator==(const RunTasks&) const = default;
};

struct Started {
    bool operator==(const Started&) const = default;
};

// No task runs on this node. `failures` names tasks; `text` describes an error of the node as a
// whole (no space for the segment, too few file descriptors).
struct StartFailed {
    std::vector<LaunchFailure> failures;
    std::string text;
    // If not negative: another job has reserved this node, or uses what this job wants. A later
    // attempt may succeed.
    NodeIndex busy = -1;
    bool operator==(const StartFailed&) const = default;
};

struct SignalTasks {
    int signal = 0;
    bool operator==(const SignalTasks&) const = default;
};

// Ends all tasks: SIGTERM, then SIGKILL after the job's grace; or SIGKILL at once.
struct EndJob {
    bool at_once = false;
    bool operator==(const EndJob&) const = default;
};

struct StdinEnd {
    bool operator==(const StdinEnd&) const = default;
};

// Reports how much of the standard input this node's tasks have received.
struct StdinProgress {
    std::uint64_t delivered = 0;  // bytes written into the pipe of every task that still reads
    std::uint64_t consumed = 0;   // bytes read by at least one task
    bool wanted = true;           // false: no task is left to read
    bool operator==(const StdinProgress&) const = default;
};

// A task has requested the end of the whole job through PMI or PMIx (MPI_Abort).
struct TaskAbort {
    TaskId task = 0;
    int code = 0;
    std::string text;
    bool operator==(const TaskAbort&) const = default;
};

// A task that had joined an MPI job (MPI_Init) has ended without leaving it (MPI_Finalize). The
// other tasks may wait for it forever.
struct TaskLeft {
    TaskId task = 0;
    bool operator==(const TaskLeft&) const = default;
};

// This node cannot continue the job.
struct NodeFailed {
    std::string text;
    bool operator==(const NodeFailed&) const = default;
};

// Daemons that have come up, for the progress display of a slow launch.
struct NodesUp {
    std::vector<NodeIndex> nodes;
    bool operator==(const NodesUp&) const = default;
};

// The daemon of `node` could not be started from here. `poe` may try to start it.
struct NodeUnreached {
    NodeIndex node = 0;
    std::string text;
    bool operator==(const NodeUnreached&) const = default;
};

// A daemon is lost or silent, and with it all daemons below it.
struct NodeLost {
    NodeIndex node = 0;
    std::string text;
    bool operator==(const NodeLost&) const = default;
};

struct Attention {
    std::string text;
    bool operator==(const Attention&) const = default;
};

// A part of a key exchange. Parts may be concatenated in any order.
struct KeyExchangePart {
    std::string key;          // names the exchange; may be reused afterwards
    std::uint32_t of = 0;     // number of nodes that take part
    std::uint32_t nodes = 0;  // number of nodes whose parts are in `data`
    std::string data;
    // The participating jobs, if there are several. `of` then counts a node once for each of them.
    std::vector<std::string> jobs;
    bool operator==(const KeyExchangePart&) const = default;
};

struct KeyExchangeDone {
    std::string key;
    std::string data;
    bool operator==(const KeyExchangeDone&) const = default;
};

// poe sends it, and pmd answers with the same. A daemon that does not answer in time is considered
// dead (MP_PULSE).
struct Pulse {
    bool operator==(const Pulse&) const = default;
};

struct Done {
    bool operator==(const Done&) const = default;
};

// Rounds with this number or a larger one request the states of all tasks (status_socket.hpp).
inline constexpr std::uint32_t kStatusRounds = std::uint32_t{1} << 31;

// Rounds with this number or a larger one are requests of a debugger (debug_socket.hpp).
inline constexpr std::uint32_t kDebuggerRounds = std::uint32_t{3} << 30;

// Maximum number of bytes of a gdb's output on the way to pdbx.
inline constexpr std::int64_t kDebuggerWindow = std::int64_t{1} << 20;

// Requests the states of the node's tasks (deadlock_watch.hpp).
struct AskTaskStates {
    std::uint32_t round = 0;  // not 0; the answer repeats it
    bool operator==(const AskTaskStates&) const = default;
};

// The tasks of the node that are stuck or have ended; all other tasks can continue. Round 0: sent
// without a request, because tasks have been stuck for most of the job's deadlock timeout.
struct TaskStates {
    std::uint32_t round = 0;
    std::vector<TaskState> states;
    bool operator==(const TaskStates&) const = default;
};

// A task has requested a flush of standard output. All its earlier output precedes this message.
struct StdoutMark {
    TaskId task = 0;
    std::optional<StdoutMode> mode;  // the mode that the task requests, if any
    bool operator==(const StdoutMark&) const = default;
};

// All tasks have requested a flush, and their output has been passed to poe's output.
struct StdoutFlushed {
    bool agreed = true;  // on the mode; if false, it is unchanged
    StdoutMode mode;     // the mode from now on
    bool operator==(const StdoutFlushed&) const = default;
};

// Requests what a task has put into PMIx, for a task on another node.
struct KeyRequest {
    std::string job;  // job of the task; empty: the requester's
    TaskId task = 0;
    ReplyTo asker;
    bool operator==(const KeyRequest&) const = default;
};

struct KeyReply {
    ReplyTo asker;
    int status = 0;  // a PMIx status
    std::string data;
    bool operator==(const KeyReply&) const = default;
};

// A task requests the start of more tasks. Either all of them are started or none.
struct SpawnCommand {
    Command words;
    std::uint32_t tasks = 0;
    std::vector<std::string> hosts;  // nodes of the job, used in turn; empty: all
    CommandPlace place;
    bool operator==(const SpawnCommand&) const = default;
};
struct SpawnTasks {
    ReplyTo asker;
    TaskId task = 0;
    std::vector<SpawnCommand> commands;
    std::vector<std::pair<std::string, std::string>> pairs;  // as in SpawnSpec
    // The asker waits until every new task has read its pairs (TaskExit::unjoined).
    bool joins = false;
    bool operator==(const SpawnTasks&) const = default;
};
// The answer. It is followed by a second one, with a job and a reason, if a task of a request with
// `joins` has ended too early.
struct TasksSpawned {
    ReplyTo asker;
    std::string job;      // empty: no task was started
    std::string trouble;  // the reason of the failure; empty: all tasks run
    bool operator==(const TasksSpawned&) const = default;
};

// Announces another job of the same poe.
struct JobAnnounced {
    JobSummary job;
    bool operator==(const JobAnnounced&) const = default;
};

struct StartTrace {
    TraceSpec trace;
    bool operator==(const StartTrace&) const = default;
};

struct StopTrace {
    std::uint32_t generation = 0;
    bool operator==(const StopTrace&) const = default;
};

// Requests the value of poe's clock. All clocks here are CLOCK_MONOTONIC, in ns.
struct ClockRequest {
    std::uint64_t asked = 0;  // by the requester's clock
    bool operator==(const ClockRequest&) const = default;
};
struct ClockReply {
    std::uint64_t asked = 0;
    std::uint64_t home = 0;
    bool operator==(const ClockReply&) const = default;
};

struct TraceDone {
    std::uint32_t generation = 0;
    bool sent = false;  // streams have been sent and wait for TraceTaken
    std::string left;   // where streams were left on the node; empty: nowhere
    bool operator==(const TraceDone&) const = default;
};

struct TraceTaken {
    std::uint32_t generation = 0;
    bool all = false;  // false: the daemon must keep its streams
    bool operator==(const TraceTaken&) const = default;
};

// Displays begin or stop to need the states of tasks on other nodes (watch_socket.hpp).
struct WatchTasks {
    bool on = false;
    bool operator==(const WatchTasks&) const = default;
};

// Tasks whose state has changed.
struct WatchedTasks {
    std::vector<WatchedTask> tasks;
    bool operator==(const WatchedTasks&) const = default;
};

// A display requests the last lines that a task has written; poe answers with TaskLines.
struct AskLines {
    TaskId task = 0;
    bool operator==(const AskLines&) const = default;
};
struct TaskLines {
    TaskId task = 0;
    std::vector<std::string> lines;
    bool operator==(const TaskLines&) const = default;
};

// The user's terminal has another size (-pty).
struct ResizeTerminals {
    std::uint16_t rows = 0;
    std::uint16_t columns = 0;
    bool operator==(const ResizeTerminals&) const = default;
};

// The tasks of a node have been started.
struct TasksStarted {
    std::vector<TaskProcess> tasks;
    bool operator==(const TasksStarted&) const = default;
};

// Starts gdb on the node. It attaches to nothing by itself.
struct StartDebugger {
    bool operator==(const StartDebugger&) const = default;
};

// The tasks of the node that run, with their processes. `trouble` says why there is no gdb; it is
// empty if gdb runs.
struct DebuggerStarted {
    std::vector<TaskProcess> tasks;
    std::string trouble;
    bool operator==(const DebuggerStarted&) const = default;
};

// Bytes of gdb's machine interface.
struct DebuggerInput {
    std::string bytes;
    bool operator==(const DebuggerInput&) const = default;
};
struct DebuggerOutput {
    std::string bytes;
    bool operator==(const DebuggerOutput&) const = default;
};

// pdbx has read this number of bytes of DebuggerOutput. At most kDebuggerWindow bytes may be
// unread.
struct DebuggerCredit {
    std::uint64_t bytes = 0;
    bool operator==(const DebuggerCredit&) const = default;
};

// Ends gdb, which detaches from its tasks. They continue.
struct EndDebugger {
    bool operator==(const EndDebugger&) const = default;
};

// gdb has ended. `text` says why, if nobody asked for its end.
struct DebuggerEnded {
    std::string text;
    bool operator==(const DebuggerEnded&) const = default;
};

// A process of a task waits, before its main program, until the debugger has attached to it.
struct ProcessWaits {
    TaskId task = 0;
    std::int32_t pid = 0;
    std::string program;  // the file that it executes
    bool operator==(const ProcessWaits&) const = default;
};
struct ProcessTaken {
    std::int32_t pid = 0;
    bool operator==(const ProcessTaken&) const = default;
};

// Interrupts the function that gdb has called in this process of a task; 0: what gdb itself
// executes.
struct InterruptCommand {
    std::int32_t pid = 0;
    bool operator==(const InterruptCommand&) const = default;
};

// While a debugger holds tasks, time limits and the deadlock watch stand still.
struct TasksHeld {
    bool on = false;
    bool operator==(const TasksHeld&) const = default;
};

// The job that pdbx debugs. Sent when all tasks run.
struct DebuggedJob {
    std::string id;
    std::vector<std::string> nodes;
    std::vector<NodeIndex> node_of_task;
    std::vector<std::string> programs;  // by task
    bool at_start = false;              // the tasks are held before their first instruction
    bool operator==(const DebuggedJob&) const = default;
};

// The deadlock watch has found a deadlock.
struct DeadlockFound {
    std::string headline;
    std::vector<std::string> lines;
    std::vector<TaskId> tasks;
    bool operator==(const DeadlockFound&) const = default;
};

using Message = std::variant<
    Hello, StartJob, Started, StartFailed, SignalTasks, EndJob, StdinEnd, StdinProgress, TaskExit,
    TaskAbort, TaskLeft, NodeFailed, Attention, Pulse, Done, AskTaskStates, TaskStates, StdoutMark,
    StdoutFlushed, Prepared, RunTasks, NodesUp, NodeUnreached, NodeLost, KeyExchangePart,
    KeyExchangeDone, StartTrace, StopTrace, ClockRequest, ClockReply, TraceDone, TraceTaken,
    KeyRequest, KeyReply, WatchTasks, WatchedTasks, AskLines, TaskLines, NameRequest, NameReply,
    SpawnTasks, TasksSpawned, JobAnnounced, ResizeTerminals, TasksStarted, StartDebugger,
    DebuggerStarted, DebuggerInput, DebuggerOutput, DebuggerCredit, EndDebugger, DebuggerEnded,
    ProcessWaits, ProcessTaken, InterruptCommand, TasksHeld, DebuggedJob, DeadlockFound>;

}  // namespace poe::pm
