// SpawnedJob: tasks that a task has started (MPI_Comm_spawn, PMIx_Spawn).
//
// To MPI they are a world of their own: ranks from 0, a namespace, a space of keys, and they talk
// to those who started them as to strangers, by addresses. So to the daemons they are another job,
// with daemons, segments and a name of its own, and nothing below poe has to know of two jobs at
// once; what one job must know of another is an outline of where its tasks run (JobOutline). To
// people they are more tasks of the same job: poe gives them the numbers behind those it has, and
// they share its streams, its fate, its report and its status.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "partition_manager/home/flush_round.hpp"
#include "partition_manager/launch/branches.hpp"
#include "partition_manager/launch/exchange_table.hpp"

namespace poe::pm {

// Bounds of what tasks may ask for: tasks in one request, and all that a job ever starts.
inline constexpr std::size_t kMostSpawnedAtOnce = 4096;
inline constexpr std::size_t kMostSpawned = std::size_t{1} << 16;

// What a request is to become.
struct SpawnPlan {
    std::string id;                    // of the new job
    TaskId first = 0;                  // what people will call its task 0
    std::size_t spawned_before = 0;    // tasks
    std::size_t next_node = 0;         // where the first task goes that names no host; moves on
    std::vector<JobOutline> others;    // jobs that run
    std::function<JobKey()> make_key;  // for a job that needs one when `base` has none
};

// The job that a task has asked for, on nodes of `base`, the job that poe was given: its tasks go
// to them in turns, or to the hosts that are named. Throws Error, in words for people, when there
// can be no such job.
JobSpec make_spawned_job(const JobSpec& base, const SpawnTasks& ask, SpawnPlan& plan);

JobOutline outline_of(const JobSpec& job);

// For the thread of the loop; nothing blocks.
class SpawnedJob {
  public:
    struct Handlers {
        std::function<void(SpawnedJob&, NodeIndex from, Message)> on_message;
        std::function<void(SpawnedJob&, NodeIndex branch, const Frame&)> on_output;
        std::function<void(SpawnedJob&)> on_change;
        // A daemon could not be started, or is gone.
        std::function<void(SpawnedJob&, NodeIndex, const std::string&)> on_trouble;
    };

    // `heritage` and `environment` must outlive this. `asker`: who wants to hear of it.
    SpawnedJob(asio::io_context& loop, JobSpec job, Asker asker, const std::string& local_pmd,
               const SignalHeritage& heritage, char* const* environment, Handlers handlers);
    SpawnedJob(const SpawnedJob&) = delete;
    SpawnedJob& operator=(const SpawnedJob&) = delete;

    // Starts its daemons; what becomes of it is told by on_change and the others.
    void launch();
    // Tells the daemons to run the tasks when all are prepared. True once, when all tasks run.
    bool advance();
    // It is not to run after all: what there is of it is ended.
    void give_up();

    const JobSpec& job() const { return job_; }
    TaskId first() const { return job_.spawned->first; }
    const Asker& asker() const { return asker_; }
    Branches& branches() { return branches_; }
    ExchangeTable& exchanges() { return exchanges_; }
    FlushRound& flush_round() { return flush_round_; }
    std::chrono::steady_clock::time_point launched() const { return launched_; }
    bool started() const { return started_; }
    bool given_up() const { return given_up_; }
    bool over() const { return branches_.all_over(); }
    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < job_.tasks.size();
    }

  private:
    JobSpec job_;
    Asker asker_;
    ExchangeTable exchanges_;
    FlushRound flush_round_;
    Handlers handlers_;
    Branches branches_;
    std::chrono::steady_clock::time_point launched_{};
    bool told_to_run_ = false;
    bool started_ = false;
    bool given_up_ = false;
};

}  // namespace poe::pm
