// What a job is, as plain data: made by `poe` from options and files, carried to each `pmd`.
// Nothing here does anything; the same structs describe a dry run, a report and a running job.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// One distinct command line of the job; tasks refer to it by index, so that 1,000 tasks of one
// program carry it once. In SPMD there is one.
using Command = std::vector<std::string>;

struct TaskSpec {
    NodeIndex node = 0;
    std::uint32_t command = 0;  // index into JobSpec::commands; also the PMI application number
};

// Who gets poe's standard input.
struct StdinMode {
    enum class Kind : std::uint8_t { kAll, kNone, kOne } kind = Kind::kAll;
    TaskId task = 0;  // for kOne
};

// What happens to the tasks' standard output.
struct StdoutMode {
    enum class Kind : std::uint8_t { kUnordered, kOrdered, kOne, kFolded } kind = Kind::kUnordered;
    TaskId task = 0;  // for kOne
};

// A soft limit of the home node, which its tasks elsewhere get, too, as far as is allowed there.
struct ResourceLimit {
    int resource = 0;  // RLIMIT_*
    std::uint64_t soft = 0;
};

// How the daemons of a job are started, and how they look after each other.
struct LaunchSpec {
    std::uint32_t fanout = 16;  // how many poe, and each daemon, starts itself (MP_LAUNCH_FANOUT)
    NodeIndex home = -1;        // the node on which poe runs; -1: none of the job's
    Command remote_shell;       // MP_REMOTE_SHELL in words, to which node and command are added
    std::string pmd;            // where the daemon's program is, or should be, on other nodes
    std::chrono::seconds pulse{600};  // -pulse; 0: off
    std::string device;               // -euidevice: the interface for messages; empty: any
    std::string directory;            // MP_REMOTEDIR: on other nodes; empty: the job's
    std::uint32_t umask = 022;        // for other nodes, as are the limits
    std::vector<ResourceLimit> limits;
};

// Whose standard output is line-buffered although it is a pipe (line_buffering.hpp).
enum class Unbuffered : std::uint8_t {
    kNo,
    kPrograms,      // that of the tasks' own programs
    kAllProcesses,  // that of all processes that write to a task's standard output
};

// The terminal that each task gets (-pty).
struct TerminalSpec {
    bool wanted = false;
    std::uint16_t rows = 24;
    std::uint16_t columns = 80;
};

// What a task leaves that dies of a signal; see core_files.hpp.
struct CoreSpec {
    std::string prefix = "coredir";  // -coredir: of the directory for each task; "none": no such
    std::string format;       // -corefile_format: name of a file of stacks, STDERR; empty: the
                              // kernel's core files
    bool at_sigterm = false;  // -corefile_sigterm
};

// What is recorded of a job's tasks, and where (tracer/FORMAT.md).
struct TraceSpec {
    int level = 0;                 // 0: nothing
    std::uint32_t generation = 1;  // counts the traces of a job
    std::string directory;         // absolute; where poe gathers the streams
    std::string temporary;         // directory for the streams of nodes that cannot see that one
    bool wraps = false;            // keep the last `buffer` of each task only
    Bytes buffer = 0;
    Bytes most = 0;  // of each task, when it does not wrap
    std::chrono::milliseconds sample{100};
};

// A job as tasks of other jobs have to know it: tasks can start more tasks, which are a job of
// their own to MPI (spawn_plan.hpp).
struct JobSummary {
    std::string id;
    std::vector<std::string> nodes;
    std::vector<NodeIndex> node_of_task;        // by task id
    std::vector<std::uint32_t> appnum_of_task;  // likewise
};

// Settings of one command that differ from the job's: those of mpirun's flags before a program, or
// of a request to spawn tasks. An empty field means that the job's value holds.
struct CommandPlace {
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // absolute
    std::string path;                      // a PATH that is searched first for the program
};

// Of a job whose tasks a task has started.
struct SpawnSpec {
    std::string parent;  // the job of that task
    TaskId parent_task = 0;
    TaskId first = 0;                                        // what people and poe call its task 0
    std::vector<std::pair<std::string, std::string>> pairs;  // in its PMI-1 space from the start
    std::vector<JobSummary> others;                          // that run already
};

