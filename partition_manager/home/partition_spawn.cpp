// Tasks that start more tasks (spawn_plan.hpp). Requests are served one at a time, so that each new
// job gets the summaries of all running jobs, and they get its summary.
#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "base/task_ranges.hpp"
#include "partition_manager/home/partition.hpp"
#include "partition_manager/home/spawn_plan.hpp"

namespace poe::pm {

namespace {

// Maximum number of waiting requests.
constexpr std::size_t kMostRequests = 4096;

// Maximum length of the part of a job's name before "-s65536".
constexpr std::size_t kOwnName = 40 - 7;

}  // namespace

void Partition::on_spawn_request(JobRun& run, NodeIndex from, SpawnTasks request) {
    // Set here, because only poe knows these values for certain.
    request.asker.job = run.job().id;
    request.asker.node = from;
    if (spawning_.requests.size() == kMostRequests)
        return refuse_spawn(request, "too many requests wait for their turn");
    spawning_.requests.push_back(std::move(request));
    serve_spawn_requests();
}

// `job`: the job that was started and has failed since; empty: none was started.
void Partition::refuse_spawn(const SpawnTasks& request, const std::string& why,
                             const std::string& job) {
    JobRun* run = find_run(request.asker.job);
    if (run != nullptr && options_.on_attention)
        options_.on_attention("task " + std::to_string(public_number(run->job(), request.task)) +
                              " asked to start more tasks (MPI_Comm_spawn), which failed: " + why);
    answer(request.asker, TasksSpawned{request.asker, job, why});
}

// Sets the number of entries of everything that has one entry per task to the number of tasks of
// job_.
void Partition::set_tasks() {
    judge_.set_tasks(static_cast<TaskId>(job_.tasks.size()));
    output_.set_tasks();
}

void Partition::add_tasks(const JobSpec& job) {
    const auto commands = static_cast<std::uint32_t>(job_.commands.size());
    job_.commands.insert(job_.commands.end(), job.commands.begin(), job.commands.end());
    for (const TaskSpec& task : job.tasks) {
        const std::string& node = job.nodes[static_cast<std::size_t>(task.node)];
        const auto at = std::find(job_.nodes.begin(), job_.nodes.end(), node);
        job_.tasks.push_back(
            {static_cast<NodeIndex>(at - job_.nodes.begin()), commands + task.command});
    }
    set_tasks();
}

// Removes the tasks that were added last; they must be those of `job`.
void Partition::remove_tasks(const JobSpec& job) {
    job_.tasks.resize(job_.tasks.size() - job.tasks.size());
    job_.commands.resize(job_.commands.size() - job.commands.size());
    set_tasks();
}

void Partition::serve_spawn_requests() {
    while (spawning_.run == nullptr && !spawning_.requests.empty() && !judge_.ending() &&
           !finished_) {
        std::erase_if(runs_, [](const auto& run) { return run->given_up() && run->over(); });
        spawning_.request = std::move(spawning_.requests.front());
        spawning_.requests.pop_front();
        const JobRun* parent = find_run(spawning_.request.asker.job);
        if (parent == nullptr || parent->over()) continue;  // no task waits for the answer any more
        try {
            spawn(spawning_.request);
        } catch (const Error& error) {
            refuse_spawn(spawning_.request, error.what());
        }
    }
}

void Partition::spawn(const SpawnTasks& request) {
    if (spawning_.number == kMostSpawned) throw Error("the tasks of this job have asked too often");
    SpawnPlan plan;
    plan.id = first().job().id.substr(0, kOwnName) + "-s" + std::to_string(++spawning_.number);
    plan.first = static_cast<TaskId>(job_.tasks.size());
    plan.spawned_before = job_.tasks.size() - first().job().tasks.size();
    plan.next_node = spawning_.next_node;
    plan.make_key = options_.make_key;
    for (const auto& run : runs_)
        if (!run->given_up()) plan.others.push_back(summary_of(run->job()));
    JobSpec base = first().job();
    base.stdout_mode = job_.stdout_mode;  // a flush may have changed it
    JobSpec job = make_spawned_job(base, request, plan);
    try {
        add_tasks(job);
    } catch (const Error&) {
        remove_tasks(job);
        throw;
    }
    spawning_.next_node = plan.next_node;
    spawning_.run = &add_run(std::move(job));
    spawning_.run->set_request(request);
    if (options_.timeout.count() > 0) {
        timers_.spawn.expires_after(options_.timeout);
        timers_.spawn.async_wait([this, one = spawning_.run](const asio::error_code& error) {
            if (!error && spawning_.run == one)
                fail_spawn(*one, "they did not start within " +
                                     std::to_string(options_.timeout.count()) + " s (MP_TIMEOUT)");
        });
    }
    spawning_.run->launch();
}

void Partition::fail_spawn(JobRun& run, const std::string& why) {
    if (run.given_up()) return;
    timers_.spawn.cancel();
    run.give_up();
    refuse_spawn(spawning_.request, why);
}

// A task has ended that the asker waits for, so the request fails: all of its tasks run, or none.
void Partition::on_unjoined(JobRun& run, const TaskExit& exit) {
    if (!run.request().joins || run.failed() || judge_.ending()) return;
    const TaskSpec& task = job_.tasks[static_cast<std::size_t>(exit.task)];
    const std::string why =
        job_.commands[task.command].front() + " (task " + std::to_string(exit.task) + " on node " +
        job_.nodes[static_cast<std::size_t>(task.node)] + ") " +
        (exit.signal != 0 ? "was killed by signal " + std::to_string(exit.signal)
                          : "exited with code " + std::to_string(exit.code)) +
        " before it had called MPI_Init";
    if (!run.started()) return fail_spawn(run, why);
    run.end_failed();
    refuse_spawn(run.request(), why, run.job().id);
}

// The servers of all other runs are informed of the new run before any task can learn of it.
void Partition::on_spawned(JobRun& run) {
    timers_.spawn.cancel();
    spawning_.run = nullptr;
    const JobAnnounced known{summary_of(run.job())};
    for (const auto& other : runs_)
        if (other.get() != &run) other->branches().send(known);
    answer(spawning_.request.asker, TasksSpawned{spawning_.request.asker, run.job().id, ""});
    if (sockets_.watched) let_watch(run);
    if (!options_.on_info) return;
    std::vector<TaskId> tasks;
    for (std::size_t task = 0; task < run.job().tasks.size(); ++task)
        tasks.push_back(run.first() + static_cast<TaskId>(task));
    options_.on_info(tasks_in_words(tasks) + " run, which a task has started, as job " +
                     run.job().id);
}

// The number of a node of the run in the job that poe was given.
NodeIndex Partition::public_node(const JobRun& run, NodeIndex node) const {
    const std::vector<std::string>& own = run.job().nodes;
    if (!run.is_spawned() || node < 0 || static_cast<std::size_t>(node) >= own.size()) return node;
    const auto at =
        std::find(job_.nodes.begin(), job_.nodes.end(), own[static_cast<std::size_t>(node)]);
    return static_cast<NodeIndex>(at - job_.nodes.begin());
}

// For displays that begin to watch: their daemons may have ended, too.
std::vector<WatchedTask> Partition::ended_spawned_tasks() const {
    std::vector<WatchedTask> ended;
    for (std::size_t task = runs_.front()->job().tasks.size(); task < job_.tasks.size(); ++task) {
        const std::optional<TaskExit>& exit = judge_.outcome().tasks[task].exit;
        if (!exit) continue;
        WatchedTask watched;
        watched.state.task = static_cast<TaskId>(task);
        watched.state.node = job_.tasks[task].node;
        watched.state.life = TaskState::Life::kEnded;
        watched.state.wait_status = exit->signal != 0 ? exit->signal : exit->code << 8;
        ended.push_back(std::move(watched));
    }
    return ended;
}

void Partition::on_spawned_over(JobRun& run) {
    if (spawning_.run == &run && !judge_.ending()) {
        fail_spawn(run, "their daemons have ended");
        remove_tasks(run.job());
        spawning_.run = nullptr;
    }
}

}  // namespace poe::pm
