// The launch of a job: daemons are started, retried, awaited, and told to start the tasks. Separate
// from partition.cpp, which contains what follows the launch.
#include <algorithm>
#include <unistd.h>

#include <asio/post.hpp>

#include "partition_manager/home/partition.hpp"

namespace poe::pm {

namespace {

// The launch is shown after this time, and at this interval.
constexpr std::chrono::seconds kShowLaunch{1};

// Maximum number of missing nodes that a message names.
constexpr std::size_t kNamedNodes = 6;

// Number of last lines of a task that displays show.
constexpr std::size_t kLinesShown = 50;

}  // namespace

void Partition::launch() {
    JobRun& run = add_run(job_);
    let_watch();
    let_debug();
    if (job_.nodes.size() > 1 || job_.launch.home < 0) {
        sockets_.status = std::make_unique<StatusSocket>(
            loop_, ::getuid(), job_.id, static_cast<NodeIndex>(job_.nodes.size()),
            [this](AskTaskStates ask) { first().branches().send(ask); });
        sockets_.facts = std::make_unique<FactsSocket>(loop_, ::getuid(), job_);
    }
    for (const NodeIndex node : run.launch()) stdin_progress_.add(node);
    if (options_.timeout.count() > 0) {
        timers_.deadline.expires_after(options_.timeout);
        timers_.deadline.async_wait([this](const asio::error_code& error) {
            if (!error && !first().started()) on_timeout();
        });
    }
    if (options_.on_progress) watch_launch();
}

// Displays on this node observe the first job's tasks of this node directly. The daemons report its
// tasks of the other nodes, and all tasks that tasks have started.
void Partition::let_watch() {
    sockets_.watchers = std::make_unique<WatchSocket>(
        loop_, ::getuid(), job_.id,
        WatchSocket::Handlers{
            [this](bool on) {
                sockets_.watched = on;
                for (const auto& run : runs_) let_watch(*run);
                if (on) sockets_.watchers->on_tasks(ended_spawned_tasks());
            },
            [this](TaskId task) { return output_.last_lines(task, kLinesShown); }});
}

// Tells the daemons of a run whether a display watches. Those of the first job on this node need
// not know.
void Partition::let_watch(JobRun& run) {
    if (run.is_spawned() || run.job().nodes.size() > 1)
        run.branches().send(WatchTasks{sockets_.watched});
}

// Reports the progress of a slow launch. Stops when all tasks run.
void Partition::watch_launch() {
    timers_.launch.expires_after(kShowLaunch);
    timers_.launch.async_wait([this](const asio::error_code& error) {
        if (error || first().started() || judge_.ending()) return;
        const std::vector<bool>& nodes = first().nodes_up();
        const auto up = std::count(nodes.begin(), nodes.end(), true);
        std::string text =
            std::to_string(up) + " of " + std::to_string(nodes.size()) + " nodes are up";
        const std::vector<std::string> missing = missing_nodes();
        for (std::size_t i = 0; i < missing.size(); ++i)
            text += (i == 0 ? "; waiting for " : ", ") + missing[i];
        options_.on_progress(text);
        watch_launch();
    });
}

// Returns the first few nodes whose daemons have not come up, with the output of their remote
// shell.
std::vector<std::string> Partition::missing_nodes() const {
    std::vector<std::string> names = first().branches().waiting_for();
    const std::vector<bool>& up = first().nodes_up();
    const auto is_named = [&names](const std::string& node) {
        return std::any_of(names.begin(), names.end(), [&node](const std::string& name) {
            return name == node || name.starts_with(node + " ");
        });
    };
    std::size_t more = 0;
    for (std::size_t node = 0; node < up.size(); ++node) {
        if (up[node] || is_named(first().job().nodes[node])) continue;
        if (names.size() < kNamedNodes)
            names.push_back(first().job().nodes[node]);
        else
            ++more;
    }
    if (names.size() > kNamedNodes) {
        more += names.size() - kNamedNodes;
        names.resize(kNamedNodes);
    }
    if (more > 0) names.push_back(std::to_string(more) + " more");
    return names;
}

// Names the nodes whose daemons have not come up. Empty if there are none, or if the tasks run
// already.
std::string Partition::unanswered() const {
    if (first().started()) return "";
    std::string text;
    for (const std::string& node : missing_nodes())
        text += (text.empty() ? "no answer from " : ", ") + node;
    return text;
}

void Partition::on_timeout() {
    std::string text = "the job did not start within " + std::to_string(options_.timeout.count()) +
                       " s (MP_TIMEOUT)";
    if (const std::string missing = unanswered(); !missing.empty()) text += "; " + missing;
    end_job(judge_.on_unreached(text), true);
}

// If another daemon could not start a daemon, poe tries once itself.
void Partition::on_unreached(JobRun& run, NodeIndex node, const std::string& text) {
    if (judge_.ending() || run.given_up() || run.retry(node, text)) return;
    if (run.is_spawned() && !run.started()) return fail_spawn(run, text);
    end_job(judge_.on_unreached(text), true);
}

void Partition::on_lost(JobRun& run, NodeIndex node, const std::string& text) {
    if (node == run.job().launch.home) lost_own_daemons_.push_back(run.job().id);
    if (is_first(run)) {
        stdin_progress_.remove(node);
        tracing_.on_lost(node);
    } else if (!run.started() && !judge_.ending()) {
        return fail_spawn(run, text);
    }
    end_job(judge_.on_lost_daemon(text));
}

// A daemon of the run has reached its next state.
void Partition::on_change(JobRun& run) {
    // While the job ends, daemons are removed. This must not make the remaining ones count as
    // prepared.
    if (!judge_.ending() && run.just_told_to_run() && is_first(run) && !options_.hold_stdin)
        begin_stdin();
    // The first job reports that its tasks have started even while it ends.
    if ((is_first(run) || !judge_.ending()) && run.just_started())
        is_first(run) ? on_first_started() : on_spawned(run);
    if (run.over()) {
        if (is_first(run) && input_) input_->finish();
        if (run.is_spawned()) on_spawned_over(run);
    }
    if (all_over()) return reap_leftovers();
    // Posted instead of called, because the call may destroy this run.
    if (run.is_spawned() && spawning_.run == nullptr && !spawning_.requests.empty())
        asio::post(loop_, [this] { serve_spawn_requests(); });
}

void Partition::on_first_started() {
    timers_.deadline.cancel();
    timers_.launch.cancel();
    if (judge_.ending()) return;
    tracing_.on_started();
    if (options_.on_progress) options_.on_progress("");
    if (options_.on_info) options_.on_info("all tasks have been started");
    begin_stdin();
    if (options_.maxtime) set_maxtime(so_far_.start + *options_.maxtime);
    tell_debugger();
}

}  // namespace poe::pm
