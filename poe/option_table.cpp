// The rows of the option table, and looking them up.
#include "poe/option_table.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "partition_manager/job.hpp"

namespace poe::cli {
namespace {

using Id = OptionId;
using Kind = ValueKind;
using Group = OptionGroup;

constexpr std::int64_t kMaxProcs = 1048576;
constexpr std::int64_t kMaxSeconds = 100'000'000;  // three years: more is a mistake
constexpr std::int64_t kMaxMicroseconds = 1'000'000'000;
constexpr std::int64_t kKilo = 1024;
constexpr std::int64_t kMega = kKilo * 1024;
constexpr std::int64_t kGiga = kMega * 1024;

constexpr bool kNow = true;
constexpr bool kNotYet = false;

// Short makers, so that a row below reads as: id, names, variable, [values], default, help, group.
constexpr OptionRow yes_no(Id id, std::string_view names, std::string_view variable,
                           std::string_view fallback, std::string_view help, Group group,
                           bool implemented) {
    return {id, names, variable, Kind::kYesNo, "yes no", 0,
            0,  "",    fallback, help,         group,    implemented};
}

constexpr OptionRow number(Id id, std::string_view names, std::string_view variable,
                           std::int64_t low, std::int64_t high, std::string_view unit,
                           std::string_view fallback, std::string_view help, Group group,
                           bool implemented) {
    return {id,   names, variable, Kind::kNumber, "",    low,
            high, unit,  fallback, help,          group, implemented};
}

constexpr OptionRow number_or(Id id, std::string_view names, std::string_view variable,
                              std::string_view words, std::int64_t low, std::int64_t high,
                              std::string_view unit, std::string_view fallback,
                              std::string_view help, Group group, bool implemented) {
    return {id,       names, variable, Kind::kNumberOrWord, words, low, high, unit,
            fallback, help,  group,    implemented};
}

constexpr OptionRow size(Id id, std::string_view names, std::string_view variable, std::int64_t low,
                         std::int64_t high, std::string_view fallback, std::string_view help,
                         Group group, bool implemented) {
    return {id,   names,   variable, Kind::kSize, "",    low,
            high, "bytes", fallback, help,        group, implemented};
}

constexpr OptionRow choice(Id id, std::string_view names, std::string_view variable,
                           std::string_view words, std::string_view fallback, std::string_view help,
                           Group group, bool implemented) {
    return {id, names, variable, Kind::kChoice, words, 0,
            0,  "",    fallback, help,          group, implemented};
}

constexpr OptionRow file(Id id, std::string_view names, std::string_view variable,
                         std::string_view fallback, std::string_view help, Group group,
                         bool implemented) {
    return {id, names, variable, Kind::kFile, "", 0, 0, "file", fallback, help, group, implemented};
}

constexpr OptionRow text(Id id, std::string_view names, std::string_view variable,
                         std::string_view unit, std::string_view fallback, std::string_view help,
                         Group group, bool implemented) {
    return {id, names, variable, Kind::kString, "", 0, 0, unit, fallback, help, group, implemented};
}

constexpr OptionRow word_or_text(Id id, std::string_view names, std::string_view variable,
                                 std::string_view words, std::string_view unit,
                                 std::string_view fallback, std::string_view help, Group group,
                                 bool implemented) {
    return {id, names, variable, Kind::kString, words, 0,
            0,  unit,  fallback, help,          group, implemented};
}

constexpr OptionRow bare(Id id, std::string_view names, std::string_view help, Group group) {
    return {id, names, "", Kind::kNothing, "", 0, 0, "", "", help, group, kNow};
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

constexpr std::array<OptionRow, kOptionCount> kTable = {{
    // clang-format off
    // ---- the job
    also_early(number(Id::kProcs, "procs", "MP_PROCS", 1, kMaxProcs, "tasks", "1",
           "number of tasks", Group::kJob, kNow), "n np"),
    choice(Id::kPgmmodel, "pgmmodel", "MP_PGMMODEL", "spmd mpmd", "spmd",
           "one program for all tasks, or one for each", Group::kJob, kNow),
    file(Id::kCmdfile, "cmdfile", "MP_CMDFILE", "",
         "file to read the programs from", Group::kJob, kNow),
    yes_no(Id::kNewjob, "newjob", "MP_NEWJOB", "no",
           "run one job step after another", Group::kJob, kNow),
    only_before_program(yes_no(Id::kNoarglist, "noarglist", "MP_NOARGLIST", "no",
           "pass all that follows the program untouched", Group::kJob, kNow)),
    only_before_program(text(Id::kFence, "fence", "MP_FENCE", "string", "",
         "word after which arguments are passed untouched", Group::kJob, kNow)),
    only_before_program(text(Id::kExport, "x", "", "variable", "",
         "set a variable of the tasks, or pass one on to all nodes", Group::kJob, kNow)),
    only_before_program(text(Id::kWorkingDirectory, "wdir wd", "", "directory", "",
         "working directory of the tasks", Group::kJob, kNow)),
    bare(Id::kDryRun, "dry-run",
         "print which task runs where, and stop", Group::kJob),

    // ---- nodes
    file(Id::kHostfile, "hostfile hfile", "MP_HOSTFILE", "host.list",
         "file naming the node of each task; NULL: none", Group::kNodes, kNow),
    file(Id::kSavehostfile, "savehostfile", "MP_SAVEHOSTFILE", "",
         "write the nodes used to this file", Group::kNodes, kNow),
    yes_no(Id::kResd, "resd", "MP_RESD", "no",
           "let the resource manager choose the nodes", Group::kNodes, kNow),
    text(Id::kRmpool, "rmpool", "MP_RMPOOL", "pool", "",
         "take all nodes from this pool", Group::kNodes, kNow),
    file(Id::kPoolfile, "", "MP_POOLFILE", "/etc/poe/pools",
         "file that says which nodes a pool has", Group::kNodes, kNow),
    only_before_program(bare(Id::kBatch, "batch",
         "put the job into the queue of the resource manager", Group::kNodes)),
    number(Id::kNodes, "nodes", "MP_NODES", 1, kMaxProcs, "nodes", "",
           "number of nodes", Group::kNodes, kNow),
    number(Id::kTasksPerNode, "tasks_per_node", "MP_TASKS_PER_NODE", 1, kMaxProcs, "tasks", "",
           "number of tasks on each node", Group::kNodes, kNow),
    number_or(Id::kRetry, "retry", "MP_RETRY", "wait", 0, kMaxSeconds, "seconds", "0",
              "time between attempts to get nodes", Group::kNodes, kNow),
    number(Id::kRetrycount, "retrycount", "MP_RETRYCOUNT", 0, kMaxProcs, "attempts", "0",
           "how often to try again to get nodes", Group::kNodes, kNow),
    number(Id::kTimeout, "", "MP_TIMEOUT", 1, kMaxSeconds, "seconds", "150",
           "time allowed to reach a node", Group::kNodes, kNow),
    number(Id::kPulse, "pulse", "MP_PULSE", 0, kMaxSeconds, "seconds", "600",
           "time between signs of life of nodes; 0: off", Group::kNodes, kNow),
    file(Id::kRemotedir, "", "MP_REMOTEDIR", "",
         "script that prints the directory to use on nodes", Group::kNodes, kNow),
    file(Id::kPmd, "", "MP_PMD", "",
         "the daemon's program; default: next to poe", Group::kNodes, kNow),
    text(Id::kRemoteShell, "", "MP_REMOTE_SHELL", "command", "ssh -xT -o BatchMode=yes",
         "command that runs another one on another node", Group::kNodes, kNow),
    number(Id::kLaunchFanout, "", "MP_LAUNCH_FANOUT", 1, kMaxProcs, "nodes", "16",
           "how many nodes poe, and each node, starts itself", Group::kNodes, kNow),
    choice(Id::kAdapterUse, "adapter_use", "MP_ADAPTER_USE", "shared dedicated", "",
           "whether others may use the adapter", Group::kNodes, kNotYet),
    choice(Id::kCpuUse, "cpu_use", "MP_CPU_USE", "multiple unique", "",
           "whether others may use the processors", Group::kNodes, kNotYet),
    yes_no(Id::kBind, "bind", "MP_BIND", "yes",
           "give each task processors of its own, if they suffice", Group::kNodes, kNow),
    yes_no(Id::kReportBinding, "report_binding", "MP_REPORT_BINDING", "no",
           "say which processors each task may use", Group::kNodes, kNow),

    // ---- input and output
    yes_no(Id::kLabelio, "labelio", "MP_LABELIO", "no",
           "label each line of output with its task", Group::kStreams, kNow),
    text(Id::kLabelformat, "", "MP_LABELFORMAT", "pattern", "",
         "such a label: %r task, %R with zeros, %h node, %t time", Group::kStreams, kNow),
    text(Id::kOutfile, "outfile", "MP_OUTFILE", "pattern", "",
         "file for each task's standard output: %r, %R, %h", Group::kStreams, kNow),
    text(Id::kErrfile, "errfile", "MP_ERRFILE", "pattern", "",
         "file for each task's standard error, likewise", Group::kStreams, kNow),
    number_or(Id::kStdinmode, "stdinmode", "MP_STDINMODE", "all none", 0, kMaxProcs - 1, "task id",
              "all", "which tasks read standard input", Group::kStreams, kNow),
    number_or(Id::kStdoutmode, "stdoutmode", "MP_STDOUTMODE", "unordered ordered folded", 0, kMaxProcs - 1,
              "task id", "unordered", "whose output appears, and in what order", Group::kStreams,
              kNow),
    yes_no(Id::kHoldStdin, "", "MP_HOLD_STDIN", "no",
           "hold standard input back until all tasks run", Group::kStreams, kNow),
    choice(Id::kUnbuffered, "unbuffered", "MP_UNBUFFERED", "auto yes no", "auto",
           "show each line at once; auto: if output is a terminal", Group::kStreams, kNow),
    yes_no(Id::kPty, "pty", "MP_PTY", "no",
           "give each task a terminal, for interactive programs", Group::kStreams, kNow),

    // ---- messages and the end of the job
    number(Id::kInfolevel, "infolevel ilevel", "MP_INFOLEVEL", 0, 6, "level", "1",
           "0 errors, 1 attention, 2 info, 3 to 6 diagnostics", Group::kEnd, kNow),
    file(Id::kReport, "report", "MP_REPORT", "",
         "write how the job ended to this file, as JSON; -: output", Group::kEnd, kNow),
    number(Id::kMaxtime, "maxtime", "MP_MAXTIME", 0, kMaxSeconds, "seconds", "0",
           "end a job that takes longer; 0: no limit", Group::kEnd, kNow),
    number(Id::kKillGrace, "", "MP_KILL_GRACE", 0,
           std::chrono::milliseconds(pm::kMaxKillGrace).count(), "milliseconds", "500",
           "time from SIGTERM to SIGKILL when a job is ended", Group::kEnd, kNow),
    number(Id::kInterruptGrace, "", "MP_INTERRUPT_GRACE", 0, kMaxSeconds, "seconds", "30",
           "end a job that goes on so long after Ctrl-C; 0: never", Group::kEnd, kNow),
    number(Id::kDeadlockTimeout, "deadlock_timeout", "MP_DEADLOCK_TIMEOUT", 0, kMaxSeconds,
           "seconds", "10", "tell of tasks that wait for each other so long; 0: off",
           Group::kEnd, kNow),
    yes_no(Id::kPmdlog, "pmdlog", "MP_PMDLOG", "no",
           "keep a log of the daemon on each node", Group::kEnd, kNotYet),
    text(Id::kCoredir, "coredir", "MP_COREDIR", "directory", "coredir",
         "prefix of directories for core files; none: leave them", Group::kEnd, kNow),
    text(Id::kCorefileFormat, "corefile_format", "MP_COREFILE_FORMAT", "name", "",
         "leave stacks as text, in a file of this name, or STDERR", Group::kEnd, kNow),
    yes_no(Id::kCorefileSigterm, "corefile_sigterm", "MP_COREFILE_SIGTERM", "no",
           "leave stacks at SIGTERM, too", Group::kEnd, kNow),
    choice(Id::kStatistics, "statistics", "MP_STATISTICS", "yes no print", "no",
           "count messages and bytes", Group::kEnd, kNotYet),
    word_or_text(Id::kPrintenv, "printenv", "MP_PRINTENV", "yes no", "script", "no",
         "print the environment of the tasks", Group::kEnd, kNotYet),

    // ---- communication
    case_sensitive(choice(Id::kEuilib, "euilib", "MP_EUILIB", "us ip", "us",
           "us: the fastest way there is; ip: TCP", Group::kCommunication, kNow)),
    text(Id::kEuidevice, "euidevice", "MP_EUIDEVICE", "device", "",
         "network interface between nodes", Group::kCommunication, kNow),
    text(Id::kEuilibpath, "euilibpath", "MP_EUILIBPATH", "path", "",
         "where the communication library is", Group::kCommunication, kNotYet),
    choice(Id::kWaitMode, "wait_mode", "MP_WAIT_MODE", "adaptive poll yield sleep nopoll",
           "adaptive", "how a task waits for a message", Group::kCommunication, kNow),
    size(Id::kBufferMem, "buffer_mem", "MP_BUFFER_MEM", 4 * kKilo,
         static_cast<std::int64_t>(pm::kMaxBufferMem), "",
         "memory for early messages from each other task", Group::kCommunication, kNow),
    size(Id::kEagerLimit, "eager_limit", "MP_EAGER_LIMIT", 0,
         static_cast<std::int64_t>(pm::kMaxEagerLimit), "",
         "longest message sent before it is asked for", Group::kCommunication, kNow),
    yes_no(Id::kSingleCopy, "single_copy", "MP_SINGLE_COPY", "yes",
           "let tasks read long messages from each other's memory", Group::kCommunication, kNow),
    choice(Id::kPmix, "", "MP_PMIX", "auto yes no", "auto",
           "serve PMIx to programs of other MPIs", Group::kCommunication, kNow),
    choice(Id::kEuidevelop, "euidevelop", "MP_EUIDEVELOP", "yes no deb nor min", "no",
           "compare the collective calls of all tasks", Group::kCommunication, kNow),
    yes_no(Id::kSharedMemory, "shared_memory", "MP_SHARED_MEMORY", "yes",
           "use shared memory inside a node", Group::kCommunication, kNotYet),
    yes_no(Id::kCssInterrupt, "css_interrupt", "MP_CSS_INTERRUPT", "no",
           "call message handlers while a task computes", Group::kCommunication, kNow),
    number(Id::kIntrdelay, "intrdelay", "MP_INTRDELAY", 0, kMaxMicroseconds, "microseconds", "0",
           "delay of such an interrupt", Group::kCommunication, kNow),
    number(Id::kPollingInterval, "polling_interval", "MP_POLLING_INTERVAL", 0, kMaxMicroseconds,
           "microseconds", "",
           "how often to look for messages while computing",
           Group::kCommunication, kNow),
    yes_no(Id::kUseFlowControl, "use_flow_control", "MP_USE_FLOW_CONTROL", "no",
           "limit messages that are under way", Group::kCommunication, kNotYet),
    size(Id::kThreadStacksize, "thread_stacksize", "MP_THREAD_STACKSIZE", 16 * kKilo, kGiga, "",
         "stack of service threads", Group::kCommunication, kNotYet),
    yes_no(Id::kSingleThread, "single_thread", "MP_SINGLE_THREAD", "no",
           "promise that tasks have one thread", Group::kCommunication, kNotYet),
    number(Id::kMaxTypedepth, "max_typedepth", "MP_MAX_TYPEDEPTH", 1, 1000, "levels", "5",
           "deepest nesting of datatypes", Group::kCommunication, kNotYet),

    // ---- markers and traces
    yes_no(Id::kPmarray, "pmarray", "MP_PMARRAY", "no",
           "show the marker array above the output, on a terminal", Group::kDisplays, kNow),
    yes_no(Id::kProgress, "progress", "MP_PROGRESS", "no",
           "show a line of progress below the output, on a terminal", Group::kDisplays, kNow),
    number(Id::kPmlights, "pmlights", "MP_PMLIGHTS", 0, 100, "lights", "100",
           "lights of each task in the marker array", Group::kDisplays, kNow),
    number(Id::kUsrport, "usrport", "MP_USRPORT", 1, 65535, "port", "9999",
           "port of the marker array", Group::kDisplays, kNotYet),
    choice(Id::kTracelevel, "tracelevel tlevel", "MP_TRACELEVEL", "0 1 2 3 9", "0",
           "what to record: 0 nothing ... 9 everything", Group::kDisplays, kNow),
    text(Id::kTracedir, "tracedir tdir", "MP_TRACEDIR", "directory", "",
         "directory of the trace file", Group::kDisplays, kNow),
    file(Id::kTracefile, "tracefile tfile", "MP_TRACEFILE", "",
         "name of the trace file", Group::kDisplays, kNow),
    size(Id::kTbuffsize, "tbuffsize tbsize", "MP_TBUFFSIZE", kKilo, kGiga, "16M",
         "with -tbuffwrap: how much of each task to keep", Group::kDisplays, kNow),
    yes_no(Id::kTbuffwrap, "tbuffwrap tbwrap", "MP_TBUFFWRAP", "no",
           "keep only the last records", Group::kDisplays, kNow),
    size(Id::kTtempsize, "ttempsize ttsize", "MP_TTEMPSIZE", kKilo, kGiga * kKilo, "256M",
         "most that is recorded of each task", Group::kDisplays, kNow),
    text(Id::kTmpdir, "tmpdir", "MP_TMPDIR", "directory", "",
         "directory of records until the job ends", Group::kDisplays, kNow),
    number(Id::kSamplefreq, "samplefreq sfreq", "MP_SAMPLEFREQ", 1, 1'000'000, "milliseconds",
           "100", "time between samples of system statistics", Group::kDisplays, kNow),

    // ---- poe itself
    only_before_program(bare(Id::kHelp, "h help", "print the common flags, or after -h all: all; stop",
         Group::kPoe)),
    only_before_program(bare(Id::kVersion, "version", "print the version, and stop", Group::kPoe)),
    // clang-format on
}};

// Name of the flag and of its variable.
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
        rows[i] = text(Id::kLater, kLaterNames[i].flag, kLaterNames[i].variable, "value", "", "",
                       Group::kPoe, kNotYet);
    return rows;
}();

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < kOptionCount; ++i) {
        if (static_cast<std::size_t>(kTable[i].id) != i) return false;
        if (kTable[i].help.size() > 60) return false;
    }
    return true;
}
static_assert(rows_are_in_order(), "kTable follows OptionId, and its help texts fit");

}  // namespace

std::span<const OptionRow, kOptionCount> option_table() {
    return kTable;
}

std::span<const OptionRow> later_options() {
    return kLaterTable;
}

const OptionRow& option_row(OptionId id) {
    return kTable[static_cast<std::size_t>(id)];
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
