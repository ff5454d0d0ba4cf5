// What the user asked of poe: the flags, the MP_* variables and the defaults, merged, checked, and
// as typed plain data. The rows behind it are in option_table.hpp; read_options.hpp fills it in.
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

// Where a value comes from. A flag beats its variable, both beat the default.
enum class Source : unsigned char { kDefault, kVariable, kFlag };

// Something the user should hear although the job goes on.
struct Notice {
    enum class Severity { kAttention, kInfo };
    Severity severity = Severity::kAttention;
    int number = 0;    // of message 0031-NNN
    std::string text;  // one line
    // "ATTENTION: 0031-378  text"
    std::string str() const;
};

// True when messages of this severity are shown at this -infolevel (ATTENTION from 1, INFO from 2).
bool is_shown(Notice::Severity severity, int infolevel);

// The number of the notice that a setting has no effect.
inline constexpr int kIgnoredSetting = 378;

// What poe is to do.
enum class Request { kRun, kHelp, kVersion };

enum class ProgramModel { kSpmd, kMpmd };

enum class PmixMode { kAuto, kYes, kNo };

enum class Unbuffering { kAuto, kYes, kNo };

// One program of a command line that names several, separated by ':', and what stood before it.
struct ProgramPart {
    pm::Command program;
    TaskId tasks = 1;
    pm::CommandPlace place;  // as Options::place
};

// Fields are in the order of the table, not of their sizes: there is one of these.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Options {
    Request request = Request::kRun;
    bool all_help = false;  // -h all
    bool dry_run = false;   // --dry-run: print the task map and stop

    // The program and its arguments with poe's own removed; empty: commands file or prompt. Of
    // several programs the first.
    pm::Command program;
    std::vector<ProgramPart>
        parts;  // all programs, if there are several; their tasks make up procs
    // -x and -wdir for every program, unless there are several. The environment has entries
    // "NAME=value", and "NAME" for a variable that is to be passed on to all nodes as it is here.
    // The directory is as typed.
    pm::CommandPlace place;

    TaskId procs = 1;  // 1..1048576

    // Where tasks run.
    pm::HostFileUse host_file_use = pm::HostFileUse::kDefault;
    std::string host_file;          // path; kGiven only
    std::string save_host_file;     // path; empty: none
    bool resource_manager = false;  // -resd
    bool batch = false;             // -batch: into the queue
    std::string pool;               // -rmpool; empty: none
    std::string pool_file = "/etc/poe/pools";
    TaskId nodes = 0;           // 0: as many as the rest makes necessary
    TaskId tasks_per_node = 0;  // likewise
    Euilib euilib = Euilib::kUs;
    bool retry_until_ready = false;     // -retry wait
    std::chrono::seconds retry{0};      // between attempts to get nodes; 0: no retry
    int retry_count = 0;                // attempts after the first; with retry only
    std::chrono::seconds timeout{150};  // to reach a node's daemon
    std::chrono::seconds pulse{600};    // between signs of life; 0: off
    bool bind = true;                   // each task gets processors of its own, if they suffice
    bool report_binding = false;

    // What they run.
    ProgramModel program_model = ProgramModel::kSpmd;
    std::string commands_file;  // path; empty: ask on standard input
    bool newjob = false;        // keep the partition for further job steps
    bool noarglist = false;     // arguments belong to the program, unparsed
    std::string fence;          // word that ends poe's parsing; empty: none

    // Input, output and messages.
    bool labelio = false;
    std::string label_format;  // a pattern (name_pattern.hpp); empty: the task's number
    std::string outfile;       // a pattern; empty: none
    std::string errfile;
    pm::StdinMode stdin_mode;    // a task id in it is below procs
    pm::StdoutMode stdout_mode;  // likewise
    Unbuffering unbuffering = Unbuffering::kAuto;
    bool pty = false;         // each task gets a terminal
    bool hold_stdin = false;  // keep standard input until all tasks run
    int infolevel = 1;        // 0..6
    std::string report;       // -report: path of the JSON report, "-": output; empty: none

    // The end of a job.
    std::optional<std::chrono::seconds> maxtime;  // status 124 when it takes longer
    std::chrono::milliseconds kill_grace{500};    // between SIGTERM and SIGKILL
    std::chrono::seconds interrupt_grace{30};     // after SIGINT that tasks survive; 0: for ever
    std::chrono::seconds deadlock_timeout{10};    // without progress; 0: off

    // Displays on poe's own terminal.
    bool pmarray = false;   // the marker array, above the output
    bool progress = false;  // one line, below it

    // Traces.
    int trace_level = 0;          // 0, 1, 2, 3, 9
    std::string trace_directory;  // empty: the working directory
    std::string trace_file;       // empty: after the program
    Bytes trace_buffer = Bytes{16} << 20;
    bool trace_wraps = false;
    Bytes trace_most = Bytes{256} << 20;
    std::string trace_temporary;  // empty: where the trace comes to be
    std::chrono::milliseconds trace_sample{100};

    // Communication.
    WaitMode wait_mode = WaitMode::kAdaptive;
    Bytes buffer_mem = 0;     // 0: MPL's default
    Bytes eager_limit = 0;    // 0: MPL's default
    bool single_copy = true;  // tasks may read each other's memory
    PmixMode pmix = PmixMode::kAuto;
    std::string pmd;                      // MP_PMD: path of the daemon; empty: next to poe
    std::string remote_directory_script;  // MP_REMOTEDIR; empty: none
    // MP_REMOTE_SHELL in words; never empty.
    pm::Command remote_shell{"ssh", "-xT", "-o", "BatchMode=yes"};
    pm::CoreSpec core;           // -coredir, -corefile_format, -corefile_sigterm
    int launch_fanout = 16;      // MP_LAUNCH_FANOUT
    std::string network_device;  // -euidevice; empty: any

    // "MP_NAME=value" of every flag given on the command line, in table order: tasks see what the
    // user typed as if it had been set. Words are normalised (lower case, full name).
    std::vector<std::string> task_environment;

    // To be printed according to infolevel (is_shown), in order; never dropped.
    std::vector<Notice> notices;

    // Where each value comes from, by the key of its row (option_table.hpp); none: the default.
    struct Origin {
        Source source = Source::kDefault;
        std::string spelling;  // "-procs", "MP_PROCS"
    };
    std::map<std::string, Origin, std::less<>> origins;
    Source source(std::string_view key) const {
        const auto found = origins.find(key);
        return found == origins.end() ? Source::kDefault : found->second.source;
    }
    // "-procs", "MP_PROCS" or "default": how to name the value's origin in a message.
    std::string origin(std::string_view key) const {
        const auto found = origins.find(key);
        return found == origins.end() ? "default" : found->second.spelling;
    }
};

}  // namespace poe::cli
