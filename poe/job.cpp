// See job.hpp.
#include "poe/job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <sys/random.h>
#include <unordered_set>

#include "base/error.hpp"
#include "partition_manager/job/command_lines.hpp"
#include "partition_manager/job/name_pattern.hpp"
#include "partition_manager/job/process_sets.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "poe/trace_job.hpp"

namespace poe::cli {

namespace {

std::string base36(std::uint64_t number) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]);
        number /= 36;
    } while (number != 0);
    return text;
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

const std::string* find_entry(const std::vector<std::string>& environment, std::string_view name) {
    const auto found =
        std::find_if(environment.begin(), environment.end(),
                     [name](const std::string& entry) { return name_of(entry) == name; });
    return found == environment.end() ? nullptr : &*found;
}

// Returns -wdir as an absolute path; empty if there is none. A shell in a task takes PWD as its
// directory.
std::string absolute_directory(const std::string& typed, const std::string& current) {
    if (typed.empty()) return "";
    return (std::filesystem::path(current) / typed).lexically_normal().string();
}

// Converts what the user typed to what the daemons need.
pm::CommandPlace resolve(const pm::CommandPlace& typed, const HostContext& surroundings) {
    pm::CommandPlace place;
    place.directory = absolute_directory(typed.directory, surroundings.directory);
    if (!place.directory.empty()) place.environment.push_back("PWD=" + place.directory);
    for (const std::string& entry : typed.environment) {
        if (entry.find('=') != std::string::npos)
            place.environment.push_back(entry);
        else if (const std::string* here = find_entry(surroundings.environment, entry))
            place.environment.push_back(*here);
    }
    return place;
}

}  // namespace

std::string make_job_id(const HostContext& surroundings, int step) {
    const auto since_epoch = surroundings.now.time_since_epoch();
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
    return base36(static_cast<std::uint64_t>(milliseconds)) + "-" +
           base36(static_cast<std::uint64_t>(surroundings.pid)) + "-" +
           base36(static_cast<std::uint64_t>(step));
}

JobKey make_job_key() {
    JobKey key;
    std::size_t got = 0;
    while (got < key.size()) {
        const ssize_t n = ::getrandom(key.data() + got, key.size() - got, 0);
        if (n < 0 && errno != EINTR) throw_errno("cannot get random bytes for the job's key");
        if (n > 0) got += static_cast<std::size_t>(n);
    }
    return key;
}

std::vector<std::string> task_environment(const std::vector<std::string>& environment,
                                          const std::vector<std::string>& flags) {
    std::unordered_set<std::string_view> given;
    for (const std::string& flag : flags) given.insert(name_of(flag));
    std::vector<std::string> result;
    for (const std::string& entry : environment)
        if (!given.contains(name_of(entry))) result.push_back(entry);
    result.insert(result.end(), flags.begin(), flags.end());
    return result;
}

std::vector<std::string> unset_exports(const Options& options,
                                       const std::vector<std::string>& environment) {
    std::vector<std::string> unset;
    const auto add = [&](const pm::CommandPlace& place) {
        for (const std::string& entry : place.environment)
            if (entry.find('=') == std::string::npos && find_entry(environment, entry) == nullptr)
                unset.push_back(entry);
    };
    add(options.place);
    for (const ProgramPart& part : options.parts) add(part.place);
    return unset;
}

Paths find_paths(const Options& options, const pm::TaskMap& map) {
    Paths paths;
    paths.pmd = std::filesystem::absolute(pm::find_pmd(options.pmd, std::getenv("PATH")));
    const std::string& script = options.remote_directory_script;
    const bool all_here = map.nodes.size() == 1 && map.home == 0;
    if (script.empty() || all_here) return paths;
    const std::vector<std::string> lines = pm::lines_of_command(script);
    if (!lines.empty()) paths.remote_directory = lines.front();
    if (!paths.remote_directory.starts_with('/'))
        throw Error("\"" + script + "\" (MP_REMOTEDIR) printed \"" + paths.remote_directory +
                    "\", which is not the absolute path of a directory");
    return paths;
}

