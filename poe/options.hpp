// The user's request to poe: flags, MP_* variables and defaults, merged and checked, as typed plain
// data. option_table.hpp contains the rows; read_options.hpp fills in this structure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/job/host_file.hpp"
#include "partition_manager/job/job.hpp"

namespace poe::cli {

// The origin of a value. A flag takes precedence over its variable, and both over the default.
enum class Source : unsigned char { kDefault, kVariable, kFlag };

// A message to the user that does not stop the job.
struct Notice {
    enum class Severity { kAttention, kInfo };
    Severity severity = Severity::kAttention;
    int number = 0;    // of the message 0031-NNN
    std::string text;  // one line
    // "ATTENTION: 0031-378  text"
    std::string str() const;
};

// True if messages of this severity are shown at this -infolevel (ATTENTION from 1 on, INFO from 2
// on).
bool is_shown(Notice::Severity severity, int infolevel);

// Message number of the notice that a setting has no effect.
inline constexpr int kIgnoredSetting = 378;

// The action that the user requested.
enum class Request { kRun, kHelp, kVersion };

enum class ProgramModel { kSpmd, kMpmd };

enum class PmixMode { kAuto, kYes, kNo };

enum class Unbuffering { kAuto, kYes, kNo };

// One program of a command line with several programs, separated by ':', and the flags before it.
struct ProgramPart {
    pm::Command program;
    TaskId tasks = 1;
    pm::CommandPlace place;  // as Options::place
};

// The fields are in the order of the table, not of their sizes, because there is only one such
// object.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Options {
    Request request = Request::kRun;
    bool all_help = false;  // -h all
    bool dry_run = false;   // --dry-run: print the task map and stop

    // The program and its arguments without poe's own flags. Empty: commands file or prompt. If
    // there are several programs, the first one.
    pm::Command program;
    // All programs, if there are several; procs is the sum of their tasks.
    std::vector<ProgramPart> parts;
    // -x and -wdir for all programs; empty if there are several programs. The environment has
    // entries "NAME=value", and "NAME" for a variable whose local value is to be passed to all
    // nodes. The directory is as typed.
    pm::CommandPlace place;

    TaskId procs = 1;  // 1..1048576

    // The nodes of the tasks.
    pm::HostFileUse host_file_use = pm::HostFileUse::kDefault;
    std::string host_file;          // path; kGiven only
    std::string save_host_file;     // path; empty: none
    bool resource_manager = false;  // -resd
    bool batch = false;             // -batch: submit the job to the queue
    std::string pool;               // -rmpool; empty: none
    std::string pool_file = "/etc/poe/pools";
    TaskId nodes = 0;              // 0: as many as the other values require
    TaskId tasks_per_node = 0;     // 0: as many as the other values require
    pm::NodeReservation reserved;  // -cpu_use, -adapter_use
    // Nodes of pools that other jobs use; poe_main.cpp adds them.
    std::vector<std::string> avoided_nodes;
    Euilib euilib = Euilib::kUs;
    bool retry_until_ready = false;     // -retry wait
    std::chrono::seconds retry{0};      // time between attempts to get nodes; 0: no retry
    int retry_count = 0;                // attempts after the first; only with retry
    std::chrono::seconds timeout{150};  // limit for reaching a node's daemon
    std::chrono::seconds pulse{600};    // limit for an answer of a daemon; 0: off
    bool bind = true;                   // bind each task to its own processors, if there are enough
    bool report_binding = false;
    bool own_mpi_library = true;
    bool foreign_on_poe = false;
    int threads = 0;  // of each task; 0: not said

    // The programs of the tasks.
    ProgramModel program_model = ProgramModel::kSpmd;
    std::string commands_file;  // path; empty: read standard input
    bool newjob = false;        // keep the partition for further job steps
    bool noarglist = false;     // arguments after the program are passed on unread
    std::string fence;          // word that ends poe's parsing; empty: none

    // Input, output and messages.
    bool labelio = false;
    std::string label_format;  // a pattern (name_pattern.hpp); empty: the task's number
    std::string outfile;       // a pattern; empty: none
    std::string errfile;
    pm::StdinMode stdin_mode;    // its task id is below procs
    pm::StdoutMode stdout_mode;  // its task id is below procs
    Unbuffering unbuffering = Unbuffering::kAuto;
    pm::Observe observe = pm::Observe::kAuto;
    bool pty = false;         // each task gets a terminal
    bool hold_stdin = false;  // read standard input only once all tasks run
    int infolevel = 1;        // 0..6
    std::string plan;         // -plan: file of the communication plan; empty: none
    std::string report;       // -report: path of the JSON report; "-": standard output; empty: none

    // The end of a job.
    std::optional<std::chrono::seconds> maxtime;  // a longer job is ended with status 124
    std::chrono::milliseconds kill_grace{500};    // from SIGTERM to SIGKILL
    bool debug_failure = false;                   // pdbx runs the job
    std::chrono::seconds interrupt_grace{30};     // for tasks that survive SIGINT; 0: forever
    std::chrono::seconds deadlock_timeout{10};    // time without progress; 0: off

    // Displays on poe's own terminal.
    bool pmarray = false;   // the marker array, above the output
    bool progress = false;  // one line below the output

    // Traces.
    int trace_level = 0;          // 0, 1, 2, 3, 9
    std::string trace_directory;  // empty: the working directory
    std::string trace_file;       // empty: named after the program
    Bytes trace_buffer = Bytes{16} << 20;
    bool trace_wraps = false;
    Bytes trace_most = Bytes{256} << 20;
    std::string trace_temporary;  // empty: the directory of the trace file
    std::chrono::milliseconds trace_sample{100};
    int trace_stacks = 0;  // call stacks per second and task

    // Communication.
    WaitMode wait_mode = WaitMode::kAdaptive;
    Bytes buffer_mem = 0;     // 0: MPL's default
    Bytes eager_limit = 0;    // 0: MPL's default
    bool single_copy = true;  // tasks may read each other's memory
    PmixMode pmix = PmixMode::kAuto;
    std::string pmd;                      // MP_PMD: path of the daemon; empty: next to poe
    std::string remote_directory_script;  // MP_REMOTEDIR; empty: none
    // The words of MP_REMOTE_SHELL; never empty.
    pm::Command remote_shell{"ssh", "-xT", "-o", "BatchMode=yes"};
    pm::CoreSpec core;           // -coredir, -corefile_format, -corefile_sigterm
    int launch_fanout = 16;      // MP_LAUNCH_FANOUT
    std::string network_device;  // -euidevice; empty: any

    // "MP_NAME=value" for every flag on the command line, in table order, so that tasks see flags
    // as if the variables had been set. Words are normalised (lower case, full name).
    std::vector<std::string> task_environment;

    // To be printed in order, if is_shown() for the infolevel. None may be dropped.
    std::vector<Notice> notices;

    // The origin of each value, by the key of its row (option_table.hpp). No entry: the default.
    struct Origin {
        Source source = Source::kDefault;
        std::string spelling;  // "-procs", "MP_PROCS"
    };
    std::map<std::string, Origin, std::less<>> origins;
    Source source(std::string_view key) const {
        const auto found = origins.find(key);
        return found == origins.end() ? Source::kDefault : found->second.source;
    }
    // The name of a value's origin in messages: "-procs", "MP_PROCS" or "default".
    std::string origin(std::string_view key) const {
        const auto found = origins.find(key);
        return found == origins.end() ? "default" : found->second.spelling;
    }
};

}  // namespace poe::cli
