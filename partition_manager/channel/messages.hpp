// Control messages of the channel as plain structs, one for each line of the conversation between poe and
// a daemon. message_fields.hpp lists their fields, message_codec.hpp makes CBOR of them.
//
//   direction    message                          when
//   pmd -> poe   Hello                            first; with the version of the protocol
//   poe -> pmd   StartJob                         once
//   pmd -> poe   Prepared | StartFailed           several nodes only: every task could be started
//   poe -> pmd   RunTasks                         several nodes only: where all tasks listen
//   pmd -> poe   Started | StartFailed            all tasks run, or none does
//   poe -> pmd   SignalTasks, EndJob, StdinEnd, AskTaskStates     at any time after that
//   pmd -> poe   StdoutMark                       a task waits in mpc_flush
//   poe -> pmd   StdoutFlushed                    all tasks wait there; they continue
//   pmd -> poe   TaskExit, TaskAbort, TaskLeft, NodeFailed, StdinProgress, Attention, TaskStates
//   pmd -> poe   NodesUp, NodeUnreached, NodeLost                 about nodes below it in the tree
//   pmd -> poe   Exchange                         a node's part of a PMI barrier or a PMIx fence
//   poe -> pmd   KeyExchangeDone                        all parts have arrived
//   both         KeyRequest, KeyReply                PMIx data of a task on another node; poe forwards
//   pmd -> poe   NameRequest                         published names
//   poe -> pmd   NameReply                        the answer, perhaps much later
//   pmd -> poe   SpawnTasks                       a task starts more tasks
//   poe -> pmd   JobAnnounced, TasksSpawned            to all daemons; then to the one that asked
//   poe -> pmd   TaskLeft                         about a task of any node, for PMIx
//   poe -> pmd   StartTrace, StopTrace            tracing of a running job
//   poe -> pmd   WatchTasks                       displays watch the job, or no longer do
//   pmd -> poe   WatchedTasks                     what they show
//   poe, display AskLines, TaskLines              a display asks poe what a task wrote last
//   pmd -> poe   ClockRequest                         the time at home
//   poe -> pmd   ClockReply                        the answer
//   pmd -> poe   TraceDone                        the node's part of the trace has been sent
//   poe -> pmd   TraceTaken                       and is safe
//   poe -> pmd   ResizeTerminals                  the user's terminal has another size (-pty)
//   pmd -> poe   TasksBound                       the processors of each task (-report_binding)
//   both         Pulse                            poe asks whether the daemon is alive; it answers
//   pmd -> poe   Done                             last: no process of the job is left on the node
//
// In a launch tree (launch_tree.hpp) a daemon acts as poe for the daemons that it has started. Prepared,
// Started and Done then speak for a node and for all nodes below it.
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

// Both ends must speak the same version; it changes with every change of a struct below.
inline constexpr int kChannelVersion = 10;

struct Hello {
    int version = kChannelVersion;
    int pid = 0;
};

struct StartJob {
    JobSpec job;
    NodeIndex node = 0;                   // which of job.nodes the receiver is
    std::int64_t window = kStreamWindow;  // of each of its streams, bytes
};

// Where the tasks of a node can be reached.
struct NodeFacts {
    NodeIndex node = 0;
    std::string address;               // numeric
    std::vector<std::uint16_t> ports;  // of its tasks, in their order
};

struct Prepared {
    std::vector<NodeFacts> nodes;
};

struct RunTasks {
    std::vector<NodeFacts> nodes;  // all of the job
};

struct Started {};

// No task runs on this node. `failures` names tasks; `text` is for a trouble of the node as a whole
// (no space for the segment, too few file descriptors).
struct StartFailed {
    std::vector<LaunchFailure> failures;
    std::string text;
};

struct SignalTasks {
    int signal = 0;
};

// End all tasks: SIGTERM, then SIGKILL after the job's grace, or at once.
struct EndJob {
    bool at_once = false;
};

struct StdinEnd {};

// How far this node's tasks are with the standard input that was sent.
struct StdinProgress {
    std::uint64_t delivered = 0;  // written into the pipe of every task that still reads
    std::uint64_t consumed = 0;   // read by at least one task
    bool wanted = true;           // false: no task is left to read
};

// A task asked for the end of the whole job through PMI or PMIx (MPI_Abort).
struct TaskAbort {
    TaskId task = 0;
    int code = 0;
    std::string text;
};

// A task that had joined an MPI job (MPI_Init) has ended without leaving it (MPI_Finalize): the
// others may wait for it for ever.
struct TaskLeft {
    TaskId task = 0;
};

// This node cannot go on with the job.
struct NodeFailed {
    std::string text;
};

// Daemons that have come up, for the progress of a launch that takes long.
struct NodesUp {
    std::vector<NodeIndex> nodes;
};

// The daemon of `node` could not be started from here; `poe` may try it itself.
struct NodeUnreached {
    NodeIndex node = 0;
    std::string text;
};

// A daemon is gone or silent, and with it all that is below it.
struct NodeLost {
    NodeIndex node = 0;
    std::string text;
};

