// The rows of the option table, and their lookup.
#include "poe/option_table.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "partition_manager/job/job.hpp"
#include "poe/options.hpp"

namespace poe::cli {
namespace {

using Kind = ValueKind;
using Group = OptionGroup;

constexpr std::int64_t kMaxProcs = 1048576;
constexpr std::int64_t kMaxSeconds = 100'000'000;  // three years; a larger value is a mistake
constexpr std::int64_t kMaxMicroseconds = 1'000'000'000;
constexpr std::int64_t kKilo = 1024;
constexpr std::int64_t kMega = kKilo * 1024;
constexpr std::int64_t kGiga = kMega * 1024;

constexpr Apply kNotYet = nullptr;
// For values that the tasks read from their environment, or that have no single field.
void kept_elsewhere(Options&, const Value&) {}
constexpr Apply kElsewhere = kept_elsewhere;

// Short constructors, so that a row below reads: names, variable, [values], default, help, group,
// function that stores the value.
constexpr OptionRow yes_no(std::string_view names, std::string_view variable,
                           std::string_view fallback, std::string_view help, Group group,
                           Apply apply) {
    return {names, variable, Kind::kYesNo, "yes no", 0, 0, "", fallback, help, group, apply};
}

constexpr OptionRow number(std::string_view names, std::string_view variable, std::int64_t low,
                           std::int64_t high, std::string_view unit, std::string_view fallback,
                           std::string_view help, Group group, Apply apply) {
    return {names, variable, Kind::kNumber, "", low, high, unit, fallback, help, group, apply};
}

constexpr OptionRow number_or(std::string_view names, std::string_view variable,
                              std::string_view words, std::int64_t low, std::int64_t high,
                              std::string_view unit, std::string_view fallback,
                              std::string_view help, Group group, Apply apply) {
    return {names, variable, Kind::kNumberOrWord, words, low, high, unit, fallback, help,
            group, apply};
}

constexpr OptionRow size(std::string_view names, std::string_view variable, std::int64_t low,
                         std::int64_t high, std::string_view fallback, std::string_view help,
                         Group group, Apply apply) {
    return {names, variable, Kind::kSize, "", low, high, "bytes", fallback, help, group, apply};
}

constexpr OptionRow choice(std::string_view names, std::string_view variable,
                           std::string_view words, std::string_view fallback, std::string_view help,
                           Group group, Apply apply) {
    return {names, variable, Kind::kChoice, words, 0, 0, "", fallback, help, group, apply};
}

constexpr OptionRow file(std::string_view names, std::string_view variable,
                         std::string_view fallback, std::string_view help, Group group,
                         Apply apply) {
    return {names, variable, Kind::kFile, "", 0, 0, "file", fallback, help, group, apply};
}

constexpr OptionRow text(std::string_view names, std::string_view variable, std::string_view unit,
                         std::string_view fallback, std::string_view help, Group group,
                         Apply apply) {
    return {names, variable, Kind::kString, "", 0, 0, unit, fallback, help, group, apply};
}

constexpr OptionRow word_or_text(std::string_view names, std::string_view variable,
                                 std::string_view words, std::string_view unit,
                                 std::string_view fallback, std::string_view help, Group group,
                                 Apply apply) {
    return {names, variable, Kind::kString, words, 0, 0, unit, fallback, help, group, apply};
}

constexpr OptionRow bare(std::string_view names, std::string_view help, Group group, Apply apply) {
    return {names, "", Kind::kNothing, "", 0, 0, "", "", help, group, apply};
}

void set_pgmmodel(Options& options, const Value& value) {
    options.program_model = value.text == "mpmd" ? ProgramModel::kMpmd : ProgramModel::kSpmd;
}
void set_hostfile(Options& options, const Value& value) {
    const bool none = value.text.empty() || same_word(value.text, "null");
    options.host_file_use = none ? pm::HostFileUse::kNone : pm::HostFileUse::kGiven;
    options.host_file = none ? "" : value.text;
}
void set_retry(Options& options, const Value& value) {
    options.retry_until_ready = !value.is_number;
    options.retry = std::chrono::seconds(value.number);
}
using In = pm::StdinMode::Kind;
void set_stdinmode(Options& options, const Value& value) {
    options.stdin_mode.kind = value.is_number        ? In::kOne
                              : value.text == "none" ? In::kNone
                                                     : In::kAll;
    options.stdin_mode.task = static_cast<TaskId>(value.number);
}
using Out = pm::StdoutMode::Kind;
void set_stdoutmode(Options& options, const Value& value) {
    options.stdout_mode.kind = value.is_number           ? Out::kOne
                               : value.text == "ordered" ? Out::kOrdered
                               : value.text == "folded"  ? Out::kFolded
                                                         : Out::kUnordered;
    options.stdout_mode.task = static_cast<TaskId>(value.number);
}
void set_unbuffered(Options& options, const Value& value) {
    options.unbuffering = value.text == "yes"  ? Unbuffering::kYes
                          : value.text == "no" ? Unbuffering::kNo
                                               : Unbuffering::kAuto;
}
void set_observe(Options& options, const Value& value) {
    options.observe = value.text == "yes"  ? pm::Observe::kYes
                      : value.text == "no" ? pm::Observe::kNo
                                           : pm::Observe::kAuto;
}
void set_maxtime(Options& options, const Value& value) {
    options.maxtime.reset();
    if (value.number > 0) options.maxtime = std::chrono::seconds(value.number);
}
void set_wait_mode(Options& options, const Value& value) {
    options.wait_mode = value.text == "poll"    ? WaitMode::kPoll
                        : value.text == "yield" ? WaitMode::kYield
                        : value.text == "adaptive"
                            ? WaitMode::kAdaptive
                            : WaitMode::kSleep;  // sleep, and its later name nopoll
}
void set_eager_limit(Options& options, const Value& value) {
    // For the tasks 0 would mean the default. A message of one byte is sent at once anyway.
    options.eager_limit = std::max<Bytes>(1, static_cast<Bytes>(value.number));
}
void set_pmix(Options& options, const Value& value) {
    options.pmix = value.text == "yes"  ? PmixMode::kYes
                   : value.text == "no" ? PmixMode::kNo
                                        : PmixMode::kAuto;
}

constexpr OptionRow also_early(OptionRow row, std::string_view names) {
    row.early_names = names;
    return row;
}

constexpr OptionRow only_before_program(OptionRow row) {
    row.before_program_only = true;
    return row;
}

constexpr OptionRow case_sensitive(OptionRow row) {
    row.case_sensitive = true;
    return row;
}

constexpr OptionRow kTable[] =
    {
        // clang-format off
    // ---- the job
    also_early(number("procs", "MP_PROCS", 1, kMaxProcs, "tasks", "1",
           "number of tasks", Group::kJob,
           [](Options& o, const Value& v) { o.procs = static_cast<TaskId>(v.number); }), "n np"),
    choice("pgmmodel", "MP_PGMMODEL", "spmd mpmd", "spmd",
           "one program for all tasks, or one for each", Group::kJob,
           set_pgmmodel),
    file("cmdfile", "MP_CMDFILE", "",
         "file to read the programs from", Group::kJob,
           [](Options& o, const Value& v) { o.commands_file = v.text; }),
    yes_no("newjob", "MP_NEWJOB", "no",
           "run one job step after another", Group::kJob,
           [](Options& o, const Value& v) { o.newjob = v.yes(); }),
    only_before_program(yes_no("noarglist", "MP_NOARGLIST", "no",
           "pass everything after the program to it unchanged", Group::kJob,
           [](Options& o, const Value& v) { o.noarglist = v.yes(); })),
    only_before_program(text("fence", "MP_FENCE", "string", "",
         "word after which arguments are passed unchanged", Group::kJob,
           [](Options& o, const Value& v) { o.fence = v.text; })),
    only_before_program(text("x", "", "variable", "",
         "set a variable of the tasks, or pass one on to all nodes", Group::kJob,
           kElsewhere)),
    only_before_program(text("wdir wd", "", "directory", "",
         "working directory of the tasks", Group::kJob,
           kElsewhere)),
    bare("dry-run",
         "print which task runs where, and stop", Group::kJob,
           [](Options& o, const Value&) { o.dry_run = true; }),

    // ---- nodes
    file("hostfile hfile", "MP_HOSTFILE", "host.list",
         "file naming the node of each task; NULL: none", Group::kNodes,
           set_hostfile),
    file("savehostfile", "MP_SAVEHOSTFILE", "",
         "write the nodes used to this file", Group::kNodes,
           [](Options& o, const Value& v) { o.save_host_file = v.text; }),
    yes_no("resd", "MP_RESD", "no",
           "let the resource manager choose the nodes", Group::kNodes,
           [](Options& o, const Value& v) { o.resource_manager = v.yes(); }),
    text("rmpool", "MP_RMPOOL", "pool", "",
         "take all nodes from this pool", Group::kNodes,
           [](Options& o, const Value& v) { o.pool = v.text; }),
    file("", "MP_POOLFILE", "/etc/poe/pools",
         "file that says which nodes a pool has", Group::kNodes,
           [](Options& o, const Value& v) { o.pool_file = v.text; }),
    only_before_program(bare("batch",
         "put the job into the queue of the resource manager", Group::kNodes,
           [](Options& o, const Value&) { o.batch = true; })),
    number("nodes", "MP_NODES", 1, kMaxProcs, "nodes", "",
           "number of nodes", Group::kNodes,
           [](Options& o, const Value& v) { o.nodes = static_cast<TaskId>(v.number); }),
    number("tasks_per_node", "MP_TASKS_PER_NODE", 1, kMaxProcs, "tasks", "",
           "largest number of tasks on each node", Group::kNodes,
           [](Options& o, const Value& v) { o.tasks_per_node = static_cast<TaskId>(v.number); }),
    number_or("retry", "MP_RETRY", "wait", 0, kMaxSeconds, "seconds", "0",
              "time between attempts to get nodes", Group::kNodes,
           set_retry),
    number("retrycount", "MP_RETRYCOUNT", 0, kMaxProcs, "attempts", "0",
           "how often to try again to get nodes", Group::kNodes,
           [](Options& o, const Value& v) { o.retry_count = static_cast<int>(v.number); }),
    number("", "MP_TIMEOUT", 1, kMaxSeconds, "seconds", "150",
           "time allowed to reach a node", Group::kNodes,
           [](Options& o, const Value& v) { o.timeout = std::chrono::seconds(v.number); }),
    number("pulse", "MP_PULSE", 0, kMaxSeconds, "seconds", "600",
           "how long a node may not answer; 0: forever", Group::kNodes,
           [](Options& o, const Value& v) { o.pulse = std::chrono::seconds(v.number); }),
    file("", "MP_REMOTEDIR", "",
         "script that prints the directory to use on nodes", Group::kNodes,
           [](Options& o, const Value& v) { o.remote_directory_script = v.text; }),
    file("", "MP_PMD", "",
         "the daemon's program; default: next to poe", Group::kNodes,
           [](Options& o, const Value& v) { o.pmd = v.text; }),
    text("", "MP_REMOTE_SHELL", "command", "ssh -xT -o BatchMode=yes",
         "command that runs another one on another node", Group::kNodes,
           // split_remote_shell() splits it.
           [](Options& o, const Value& v) { o.remote_shell = {v.text}; }),
    number("", "MP_LAUNCH_FANOUT", 1, kMaxProcs, "nodes", "16",
           "how many nodes poe, and each node, starts itself", Group::kNodes,
           [](Options& o, const Value& v) { o.launch_fanout = static_cast<int>(v.number); }),
    choice("adapter_use", "MP_ADAPTER_USE", "shared dedicated", "shared",
           "whether others may use the adapter", Group::kNodes,
           [](Options& o, const Value& v) { o.reserved.adapter = v.text == "dedicated"; }),
    choice("cpu_use", "MP_CPU_USE", "multiple unique", "multiple",
           "whether others may use the processors", Group::kNodes,
           [](Options& o, const Value& v) { o.reserved.processors = v.text == "unique"; }),
    yes_no("bind", "MP_BIND", "yes",
           "bind each task to its own processors, if enough", Group::kNodes,
           [](Options& o, const Value& v) { o.bind = v.yes(); }),
    number("threads", "MP_THREADS", 1, pm::kMaxThreads, "threads", "",
           "threads of each task: that many cores, and OMP_NUM_THREADS", Group::kNodes,
           [](Options& o, const Value& v) { o.threads = static_cast<int>(v.number); }),
    yes_no("report_binding", "MP_REPORT_BINDING", "no",
           "report which processors each task may use", Group::kNodes,
           [](Options& o, const Value& v) { o.report_binding = v.yes(); }),

    // ---- input and output
    yes_no("labelio", "MP_LABELIO", "no",
           "label each line of output with its task", Group::kStreams,
           [](Options& o, const Value& v) { o.labelio = v.yes(); }),
    text("", "MP_LABELFORMAT", "pattern", "",
         "form of the label: %r task, %R with zeros, %h node, %t time", Group::kStreams,
           [](Options& o, const Value& v) { o.label_format = v.text; }),
    text("outfile", "MP_OUTFILE", "pattern", "",
         "file for each task's standard output: %r, %R, %h", Group::kStreams,
           [](Options& o, const Value& v) { o.outfile = v.text; }),
    text("errfile", "MP_ERRFILE", "pattern", "",
         "file for each task's standard error, likewise", Group::kStreams,
           [](Options& o, const Value& v) { o.errfile = v.text; }),
    number_or("stdinmode", "MP_STDINMODE", "all none", 0, kMaxProcs - 1, "task id",
              "all", "which tasks read standard input", Group::kStreams,
           set_stdinmode),
    number_or("stdoutmode", "MP_STDOUTMODE", "unordered ordered folded", 0, kMaxProcs - 1,
              "task id", "unordered", "whose output appears, and in what order", Group::kStreams,
           set_stdoutmode),
    yes_no("", "MP_HOLD_STDIN", "no",
           "hold standard input back until all tasks run", Group::kStreams,
           [](Options& o, const Value& v) { o.hold_stdin = v.yes(); }),
    choice("unbuffered", "MP_UNBUFFERED", "auto yes no", "auto",
           "show each line at once; auto: if output is a terminal", Group::kStreams,
           set_unbuffered),
    yes_no("pty", "MP_PTY", "no",
           "give each task a terminal, for interactive programs", Group::kStreams,
           [](Options& o, const Value& v) { o.pty = v.yes(); }),

    // ---- messages and the end of the job
    number("infolevel ilevel", "MP_INFOLEVEL", 0, 6, "level", "1",
           "0 errors, 1 attention, 2 info, 3 to 6 diagnostics", Group::kEnd,
           [](Options& o, const Value& v) { o.infolevel = static_cast<int>(v.number); }),
    file("report", "MP_REPORT", "",
         "write how the job ended to this file, as JSON; -: output", Group::kEnd,
           [](Options& o, const Value& v) { o.report = v.text; }),
    number("maxtime", "MP_MAXTIME", 0, kMaxSeconds, "seconds", "0",
           "end a job that takes longer; 0: no limit", Group::kEnd,
           set_maxtime),
    number("", "MP_KILL_GRACE", 0,
           std::chrono::milliseconds(pm::kMaxKillGrace).count(), "milliseconds", "500",
           "time from SIGTERM to SIGKILL when a job is ended", Group::kEnd,
           [](Options& o, const Value& v) { o.kill_grace = std::chrono::milliseconds(v.number); }),
    choice("onfail", "MP_ONFAIL", "pdbx none", "none",
           "pdbx: stop all tasks when one fails, and debug them", Group::kEnd,
           [](Options& o, const Value& v) { o.debug_failure = v.text == "pdbx"; }),
    number("", "MP_INTERRUPT_GRACE", 0, kMaxSeconds, "seconds", "30",
           "end a job that still runs so long after Ctrl-C; 0: never", Group::kEnd,
           [](Options& o, const Value& v) { o.interrupt_grace = std::chrono::seconds(v.number); }),
    number("deadlock_timeout", "MP_DEADLOCK_TIMEOUT", 0, kMaxSeconds,
           "seconds", "10", "report tasks that wait for each other so long; 0: off",
           Group::kEnd,
           [](Options& o, const Value& v) { o.deadlock_timeout = std::chrono::seconds(v.number); }),
    yes_no("pmdlog", "MP_PMDLOG", "no",
           "keep a log of the daemon on each node", Group::kEnd, kNotYet),
    text("coredir", "MP_COREDIR", "directory", "coredir",
         "prefix of directories for core files; none: leave them", Group::kEnd,
           [](Options& o, const Value& v) { o.core.prefix = v.text; }),
    text("corefile_format", "MP_COREFILE_FORMAT", "name", "",
         "leave stacks as text, in a file of this name, or STDERR", Group::kEnd,
           [](Options& o, const Value& v) { o.core.format = v.text; }),
    yes_no("corefile_sigterm", "MP_COREFILE_SIGTERM", "no",
           "leave stacks at SIGTERM, too", Group::kEnd,
           [](Options& o, const Value& v) { o.core.at_sigterm = v.yes(); }),
    choice("statistics", "MP_STATISTICS", "yes no print", "no",
           "count messages and bytes", Group::kEnd, kNotYet),
    word_or_text("printenv", "MP_PRINTENV", "yes no", "script", "no",
         "print the environment of the tasks", Group::kEnd, kNotYet),

    // ---- communication
    case_sensitive(choice("euilib", "MP_EUILIB", "us ip", "us",
           "us: the fastest way; ip: TCP", Group::kCommunication,
           [](Options& o, const Value& v) { o.euilib = v.text == "ip" ? Euilib::kIp : Euilib::kUs; })),
    text("euidevice", "MP_EUIDEVICE", "device", "",
         "network interface between nodes", Group::kCommunication,
           [](Options& o, const Value& v) { o.network_device = v.text; }),
    file("plan", "MP_PLAN", "",
         "communication plan of the program, see vt -plan", Group::kCommunication,
           [](Options& o, const Value& v) { o.plan = v.text; }),
    text("euilibpath", "MP_EUILIBPATH", "path", "",
         "where the communication library is", Group::kCommunication, kNotYet),
    choice("wait_mode", "MP_WAIT_MODE", "adaptive poll yield sleep nopoll",
           "adaptive", "how a task waits for a message", Group::kCommunication,
           set_wait_mode),
    size("buffer_mem", "MP_BUFFER_MEM", 4 * kKilo,
         static_cast<std::int64_t>(pm::kMaxBufferMem), "",
         "memory for early messages from each other task", Group::kCommunication,
           [](Options& o, const Value& v) { o.buffer_mem = static_cast<Bytes>(v.number); }),
    size("eager_limit", "MP_EAGER_LIMIT", 0,
         static_cast<std::int64_t>(pm::kMaxEagerLimit), "",
         "longest message that is sent before its receive", Group::kCommunication,
           set_eager_limit),
    yes_no("single_copy", "MP_SINGLE_COPY", "yes",
           "let tasks read long messages from each other's memory", Group::kCommunication,
           [](Options& o, const Value& v) { o.single_copy = v.yes(); }),
    choice("mpi", "MP_MPI", "poe own", "own",
           "MPI library of programs of MPICH and Open MPI",
           Group::kCommunication,
           [](Options& o, const Value& v) { o.foreign_on_poe = v.text == "poe"; }),
    choice("mpi_library", "MP_MPI_LIBRARY", "poe program", "poe",
           "MPI library of programs that others built for the MPI ABI", Group::kCommunication,
           [](Options& o, const Value& v) { o.own_mpi_library = v.text == "poe"; }),
    choice("", "MP_PMIX", "auto yes no", "auto",
           "serve PMIx to programs of other MPIs", Group::kCommunication,
           set_pmix),
    choice("ccl_mode", "MP_CCL_MODE", "barrier nonbarrier non-barrier", "",
           "whether collective calls of MPL wait for all members", Group::kCommunication,
           kElsewhere),
    choice("multicast", "MP_MULTICAST", "auto yes no", "auto",
           "broadcast between nodes by IP multicast", Group::kCommunication,
           kElsewhere),
    choice("euidevelop", "MP_EUIDEVELOP", "yes no deb nor min", "no",
           "compare the collective calls of all tasks", Group::kCommunication,
           kElsewhere),
    yes_no("mpicheck", "MP_MPICHECK", "no",
           "search for errors in calls of MPI", Group::kCommunication, kElsewhere),
    yes_no("shared_memory", "MP_SHARED_MEMORY", "yes",
           "use shared memory inside a node; no: TCP", Group::kCommunication,
           [](Options& o, const Value& v) { if (!v.yes()) o.euilib = Euilib::kIp; }),
    yes_no("css_interrupt", "MP_CSS_INTERRUPT", "no",
           "call message handlers while a task computes", Group::kCommunication,
           kElsewhere),
    number("intrdelay", "MP_INTRDELAY", 0, kMaxMicroseconds, "microseconds", "0",
           "delay of such an interrupt", Group::kCommunication,
           kElsewhere),
    number("polling_interval", "MP_POLLING_INTERVAL", 0, kMaxMicroseconds,
           "microseconds", "",
           "how often to look for messages while computing",
           Group::kCommunication,
           kElsewhere),
    yes_no("use_flow_control", "MP_USE_FLOW_CONTROL", "no",
           "limit messages that are under way", Group::kCommunication, kNotYet),
    size("thread_stacksize", "MP_THREAD_STACKSIZE", 16 * kKilo, kGiga, "",
         "stack of service threads", Group::kCommunication, kNotYet),
    yes_no("single_thread", "MP_SINGLE_THREAD", "no",
           "promise that tasks have one thread", Group::kCommunication, kNotYet),
    number("max_typedepth", "MP_MAX_TYPEDEPTH", 1, 1000, "levels", "5",
           "deepest nesting of datatypes", Group::kCommunication, kNotYet),

    // ---- markers and traces
    yes_no("pmarray", "MP_PMARRAY", "no",
           "show the marker array above the output, on a terminal", Group::kDisplays,
           [](Options& o, const Value& v) { o.pmarray = v.yes(); }),
    yes_no("progress", "MP_PROGRESS", "no",
           "show a line of progress below the output, on a terminal", Group::kDisplays,
           [](Options& o, const Value& v) { o.progress = v.yes(); }),
    number("pmlights", "MP_PMLIGHTS", 0, 100, "lights", "100",
           "lights of each task in the marker array", Group::kDisplays,
           kElsewhere),
    number("usrport", "MP_USRPORT", 1, 65535, "port", "9999",
           "port of the marker array", Group::kDisplays, kNotYet),
    choice("tracelevel tlevel", "MP_TRACELEVEL", "0 1 2 3 9", "0",
           "what to record: 0 nothing ... 9 everything", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_level = v.text.front() - '0'; }),
    choice("observe", "MP_OBSERVE", "auto yes no", "auto",
           "show and record the calls of other MPI libraries", Group::kDisplays, set_observe),
    text("tracedir tdir", "MP_TRACEDIR", "directory", "",
         "directory of the trace file", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_directory = v.text; }),
    file("tracefile tfile", "MP_TRACEFILE", "",
         "name of the trace file", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_file = v.text; }),
    size("tbuffsize tbsize", "MP_TBUFFSIZE", kKilo, kGiga, "16M",
         "with -tbuffwrap: how much of each task to keep", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_buffer = static_cast<Bytes>(v.number); }),
    yes_no("tbuffwrap tbwrap", "MP_TBUFFWRAP", "no",
           "keep only the last records", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_wraps = v.yes(); }),
    size("ttempsize ttsize", "MP_TTEMPSIZE", kKilo, kGiga * kKilo, "256M",
         "limit of the records of each task", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_most = static_cast<Bytes>(v.number); }),
    text("tmpdir", "MP_TMPDIR", "directory", "",
         "directory of records until the job ends", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_temporary = v.text; }),
    number("samplefreq sfreq", "MP_SAMPLEFREQ", 1, 1'000'000, "milliseconds",
           "100", "time between samples of system statistics", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_sample = std::chrono::milliseconds(v.number); }),
    number("sample", "MP_SAMPLE", 0, 10'000, "stacks per second", "0",
           "record call stacks; alone it implies -tracelevel 9", Group::kDisplays,
           [](Options& o, const Value& v) { o.trace_stacks = static_cast<int>(v.number); }),

    // ---- poe itself
    only_before_program(bare("h help", "print the common flags, or after -h all: all; stop",
         Group::kPoe, kElsewhere)),
    only_before_program(bare("version", "print the version, and stop", Group::kPoe, kElsewhere)),
        // clang-format on
};

