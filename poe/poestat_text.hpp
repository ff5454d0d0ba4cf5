// poestat's tables, sentences and JSON: pure functions of what was seen.
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

// What a task does, in a few words: "mpc_brecv from 3 type 7, 4 KB, 12.3 s".
std::string state_in_words(const pm::TaskView& view);

// A line for each job. `owners`: with the user's name, as -a shows it.
std::string job_table(std::span<const pm::RunningJob> jobs, bool owners);

// A line for each job, by which a person recognises it: program, directory and start. `now`: to
// compute when they began, in local time.
std::string kill_table(std::span<const pm::RunningJob> jobs,
                       std::chrono::system_clock::time_point now);

// A line about the job, one for each task of this node (called `node`), and one about tasks on
// others.
std::string task_table(const pm::RunningJob& job, std::span<const pm::TaskView> tasks,
                       const std::string& node);

struct JobFindings {
    pm::RunningJob job;
    pm::WaitFindings findings;
};

std::string deadlock_text(std::span<const JobFindings> jobs);

std::string jobs_json(std::span<const pm::RunningJob> jobs);
std::string tasks_json(const pm::RunningJob& job, std::span<const pm::TaskView> tasks,
                       const std::string& node);
std::string deadlocks_json(std::span<const JobFindings> jobs);

// Each line cut to `columns`, as a terminal would otherwise wrap it. Bytes of UTF-8 stay together.
std::string cut_to(const std::string& text, std::size_t columns);

}  // namespace poe::cli
