// The description of a job as plain data. `poe` creates it from options and files and sends it to
// each `pmd`. The structs have no behaviour; the same structs describe a dry run, a report and a
// running job.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// One distinct command line of the job. Tasks refer to it by index, so that it is stored once for
// 1,000 tasks of one program. In SPMD there is one.
using Command = std::vector<std::string>;

// The process that was started as a task.
struct TaskProcess {
    TaskId task = 0;
    std::int32_t pid = 0;
    // The processors that it may use, in the kernel's format ("0-3,8"); empty unless
    // JobSpec::tell_binding.
    std::string processors;
    bool operator==(const TaskProcess&) const = default;
};

struct TaskSpec {
    NodeIndex node = 0;
    std::uint32_t command = 0;  // index into JobSpec::commands; also the PMI application number
    bool operator==(const TaskSpec&) const = default;
};

// Which tasks receive poe's standard input.
struct StdinMode {
    enum class Kind : std::uint8_t { kAll, kNone, kOne } kind = Kind::kAll;
    TaskId task = 0;  // for kOne
    bool operator==(const StdinMode&) const = default;
};

// The presentation of the tasks' standard output.
struct StdoutMode {
    enum class Kind : std::uint8_t { kUnordered, kOrdered, kOne, kFolded } kind = Kind::kUnordered;
    TaskId task = 0;  // for kOne
    bool operator==(const StdoutMode&) const = default;
};

// A soft limit of the home node. The job's tasks on other nodes get it, too, up to the hard limit
// there.
struct ResourceLimit {
    int resource = 0;  // RLIMIT_*
    std::uint64_t soft = 0;
    bool operator==(const ResourceLimit&) const = default;
};

// Settings for starting the daemons of a job, and for their mutual monitoring.
struct LaunchSpec {
    std::uint32_t fanout = 16;        // children of poe and of each daemon (MP_LAUNCH_FANOUT)
    NodeIndex home = -1;              // the node of poe; -1: no node of the job
    Command remote_shell;             // words of MP_REMOTE_SHELL; node and command are added
    std::string pmd;                  // path of the daemon's program on other nodes
    std::chrono::seconds pulse{600};  // -pulse: time limit for an answer; 0: none
    std::string device;               // -euidevice: the network interface; empty: any
    std::string directory;            // MP_REMOTEDIR: on other nodes; empty: the job's
    std::uint32_t umask = 022;        // for other nodes, as are the limits
    std::vector<ResourceLimit> limits;
    bool operator==(const LaunchSpec&) const = default;
};

// Which processes have line-buffered standard output although it is a pipe (line_buffering.hpp).
enum class Unbuffered : std::uint8_t {
    kNo,
    kPrograms,      // the tasks' own programs
    kAllProcesses,  // all processes that write to a task's standard output
};

// Whether the calls of other MPI libraries are observed (mpi/observe).
enum class Observe : std::uint8_t {
    kAuto,  // in programs that are not linked to a library of POE
    kYes,   // in all programs
    kNo,
};

// The terminal of each task (-pty).
struct TerminalSpec {
    bool wanted = false;
    std::uint16_t rows = 24;
    std::uint16_t columns = 80;
    bool operator==(const TerminalSpec&) const = default;
};

// The remains of a task that a signal has killed; see core_files.hpp.
struct CoreSpec {
    std::string prefix = "coredir";  // -coredir: directory prefix; "none": no directory
    // -corefile_format: the name of a file of stacks, or STDERR. Empty: the kernel's core files are
    // kept.
    std::string format;
    bool at_sigterm = false;  // -corefile_sigterm
    bool operator==(const CoreSpec&) const = default;
};

// Settings of a trace: the events to record, and the directories (tracer/FORMAT.md).
struct TraceSpec {
    int level = 0;                 // 0: nothing
    std::uint32_t generation = 1;  // number of the trace, from 1
    std::string directory;         // absolute; where poe collects the streams
    std::string temporary;         // for the streams of nodes that cannot see `directory`
    bool wraps = false;            // keep only the last `buffer` bytes of each task
    Bytes buffer = 0;
    // Limit in bytes of each task, if it does not wrap.
    Bytes most = 0;
    std::chrono::milliseconds sample{100};
    int stacks = 0;  // call stacks to record per second of each thread; 0: none
    bool operator==(const TraceSpec&) const = default;
};

