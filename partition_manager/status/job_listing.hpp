// The jobs that run on this computer, found by their directories (job_directory.hpp) and read
// through their node segments. Read-only: it writes nothing, and takes no lock that conflicts with
// an owner's for more than a moment.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "partition_manager/job/task_state.hpp"
#include "partition_manager/status/process_facts.hpp"

namespace poe::pm {

// "poe-<uid>-<job>": the name of everything that belongs to a job.
struct JobName {
    uid_t owner = 0;
    std::string id;
    bool operator==(const JobName&) const = default;
};
// Returns nothing if it is not such a name. Accepts any bytes.
std::optional<JobName> parse_job_name(std::string_view name);

struct RunningJob {
    std::string id;
    std::string segment;  // path; empty: no task of the job runs here (home_jobs.hpp)
    uid_t owner = 0;
    pid_t poe = 0;  // 0: not on this computer, or ended
    pid_t pmd = 0;  // the daemon on this computer
    std::uint32_t tasks = 0;
    std::uint32_t nodes = 0;
    std::chrono::milliseconds elapsed{0};
    std::string directory;              // its working directory; empty: unknown
    std::vector<std::string> programs;  // different first words of the local processes

    std::vector<TaskId> tasks_elsewhere;  // on other nodes
    std::vector<std::string> node_names;  // of all nodes, if the job has several
};

struct JobScan {
    std::vector<RunningJob> jobs;       // the oldest first
    std::vector<std::string> troubles;  // directories that look like jobs but cannot be read
};

// Returns the jobs below `parent`, of one user or of all. Remains of killed jobs, and jobs that are
// starting or ending, are skipped silently. Does not block. Throws Error if `parent` cannot be
// read.
JobScan running_jobs(const std::string& parent, std::optional<uid_t> owner);

// Sorts by age, the oldest first.
void sort_by_age(std::vector<RunningJob>& jobs);

// True if an owner of the job still lives. Cheap enough for frequent calls.
bool still_runs(const RunningJob& job);

// A task with its process. There are no facts if the process has ended or is on another node.
struct TaskView {
    TaskState state;
    std::string elsewhere;  // name of the other node; empty: the task is on this node
    std::optional<ProcessFacts> process;
};

// Returns the tasks of the job on this node, in task order. Throws Error if the job cannot be read
// (it may have ended).
std::vector<TaskView> look_at_job(const RunningJob& job);

}  // namespace poe::pm