namespace {

pm::LaunchSpec make_launch(const Options& options, const pm::TaskMap& map,
                           const HostContext& surroundings, const Paths& paths) {
    pm::LaunchSpec launch;
    launch.fanout = static_cast<std::uint32_t>(options.launch_fanout);
    launch.home = map.home;
    launch.remote_shell = options.remote_shell;
    launch.pmd = paths.pmd;
    launch.pulse = options.pulse;
    launch.device = options.network_device;
    launch.directory = paths.remote_directory;
    launch.umask = surroundings.umask;
    launch.limits = surroundings.limits;
    return launch;
}

// The daemons know their own addresses, except on the home node, because its daemon was not started
// over the network.
std::vector<std::string> known_addresses(const pm::TaskMap& map, const HostContext& surroundings) {
    std::vector<std::string> addresses(map.nodes.size());
    if (map.home < 0 || map.nodes.size() < 2 || !surroundings.address_towards) return {};
    const std::string& other = map.nodes[map.home == 0 ? 1 : 0];
    addresses[static_cast<std::size_t>(map.home)] = surroundings.address_towards(other);
    return addresses;
}

// On a terminal each line is shown when it is written, as without poe. Tasks with their own
// terminal buffer by lines anyway.
pm::Unbuffered unbuffered_of(const Options& options, const HostContext& surroundings) {
    if (options.pty || options.unbuffering == Unbuffering::kNo) return pm::Unbuffered::kNo;
    if (options.unbuffering == Unbuffering::kYes) return pm::Unbuffered::kAllProcesses;
    return surroundings.stdout_is_terminal && options.outfile.empty() ? pm::Unbuffered::kPrograms
                                                                      : pm::Unbuffered::kNo;
}

// Applies settings that all commands share. A working directory applies to the whole job, on every
// node.
void apply_place(pm::CommandPlace place, pm::JobSpec& job) {
    if (!place.directory.empty()) {
        job.directory = std::move(place.directory);
        job.launch.directory.clear();
    }
    if (place.environment.empty()) return;
    job.places.resize(job.commands.size());
    for (pm::CommandPlace& one : job.places) one.environment = place.environment;
}

// The sets of pools, and those that the commands file names.
std::vector<pm::NamedTasks> named_sets(const pm::TaskMap& map, const JobStep& step) {
    std::vector<pm::NamedTasks> sets;
    for (std::size_t task = 0; task < map.pool_of_task.size(); ++task)
        pm::add_to_set(sets, pm::kPoolSet + map.pool_of_task[task], static_cast<TaskId>(task));
    sets.insert(sets.end(), step.sets.begin(), step.sets.end());
    return sets;
}

}  // namespace

pm::JobSpec make_job(const Options& options, const pm::TaskMap& map, const JobStep& step,
                     const HostContext& surroundings, const Paths& paths, int step_number) {
    pm::JobSpec job;
    job.id = make_job_id(surroundings, step_number);
    job.nodes = map.nodes;
    for (std::size_t task = 0; task < map.node_of_task.size(); ++task)
        job.tasks.push_back({map.node_of_task[task], step.command_of_task[task]});
    job.commands = step.commands;
    std::vector<std::string> variables = options.task_environment;
    variables.push_back(pm::kProcessSetsVariable +
                        ("=" + pm::process_sets_text(job, named_sets(map, step))));
    job.environment = task_environment(surroundings.environment, variables);
    job.directory = surroundings.directory;
    for (const pm::CommandPlace& place : step.places)
        job.places.push_back(resolve(place, surroundings));
    job.stdin_mode = options.stdin_mode;
    job.stdout_mode = options.stdout_mode;
    job.stdin_is_empty = surroundings.stdin_is_empty;
    job.stdout_is_terminal = surroundings.stdout_is_terminal;
    job.stamp_output = options.labelio && pm::tells_time(options.label_format);
    job.unbuffered = unbuffered_of(options, surroundings);
    job.observe = options.observe;
    job.terminal = surroundings.terminal;
    job.terminal.wanted = options.pty;
    job.tell_binding = options.report_binding || !options.report.empty() || options.infolevel >= 2;
    job.wait_mode = options.wait_mode;
    job.buffer_mem = options.buffer_mem;
    job.eager_limit = options.eager_limit;
    job.euilib = options.euilib;
    if (pm::needs_tcp(job)) job.job_key = surroundings.make_key();
    job.addresses = known_addresses(map, surroundings);
    job.core = options.core;
    job.launch = make_launch(options, map, surroundings, paths);
    apply_place(resolve(options.place, surroundings), job);
    job.kill_grace = options.kill_grace;
    job.deadlock_timeout = options.deadlock_timeout;
    job.host_pmix = options.pmix != PmixMode::kNo;
    job.eager_pmix = options.pmix == PmixMode::kYes;
    job.reserved = map.reserved;
    job.bind = options.bind;
    job.threads = options.threads;
    job.own_mpi_library = options.own_mpi_library;
    job.foreign_on_poe = options.foreign_on_poe;
    job.single_copy = options.single_copy;
    if (options.trace_level > 0 || options.trace_stacks > 0)
        job.trace = make_trace(
            options,
            trace_path(options, step.commands.front().front(), surroundings.directory, step_number),
            job.id, surroundings.temporary);
    return job;
}

}  // namespace poe::cli