// Upper limit of TraceSpec::stacks.
inline constexpr int kMaxStacksPerSecond = 10'000;

// A job as tasks of other jobs need to know it. Tasks can start more tasks, which are a separate
// job to MPI (spawn_plan.hpp).
struct JobSummary {
    std::string id;
    std::vector<std::string> nodes;
    std::vector<NodeIndex> node_of_task;        // by task id
    std::vector<std::uint32_t> appnum_of_task;  // by task id
    bool operator==(const JobSummary&) const = default;
};

// Settings of one command that differ from the job's: from mpirun's flags before a program, or from
// a request to spawn tasks. If a field is empty, the job's value applies.
struct CommandPlace {
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // absolute
    std::string path;                      // a PATH that is searched first for the program
    bool operator==(const CommandPlace&) const = default;
};

// Describes a job whose tasks a task has started.
struct SpawnSpec {
    std::string parent;  // the job of that task
    TaskId parent_task = 0;
    // The number by which users and poe know its task 0.
    TaskId first = 0;
    // Initial content of its PMI-1 key space.
    std::vector<std::pair<std::string, std::string>> pairs;
    std::vector<JobSummary> others;  // the jobs that already run
    bool operator==(const SpawnSpec&) const = default;
};

// What a job reserves for itself on a node. Without a reservation other jobs may use it, too.
struct NodeReservation {
    bool processors = false;  // -cpu_use unique
    bool adapter = false;     // -adapter_use dedicated
    bool operator==(const NodeReservation&) const = default;
};

// Everything that a node needs to start its tasks.
struct JobSpec {
    std::string id;  // [a-z0-9-]{1,40}, unique on a host, never reused
    std::vector<std::string> nodes;
    std::vector<TaskSpec> tasks;  // by task id
    std::vector<Command> commands;
    std::vector<CommandPlace> places;      // by command; empty if no command has its own settings
    std::vector<std::string> environment;  // "NAME=value", the same for every task
    std::string directory;                 // working directory
    StdinMode stdin_mode;
    StdoutMode stdout_mode;
    bool stdin_is_empty = false;      // poe's stdin is /dev/null, so the tasks' is, too
    bool stdout_is_terminal = false;  // incomplete lines of stdout are shown after a moment
    // Daemons report when output was read (MP_LABELFORMAT).
    bool stamp_output = false;
    Unbuffered unbuffered = Unbuffered::kNo;  // -unbuffered
    Observe observe = Observe::kNo;           // -observe
    TerminalSpec terminal;                    // -pty
    WaitMode wait_mode = WaitMode::kAdaptive;
    Bytes buffer_mem = 0;   // MP_BUFFER_MEM, 0 = default
    Bytes eager_limit = 0;  // MP_EAGER_LIMIT, 0 = default
    Euilib euilib = Euilib::kUs;
    // Set only if needs_tcp(): the secret by which the tasks authenticate each other, and the
    // numeric address of each node, empty while unknown. If there are no addresses, the job has one
    // node, and its tasks use the loopback address.
    std::optional<JobKey> job_key;
    std::vector<std::string> addresses;
    std::chrono::milliseconds kill_grace{500};  // from SIGTERM to SIGKILL when a job is ended
    std::chrono::seconds deadlock_timeout{10};  // MP_DEADLOCK_TIMEOUT; 0: no detection
    bool host_pmix = true;                      // offer PMIx and PMI-1 (MP_PMIX)
    bool eager_pmix = false;                    // start the PMIx server before the tasks
    bool tell_binding = false;  // the daemons report which processors each task may use
    // Programs for the standard's binary interface get POE's MPI library (MP_MPI_LIBRARY).
    bool own_mpi_library = true;
    // Programs of MPICH and Open MPI get it, too (MP_MPI).
    bool foreign_on_poe = false;
    int threads = 0;          // threads of each task (MP_THREADS); 0: the user has not said
    bool bind = true;         // bind each task to its own processors, if there are enough (MP_BIND)
    bool single_copy = true;  // tasks may read each other's memory (MP_SINGLE_COPY)
    std::vector<NodeReservation> reserved;  // by node; empty: nothing on any node
    bool hold_tasks = false;  // each task stops before its first instruction, for a debugger
    CoreSpec core;
    LaunchSpec launch;
    TraceSpec trace;
    std::optional<SpawnSpec> spawned;
    bool operator==(const JobSpec&) const = default;
};

