// JobRun: one job of this poe, with all of its daemons. The job is the one that poe was given, or
// consists of tasks that its tasks have started (spawn_plan.hpp). It starts the daemons, tells them
// to run the tasks when all daemons are prepared, and forwards their reports.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "partition_manager/home/flush_round.hpp"
#include "partition_manager/launch/child_daemons.hpp"
#include "partition_manager/launch/exchange_table.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks.
class JobRun {
  public:
    struct Handlers {
        std::function<void(JobRun&, NodeIndex branch, NodeIndex from, Message)> on_message;
        std::function<void(JobRun&, NodeIndex branch, const Frame&)> on_output;
        // A daemon has become prepared, has started its tasks, has ended, or is lost.
        std::function<void(JobRun&)> on_change;
        // The daemon of a node could not be started from its place in the tree. poe now tries to
        // start it itself.
        std::function<void(JobRun&, NodeIndex, const std::string&)> on_retry;
        // The daemon of a node could not be started at all.
        std::function<void(JobRun&, NodeIndex, const std::string&)> on_unreached;
        // The daemon of a node is lost.
        std::function<void(JobRun&, NodeIndex, const std::string&)> on_lost;
    };

    // `heritage` and `environment` must outlive this object. `local_pmd`: as in ChildDaemons.
    JobRun(asio::io_context& loop, JobSpec job, const std::string& local_pmd,
           const InheritedSignals& heritage, char* const* environment, Handlers handlers);
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;

    // Starts the daemons directly below poe and returns their nodes. The handlers report everything
    // that follows.
    std::vector<NodeIndex> launch();
    // To be called after each change. Each returns true once: when the daemons have just been told
    // to run the tasks, or when all of them have just started their tasks.
    bool just_told_to_run();
    bool just_started();
    // Cancels the job: ends whatever has been started of it.
    void give_up();
    // Ends the tasks of a job that has failed after its start. Their exits are still reported.
    void end_failed();
    // A daemon could not be started elsewhere. Tries once from here. Returns false if that has
    // already been tried.
    bool retry(NodeIndex node, const std::string& text);

    const JobSpec& job() const { return job_; }
    // If a task has started the job: the request of that task.
    const SpawnTasks& request() const { return request_; }
    void set_request(SpawnTasks request) { request_ = std::move(request); }
    bool is_spawned() const { return job_.spawned.has_value(); }
    // The number by which users know task 0.
    TaskId first() const { return job_.spawned ? job_.spawned->first : 0; }
    ChildDaemons& branches() { return branches_; }
    const ChildDaemons& branches() const { return branches_; }
    ExchangeTable& exchanges() { return exchanges_; }
    FlushRound& flush_round() { return flush_round_; }
    // By node: true if its daemon has answered.
    const std::vector<bool>& nodes_up() const { return up_; }
    std::chrono::steady_clock::time_point launched() const { return launched_; }
    bool told_to_run() const { return told_to_run_; }
    bool started() const { return started_; }
    bool given_up() const { return given_up_; }
    bool failed() const { return failed_; }
    bool over() const { return branches_.all_over(); }
    bool is_task(TaskId task) const {
        return task >= 0 && static_cast<std::size_t>(task) < job_.tasks.size();
    }

  private:
    JobSpec job_;
    SpawnTasks request_;
    ExchangeTable exchanges_;
    FlushRound flush_round_;
    Handlers handlers_;
    ChildDaemons branches_;
    std::vector<bool> up_;     // by node
    std::vector<bool> tried_;  // by node: poe itself has tried to start its daemon
    std::chrono::steady_clock::time_point launched_{};
    bool told_to_run_ = false;
    bool started_ = false;
    bool given_up_ = false;
    bool failed_ = false;
};

}  // namespace poe::pm
