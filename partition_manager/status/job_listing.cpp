// Scans for jobs; see job_listing.hpp.
#include "partition_manager/status/job_listing.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/status/process_sums.hpp"

namespace poe::pm {
namespace {

constexpr std::string_view kPrefix = "poe-";

// True if the directory belongs to that user and is locked. Other observers may hold a shared lock,
// but only for a moment, as this function does.
bool has_living_owner(const std::string& path, uid_t owner) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != owner) return false;
    return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

std::vector<std::string> programs_of(const std::vector<TaskState>& tasks) {
    std::vector<std::string> programs;
    for (const TaskState& task : tasks) {
        if (task.life == TaskState::Life::kEnded || task.pid <= 0) continue;
        std::string program = program_of_process(task.pid);
        if (!program.empty() &&
            std::find(programs.begin(), programs.end(), program) == programs.end())
            programs.push_back(std::move(program));
    }
    return programs;
}

RunningJob read_job(const JobName& entry, const std::string& path) {
    RunningJob job;
    job.id = entry.id;
    job.owner = entry.owner;
    job.segment = path;
    const NodeSegment segment = NodeSegment::watch(path);
    const SegmentFacts& facts = segment.facts();
    if (facts.job_id != entry.id) throw Error(path + " belongs to another job");
    job.tasks = facts.tasks;
    job.nodes = facts.nodes;
    for (TaskId task = 0; task < static_cast<TaskId>(facts.tasks); ++task)
        if (segment.node_of(task) != facts.node) job.tasks_elsewhere.push_back(task);
    for (std::uint32_t node = 0; facts.nodes > 1 && node < facts.nodes; ++node)
        job.node_names.emplace_back(segment.node_record(static_cast<NodeIndex>(node)).name);
    const auto now = std::chrono::steady_clock::now();
    job.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
        now.time_since_epoch() - std::chrono::nanoseconds(facts.created_ns));
    const auto daemon = process_facts(facts.pmd_pid);
    const auto parent = daemon ? process_facts(daemon->parent) : std::nullopt;
    if (daemon) {
        job.pmd = facts.pmd_pid;
        job.directory = directory_of_process(facts.pmd_pid);
    }
    if (parent && parent->name == "poe") job.poe = daemon->parent;
    job.programs = programs_of(look_at_tasks(segment, now));
    return job;
}

}  // namespace

std::optional<JobName> parse_job_name(std::string_view name) {
    if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    JobName parsed;
    const auto owner = take_number<uid_t>(name);
    if (!owner || name.empty() || name[0] != '-') return std::nullopt;
    parsed.owner = *owner;
    parsed.id = name.substr(1);
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (parsed.id.empty() || parsed.id.size() > kMaxJobId ||
        !std::all_of(parsed.id.begin(), parsed.id.end(), allowed))
        return std::nullopt;
    return parsed;
}

JobScan running_jobs(const std::string& parent, std::optional<uid_t> owner) {
    JobScan scan;
    DIR* directory = ::opendir(parent.c_str());
    if (directory == nullptr) throw_errno("cannot look for jobs in " + parent);
    while (const dirent* found = ::readdir(directory)) {
        const std::optional<JobName> entry = parse_job_name(found->d_name);
        if (!entry || (owner && entry->owner != *owner)) continue;
        const std::string path = parent + "/" + found->d_name;
        const std::string segment = path + "/segment";
        if (!has_living_owner(path, entry->owner) || ::access(segment.c_str(), F_OK) != 0) continue;
        try {
            scan.jobs.push_back(read_job(*entry, segment));
        } catch (const Error& error) {
            // Errors are ignored if the job is just starting or ending.
            if (has_living_owner(path, entry->owner) && ::access(segment.c_str(), F_OK) == 0)
                scan.troubles.emplace_back(error.what());
        }
    }
    ::closedir(directory);
    sort_by_age(scan.jobs);
    return scan;
}

void sort_by_age(std::vector<RunningJob>& jobs) {
    std::sort(jobs.begin(), jobs.end(), [](const RunningJob& a, const RunningJob& b) {
        return a.elapsed != b.elapsed ? a.elapsed > b.elapsed : a.id < b.id;
    });
}

bool still_runs(const RunningJob& job) {
    const std::string directory = job.segment.substr(0, job.segment.rfind('/'));
    return has_living_owner(directory, job.owner) && ::access(job.segment.c_str(), F_OK) == 0;
}

std::vector<TaskView> look_at_job(const RunningJob& job) {
    const NodeSegment segment = NodeSegment::watch(job.segment);
    std::vector<TaskState> states = look_at_tasks(segment, std::chrono::steady_clock::now());
    add_process_states(states, job.owner);
    std::vector<TaskView> views;
    for (TaskState& state : states) {
        TaskView view;
        if (state.life != TaskState::Life::kEnded && state.pid > 0)
            view.process = process_facts(state.pid);
        // Tasks write their process ids themselves, so processes of other users are ignored.
        if (view.process && view.process->owner != job.owner) view.process.reset();
        view.state = std::move(state);
        views.push_back(std::move(view));
    }
    return views;
}

}  // namespace poe::pm