// The number by which users know a task of the job.
inline TaskId public_number(const JobSpec& job, TaskId task) {
    return job.spawned ? job.spawned->first + task : task;
}

// The tasks of the job on a node, in ascending order.
inline std::vector<TaskId> tasks_on(const JobSpec& job, NodeIndex node) {
    std::vector<TaskId> tasks;
    for (std::size_t task = 0; task < job.tasks.size(); ++task)
        if (job.tasks[task].node == node) tasks.push_back(static_cast<TaskId>(task));
    return tasks;
}

// How many tasks of the job are on the node of a task, and the number of that task among them, from
// 0 on.
struct PlaceOnNode {
    std::size_t tasks = 0, rank = 0;
};
inline PlaceOnNode place_on_node(const JobSpec& job, TaskId task) {
    const std::vector<TaskId> all = tasks_on(job, job.tasks[static_cast<std::size_t>(task)].node);
    const auto before = std::lower_bound(all.begin(), all.end(), task) - all.begin();
    return {all.size(), static_cast<std::size_t>(before)};
}

// The working directory of a task.
inline const std::string& directory_of(const JobSpec& job, TaskId task) {
    const std::uint32_t command = job.tasks[static_cast<std::size_t>(task)].command;
    if (job.places.empty() || job.places[command].directory.empty()) return job.directory;
    return job.places[command].directory;
}

// Upper limits of JobSpec::kill_grace, buffer_mem and eager_limit.
inline constexpr std::chrono::hours kMaxKillGrace{1};
inline constexpr Bytes kMaxBufferMem = Bytes{1} << 40;
inline constexpr Bytes kMaxEagerLimit = Bytes{1} << 30;
// Upper limit of JobSpec::threads.
inline constexpr int kMaxThreads = 1 << 16;
// Upper limit of TraceSpec's sizes, in bytes.
inline constexpr Bytes kMaxTraceBytes = Bytes{1} << 40;

// True if tasks of the job communicate over TCP.
inline bool needs_tcp(const JobSpec& job) {
    return job.tasks.size() > 1 && (job.nodes.size() > 1 || job.euilib == Euilib::kIp);
}

// The call with which a task has ended the job.
struct TaskStop {
    StopKind kind = StopKind::kStopall;
    int code = 0;      // as the program gave it
    std::string text;  // of an MPI error: its number, function and cause

    bool operator==(const TaskStop&) const = default;
};

// The end of a task.
struct TaskExit {
    TaskId task = 0;
    int code = 0;                       // exit code, if signal is 0
    int signal = 0;                     // the signal that killed it; 0: none
    bool core = false;                  // it dumped core
    std::optional<TaskStop> stop;       // set if the task ended the job itself
    std::chrono::nanoseconds after{0};  // time since the job's tasks were started
    std::chrono::microseconds user{0};
    std::chrono::microseconds system{0};
    Bytes peak_memory = 0;  // resident set, bytes
    // Another task has started it and given it initial pairs (SpawnSpec), which it has not read.
    bool unjoined = false;
    bool operator==(const TaskExit&) const = default;
};

// A task that was not started: its program is missing, not executable, a directory, ...
struct LaunchFailure {
    TaskId task = 0;
    std::string text;  // names the program, the error and the remedy
    bool operator==(const LaunchFailure&) const = default;
};

}  // namespace poe::pm
