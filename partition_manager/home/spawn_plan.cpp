// See spawn_plan.hpp.
#include "partition_manager/home/spawn_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "partition_manager/job/process_sets.hpp"

namespace poe::pm {

namespace {

NodeIndex node_named(const JobSpec& base, const std::string& name) {
    const auto at = std::find(base.nodes.begin(), base.nodes.end(), name);
    if (at != base.nodes.end()) return static_cast<NodeIndex>(at - base.nodes.begin());
    constexpr std::size_t kNamed = 8;
    std::string names;
    for (std::size_t i = 0; i < std::min(base.nodes.size(), kNamed); ++i)
        names += (i > 0 ? ", " : "") + base.nodes[i];
    if (base.nodes.size() > kNamed) names += ", ...";
    throw Error("the host " + name + " is no node of the job, which has " + names);
}

void check_size(const SpawnTasks& ask, const SpawnPlan& plan) {
    std::size_t tasks = 0;
    for (const SpawnCommand& command : ask.commands) {
        if (command.tasks == 0 || command.words.empty()) throw Error("no program is named");
        tasks += command.tasks;
        if (tasks > kMostSpawnedAtOnce)
            throw Error("poe starts no more than " + std::to_string(kMostSpawnedAtOnce) +
                        " tasks at once");
    }
    if (tasks == 0) throw Error("no program is named");
    if (plan.spawned_before + tasks > kMostSpawned)
        throw Error("the tasks of this job have started " + std::to_string(plan.spawned_before) +
                    " already, and poe starts no more than " + std::to_string(kMostSpawned));
}

// Assigns the tasks to nodes, using the node numbers of `base`.
void place_tasks(const JobSpec& base, const SpawnTasks& ask, std::size_t& next_node, JobSpec& job) {
    for (const SpawnCommand& command : ask.commands) {
        const auto number = static_cast<std::uint32_t>(job.commands.size());
        std::vector<NodeIndex> named;
        for (const std::string& host : command.hosts) named.push_back(node_named(base, host));
        for (std::uint32_t task = 0; task < command.tasks; ++task)
            job.tasks.push_back({named.empty()
                                     ? static_cast<NodeIndex>(next_node++ % base.nodes.size())
                                     : named[task % named.size()],
                                 number});
        job.commands.push_back(command.words);
        job.places.push_back(command.place);
    }
}

void keep_used_nodes(const JobSpec& base, JobSpec& job) {
    std::map<NodeIndex, NodeIndex> place;
    for (const TaskSpec& task : job.tasks) place[task.node] = 0;
    job.nodes.clear();
    job.addresses.clear();
    job.launch.home = -1;
    for (auto& [node, now] : place) {
        now = static_cast<NodeIndex>(job.nodes.size());
        job.nodes.push_back(base.nodes[static_cast<std::size_t>(node)]);
        if (!base.addresses.empty())
            job.addresses.push_back(base.addresses[static_cast<std::size_t>(node)]);
        if (node == base.launch.home) job.launch.home = now;
    }
    for (TaskSpec& task : job.tasks) task.node = place.at(task.node);
}

}  // namespace

JobSpec make_spawned_job(const JobSpec& base, const SpawnTasks& ask, SpawnPlan& plan) {
    check_size(ask, plan);
    JobSpec job = base;
    job.id = plan.id;
    job.tasks.clear();
    job.commands.clear();
    job.places.clear();
    job.spawned = SpawnSpec{ask.asker.job, ask.task, plan.first, ask.pairs, plan.others};
    std::size_t next_node = plan.next_node;
    place_tasks(base, ask, next_node, job);
    plan.next_node = next_node;
    keep_used_nodes(base, job);
    if (needs_tcp(job) && !job.job_key) job.job_key = plan.make_key();
    const std::string variable = std::string(kProcessSetsVariable) + "=";
    std::erase_if(job.environment,
                  [&](const std::string& entry) { return entry.starts_with(variable); });
    job.environment.push_back(variable + process_sets_text(job, {}));
    job.stdin_mode.kind = StdinMode::Kind::kNone;
    // If only one task of the first job may write, no spawned task may.
    if (job.stdout_mode.kind == StdoutMode::Kind::kOne) job.stdout_mode.task = -1;
    job.deadlock_timeout = std::chrono::seconds(0);
    job.bind = false;  // the tasks of the first job are bound already
    job.tell_binding = false;
    job.terminal.wanted = false;
    job.trace = {};
    return job;
}

JobSummary summary_of(const JobSpec& job) {
    JobSummary outline{job.id, job.nodes, {}, {}};
    for (const TaskSpec& task : job.tasks) {
        outline.node_of_task.push_back(task.node);
        outline.appnum_of_task.push_back(task.command);
    }
    return outline;
}

}  // namespace poe::pm