// Name of the flag, and name of its variable.
struct LaterName {
    std::string_view flag;
    std::string_view variable;
};
constexpr LaterName kLaterNames[] = {
    {"bulk_min_msg_size", "MP_BULK_MIN_MSG_SIZE"},
    {"bulk_xfer_chunk_size", "MP_BULK_XFER_CHUNK_SIZE"},
    {"cc_scratch_buf", "MP_CC_SCRATCH_BUF"},
    {"ckptdir", "MP_CKPTDIR"},
    {"ckptfile", "MP_CKPTFILE"},
    {"clock_source", "MP_CLOCK_SOURCE"},
    {"debug_notimeout", "MP_DEBUG_NOTIMEOUT"},
    {"devtype", "MP_DEVTYPE"},
    {"hints_filtered", "MP_HINTS_FILTERED"},
    {"instances", "MP_INSTANCES"},
    {"io_buffer_size", "MP_IO_BUFFER_SIZE"},
    {"io_errlog", "MP_IO_ERRLOG"},
    {"ionodefile", "MP_IONODEFILE"},
    {"llfile", "MP_LLFILE"},
    {"mpilib", "MP_MPILIB"},
    {"msg_api", "MP_MSG_API"},
    {"msg_envelope_buf", "MP_MSG_ENVELOPE_BUF"},
    {"pmd_version", "MP_PMD_VERSION"},
    {"priority_log", "MP_PRIORITY_LOG"},
    {"priority_ntp", "MP_PRIORITY_NTP"},
    {"profdir", "MP_PROFDIR"},
    {"rdma_count", "MP_RDMA_COUNT"},
    {"retransmit_interval", "MP_RETRANSMIT_INTERVAL"},
    {"rexmit_buf_cnt", "MP_REXMIT_BUF_CNT"},
    {"rexmit_buf_size", "MP_REXMIT_BUF_SIZE"},
    {"save_llfile", "MP_SAVE_LLFILE"},
    {"spname", "MP_SPNAME"},
    {"task_affinity", "MP_TASK_AFFINITY"},
    {"udp_packet_size", "MP_UDP_PACKET_SIZE"},
    {"use_bulk_xfer", "MP_USE_BULK_XFER"},
};