// Everything that a node needs to start its tasks.
struct JobSpec {
    std::string id;  // [a-z0-9-]{1,40}, unique on a host, also over time
    std::vector<std::string> nodes;
    std::vector<TaskSpec> tasks;  // by task id
    std::vector<Command> commands;
    std::vector<CommandPlace> places;  // by command; empty when no command has settings of its own
    std::vector<std::string> environment;  // "NAME=value", the same for every task
    std::string directory;                 // working directory
    StdinMode stdin_mode;
    StdoutMode stdout_mode;
    bool stdin_is_empty = false;              // home's stdin is /dev/null: so is the tasks'
    bool stdout_is_terminal = false;          // partial lines of stdout appear after a moment, too
    bool stamp_output = false;                // daemons say when they read what (MP_LABELFORMAT)
    Unbuffered unbuffered = Unbuffered::kNo;  // -unbuffered
    TerminalSpec terminal;                    // -pty
    WaitMode wait_mode = WaitMode::kAdaptive;
    Bytes buffer_mem = 0;   // MP_BUFFER_MEM, 0 = default
    Bytes eager_limit = 0;  // MP_EAGER_LIMIT, 0 = default
    Euilib euilib = Euilib::kUs;
    // Only when needs_tcp(): the secret by which the tasks know each other, and the numeric address
    // of each node, empty while it is not known; without any, the job has one node, whose tasks use
    // its loopback address.
    std::optional<JobKey> job_key;
    std::vector<std::string> addresses;
    std::chrono::milliseconds kill_grace{500};  // between SIGTERM and SIGKILL when a job is ended
    std::chrono::seconds deadlock_timeout{10};  // MP_DEADLOCK_TIMEOUT, 0: nobody watches
    bool host_pmix = true;                      // offer PMIx and PMI-1 (MP_PMIX)
    bool eager_pmix = false;                    // start the PMIx server before the tasks
    bool tell_binding = false;  // the daemons tell poe which processors each task may use
    bool bind = true;         // give each task processors of its own, if there are enough (MP_BIND)
    bool single_copy = true;  // tasks may read each other's memory (MP_SINGLE_COPY)
    CoreSpec core;
    LaunchSpec launch;
    TraceSpec trace;
    std::optional<SpawnSpec> spawned;
};

// What people call a task of the job.
inline TaskId public_number(const JobSpec& job, TaskId task) {
    return job.spawned ? job.spawned->first + task : task;
}

// The working directory of a task.
inline const std::string& directory_of(const JobSpec& job, TaskId task) {
    const std::uint32_t command = job.tasks[static_cast<std::size_t>(task)].command;
    if (job.places.empty() || job.places[command].directory.empty()) return job.directory;
    return job.places[command].directory;
}

// The longest JobSpec::kill_grace, and the largest buffer_mem and eager_limit.
inline constexpr std::chrono::hours kMaxKillGrace{1};
inline constexpr Bytes kMaxBufferMem = Bytes{1} << 40;
inline constexpr Bytes kMaxEagerLimit = Bytes{1} << 30;
// The largest of TraceSpec's sizes.
inline constexpr Bytes kMaxTraceBytes = Bytes{1} << 40;

// Whether tasks of the job talk to each other over TCP.
inline bool needs_tcp(const JobSpec& job) {
    return job.tasks.size() > 1 && (job.nodes.size() > 1 || job.euilib == Euilib::kIp);
}

// How a task ended.
struct TaskExit {
    TaskId task = 0;
    int code = 0;                       // exit code, when signal is 0
    int signal = 0;                     // killed by this signal
    bool core = false;                  // and dumped core
    std::optional<int> stopall;         // it called mpc_stopall (or MPI_Abort) with this code
    std::chrono::nanoseconds after{0};  // since the job's tasks were started
    std::chrono::microseconds user{0};
    std::chrono::microseconds system{0};
    Bytes peak_memory = 0;  // resident set, bytes
};

// A task that never ran: its program is missing, not executable, a directory, ...
struct LaunchFailure {
    TaskId task = 0;
    std::string text;  // says what and the way out; the program is named in it
};

}  // namespace poe::pm
