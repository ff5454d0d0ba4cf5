// The jobs that run on this computer, found by their directories (job_directory.hpp) and read
// through their node segments. Only looks: no lock is taken that an owner wants, nothing is
// written.
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

// "poe-<uid>-<job>", how all that belongs to a job is called.
struct JobName {
    uid_t owner = 0;
    std::string id;
    bool operator==(const JobName&) const = default;
};
// Nothing when it is no such name; takes any bytes whatever.
std::optional<JobName> parse_job_name(std::string_view name);

struct RunningJob {
    std::string id;
    std::string segment;  // path; empty: none of its tasks runs here (home_jobs.hpp)
    uid_t owner = 0;
    pid_t poe = 0;  // 0: not on this computer, or gone
    pid_t pmd = 0;  // the daemon on this computer
    std::uint32_t tasks = 0;
    std::uint32_t nodes = 0;
    std::chrono::milliseconds elapsed{0};
    std::string directory;              // in which it runs; empty: unknown
    std::vector<std::string> programs;  // different first words of the processes that run here

    std::vector<TaskId> tasks_elsewhere;  // on other nodes
    std::vector<std::string> node_names;  // of a job of several nodes
};

struct JobScan {
    std::vector<RunningJob> jobs;       // the oldest first
    std::vector<std::string> troubles;  // directories that look like jobs and cannot be read
};

// Jobs below `parent`, of one user or of all. What a job that was killed has left behind, and what
// is just coming or going, is passed over in silence. Does not block.
JobScan running_jobs(const std::string& parent, std::optional<uid_t> owner);

// The oldest first.
void sort_by_age(std::vector<RunningJob>& jobs);

// Whether somebody still looks after the job: cheap, for asking often.
bool still_runs(const RunningJob& job);

// A task with its process; no facts when that is gone, or on another node.
struct TaskView {
    TaskState state;
    std::string elsewhere;  // the other node; empty: it is on this one
    std::optional<ProcessFacts> process;
    bool idle = false;  // neither the process nor what it has started runs at this moment
};

// The tasks of the job on this node, in task order. Throws Error when the job cannot be read (it
// may have ended).
std::vector<TaskView> look_at_job(const RunningJob& job);

}  // namespace poe::pm
