// Converts the user's request (Options) and the nodes (TaskMap) to a job (JobSpec).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "partition_manager/home/partition.hpp"
#include "partition_manager/job/task_map.hpp"
#include "poe/diagnostics.hpp"
#include "poe/options.hpp"
#include "poe/program_prompt.hpp"

namespace poe::cli {

// Returns a new key of random bytes from the system. Throws Error.
JobKey make_job_key();

// The facts about this run of poe that the operating system provides; collected once, in main.
struct HostContext {
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // current working directory
    std::string temporary = "/tmp";        // TMPDIR
    bool stdin_is_empty = false;
    bool stdout_is_terminal = false;
    pm::TerminalSpec terminal;  // size of poe's terminal
    pid_t pid = 0;
    std::chrono::system_clock::time_point now{};
    std::function<JobKey()> make_key = make_job_key;  // called for jobs that need TCP
    std::uint32_t umask = 022;
    std::vector<pm::ResourceLimit> limits;
    // Called only for jobs that also have other nodes; see home_address.hpp.
    std::function<std::string(const std::string& node)> address_towards;
};

// Returns a name that is never reused on this host: letters and digits of time and process, and the
// step.
std::string make_job_id(const HostContext& surroundings, int step);

// Values that depend on the nodes and take time to determine. They are the same for all steps.
struct Paths {
    std::string pmd;               // path on this node
    std::string remote_directory;  // empty: the current directory
};

// Finds the daemon, and runs MP_REMOTEDIR's script if there are other nodes. Blocks. Throws Error.
Paths find_paths(const Options& options, const pm::TaskMap& map);

pm::JobSpec make_job(const Options& options, const pm::TaskMap& map, const JobStep& step,
                     const HostContext& surroundings, const Paths& paths, int step_number);

// Returns the variables that -x NAME is to pass on but that are not set.
std::vector<std::string> unset_exports(const Options& options,
                                       const std::vector<std::string>& environment);

// Returns "NAME=value" of all variables that tasks inherit: poe's environment, with its flags as
// variables.
std::vector<std::string> task_environment(const std::vector<std::string>& environment,
                                          const std::vector<std::string>& flags);

}  // namespace poe::cli