constexpr auto kLaterTable = [] {
    std::array<OptionRow, std::size(kLaterNames)> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = text(kLaterNames[i].flag, kLaterNames[i].variable, "value", "", "", Group::kPoe,
                       kNotYet);
    for (OptionRow& row : rows) row.later = true;
    return rows;
}();

constexpr bool help_fits() {
    return std::all_of(std::begin(kTable), std::end(kTable),
                       [](const OptionRow& row) { return row.help.size() <= 60; });
}
static_assert(help_fits());

}  // namespace

std::span<const OptionRow> option_table() {
    return kTable;
}

std::span<const OptionRow> later_options() {
    return kLaterTable;
}

std::string_view OptionRow::key() const {
    return names.empty() ? variable : names.substr(0, names.find(' '));
}

const OptionRow& option_row(std::string_view key) {
    const auto row = std::find_if(std::begin(kTable), std::end(kTable),
                                  [&](const OptionRow& each) { return each.key() == key; });
    POE_CHECK(row != std::end(kTable), key);
    return *row;
}

std::string_view next_word(std::string_view& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
        text = {};
        return {};
    }
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

namespace {

bool has_word(std::string_view words, std::string_view wanted) {
    for (auto word = next_word(words); !word.empty(); word = next_word(words))
        if (word == wanted) return true;
    return false;
}

}  // namespace

const OptionRow* find_flag(std::string_view name) {
    if (name.empty()) return nullptr;
    for (const OptionRow& row : kTable)
        if (has_word(row.names, name)) return &row;
    for (const OptionRow& row : kLaterTable)
        if (row.names == name) return &row;
    return nullptr;
}

const OptionRow* find_early_flag(std::string_view name) {
    if (const OptionRow* row = find_flag(name)) return row;
    if (name.empty()) return nullptr;
    for (const OptionRow& row : kTable)
        if (has_word(row.early_names, name)) return &row;
    return nullptr;
}

const OptionRow* find_variable(std::string_view variable) {
    if (variable.empty()) return nullptr;
    for (const OptionRow& row : kTable)
        if (row.variable == variable) return &row;
    return nullptr;
}

}  // namespace poe::cli