struct Attention {
    std::string text;
};

// A part of what nodes exchange; parts can be put one behind another, in any order.
struct KeyExchangePart {
    std::string key;          // of the exchange; may be used again when it is over
    std::uint32_t of = 0;     // nodes that take part
    std::uint32_t nodes = 0;  // whose parts are in `data`
    std::string data;
    // When nodes of several jobs take part: these. `of` counts a node once for each of them.
    std::vector<std::string> jobs;
};

struct KeyExchangeDone {
    std::string key;
    std::string data;
};

// poe asks (Pulse), pmd answers the same: a daemon that does not is taken for dead (MP_PULSE).
struct Pulse {};

struct Done {};

// Rounds of questions from here on want all tasks, whatever they do (status_socket.hpp).
inline constexpr std::uint32_t kStatusRounds = std::uint32_t{1} << 31;

// What the node's tasks do is wanted now (deadlock_watch.hpp).
struct AskTaskStates {
    std::uint32_t round = 0;  // not 0; comes back with the answer
};

// The tasks of the node that are stuck or have ended; the others can go on. Round 0: nobody asked,
// but tasks have been stuck for the job's deadlock timeout.
struct TaskStates {
    std::uint32_t round = 0;
    std::vector<TaskState> states;
};

// A task has asked for a flush of standard output; all that it had written before is on the way,
// ahead of this.
struct StdoutMark {
    TaskId task = 0;
    std::optional<StdoutMode> mode;  // the mode it asks for, when it does
};

// All tasks have asked for a flush, and what they had written is in poe's output.
struct StdoutFlushed {
    bool agreed = true;  // on the mode; otherwise none was changed
    StdoutMode mode;     // from now on
};

// What a task has put into PMIx is wanted on another node.
struct KeyRequest {
    std::string job;  // of the task; empty: the asker's
    TaskId task = 0;
    ReplyTo asker;
};

struct KeyReply {
    ReplyTo asker;
    int status = 0;  // of PMIx
    std::string data;
};

// A task wants more tasks to be started; all of them, or none.
struct SpawnCommand {
    Command words;
    std::uint32_t tasks = 0;
    std::vector<std::string> hosts;  // of the job's nodes, in turns; empty: all of them
    CommandPlace place;
};
struct SpawnTasks {
    ReplyTo asker;
    TaskId task = 0;
    std::vector<SpawnCommand> commands;
    std::vector<std::pair<std::string, std::string>> pairs;  // as in SpawnSpec
};
struct TasksSpawned {
    ReplyTo asker;
    std::string job;      // empty: none were started
    std::string trouble;  // why not
};

// Another job beside this one is there.
struct JobAnnounced {
    JobSummary job;
};

struct StartTrace {
    TraceSpec trace;
};

struct StopTrace {
    std::uint32_t generation = 0;
};

// What is poe's clock now? CLOCK_MONOTONIC, ns, as all clocks here.
struct ClockRequest {
    std::uint64_t asked = 0;  // by the asker's clock
};
struct ClockReply {
    std::uint64_t asked = 0;
    std::uint64_t home = 0;
};

struct TraceDone {
    std::uint32_t generation = 0;
    bool sent = false;  // streams have gone up, and wait for TraceTaken
    std::string left;   // where streams are left on the node; empty: nowhere
};

struct TraceTaken {
    std::uint32_t generation = 0;
    bool all = false;  // false: keep them
};

// Whether displays want to know of tasks on other nodes than theirs (watch_socket.hpp).
struct WatchTasks {
    bool on = false;
};

// Tasks that have changed.
struct WatchedTasks {
    std::vector<WatchedTask> tasks;
};

// A display asks poe what a task has written last, and its answer.
struct AskLines {
    TaskId task = 0;
};
struct TaskLines {
    TaskId task = 0;
    std::vector<std::string> lines;
};

// The user's terminal has another size now (-pty).
struct ResizeTerminals {
    std::uint16_t rows = 0;
    std::uint16_t columns = 0;
};

// The processors that tasks of a node may use, as the kernel writes them ("0-3,8").
struct TaskBinding {
    TaskId task = 0;
    std::string processors;
};
struct TasksBound {
    std::vector<TaskBinding> tasks;
};

using Message =
    std::variant<Hello, StartJob, Started, StartFailed, SignalTasks, EndJob, StdinEnd,
                 StdinProgress, TaskExit, TaskAbort, TaskLeft, NodeFailed, Attention, Pulse, Done,
                 AskTaskStates, TaskStates, StdoutMark, StdoutFlushed, Prepared, RunTasks, NodesUp,
                 NodeUnreached, NodeLost, KeyExchangePart, KeyExchangeDone, StartTrace, StopTrace,
                 ClockRequest, ClockReply, TraceDone, TraceTaken, KeyRequest, KeyReply, WatchTasks,
                 WatchedTasks, AskLines, TaskLines, NameRequest, NameReply, SpawnTasks,
                 TasksSpawned, JobAnnounced, ResizeTerminals, TasksBound>;

}  // namespace poe::pm
