// The tables, sentences and JSON of poestat: pure functions of the observed states.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "partition_manager/status/job_listing.hpp"
#include "partition_manager/status/wait_graph.hpp"

namespace poe::cli {

inline double seconds(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
}

// The activity of a task in a few words: "mpc_brecv from 3 type 7, 4 KB, 12.3 s".
std::string state_in_words(const pm::TaskView& view);

// One line per job. `owners`: includes the user's name, for -a.
std::string job_table(std::span<const pm::RunningJob> jobs, bool owners);

// One line per job, by which the user recognizes it: program, directory and start. `now` is used to
// compute the start in local time.
std::string kill_table(std::span<const pm::RunningJob> jobs,
                       std::chrono::system_clock::time_point now);

// One line about the job, one for each task in `tasks` (`node` is the name of this node), and one
// about tasks that cannot be seen.
std::string task_table(const pm::RunningJob& job, std::span<const pm::TaskView> tasks,
                       const std::string& node);

struct JobFindings {
    pm::RunningJob job;
    pm::WaitFindings findings;
};

std::string deadlock_text(std::span<const JobFindings> jobs);

std::string jobs_json(std::span<const pm::RunningJob> jobs);
// `jobs`: the job of the tasks, and those that its tasks have started.
std::string tasks_json(std::span<const pm::RunningJob> jobs, std::span<const pm::TaskView> tasks,
                       const std::string& node);
std::string deadlocks_json(std::span<const JobFindings> jobs);

// Cuts each line to `columns`, because a terminal would wrap it. Does not split UTF-8 characters.
std::string cut_to(const std::string& text, std::size_t columns);

}  // namespace poe::cli
