// How a job comes to run: its daemons are started, tried again, waited for, and told to start the
// tasks. Apart from partition.cpp, which is about what happens then.
#include <algorithm>
#include <unistd.h>

#include "partition_manager/home/partition.hpp"

namespace poe::pm {

namespace {

// From when on a launch is shown, and how often.
constexpr std::chrono::seconds kShowLaunch{1};

// Nodes that are named when some are missing.
constexpr std::size_t kNamedNodes = 6;

// Of the last lines of a task, for displays.
constexpr std::size_t kLinesShown = 50;

}  // namespace

void Partition::launch() {
    branches_ = std::make_unique<Branches>(
        loop_, job_, options_.pmd, heritage_, environment_,
        Branches::Handlers{
            [this](NodeIndex branch, NodeIndex from, Message message) {
                if (const auto* progress = std::get_if<StdinProgress>(&message))
                    on_stdin_progress(branch, *progress);
                else
                    on_message(from, std::move(message));
            },
            [this](NodeIndex branch, const Frame& frame) { on_data(*branches_, branch, frame); },
            [this](const std::vector<NodeIndex>& nodes) {
                for (const NodeIndex node : nodes)
                    if (node >= 0 && static_cast<std::size_t>(node) < up_.size())
                        up_[static_cast<std::size_t>(node)] = true;
            },
            [this] { on_change(); },
            [this](NodeIndex node, const std::string& text) { on_unreached(node, text); },
            [this](NodeIndex node, const std::string& text) { on_lost(node, text); }});
    let_watch();
    if (job_.nodes.size() > 1 || job_.launch.home < 0) {
        status_ = std::make_unique<StatusSocket>(
            loop_, ::getuid(), job_.id, static_cast<NodeIndex>(job_.nodes.size()),
            [this](AskTaskStates ask) { branches_->send(ask); });
        facts_ = std::make_unique<FactsSocket>(loop_, ::getuid(), job_);
    }
    const LaunchTree tree(static_cast<NodeIndex>(job_.nodes.size()), job_.launch.fanout,
                          job_.launch.home);
    const std::vector<NodeIndex> below = tree.below(LaunchTree::kRoot);
    for (const NodeIndex node : below) {
        tried_[static_cast<std::size_t>(node)] = true;
        stdin_progress_.add(node);
        branches_->launch(node, below.size());
    }
    if (options_.timeout.count() > 0) {
        deadline_.expires_after(options_.timeout);
        deadline_.async_wait([this](const asio::error_code& error) {
            if (!error && !started_) on_timeout();
        });
    }
    if (options_.on_progress) watch_launch();
}

// Displays on this node see its tasks themselves; of the others they are told.
void Partition::let_watch() {
    watchers_ = std::make_unique<WatchSocket>(
        loop_, ::getuid(), job_.id,
        WatchSocket::Handlers{
            [this](bool on) {
                if (job_.nodes.size() > 1) branches_->send(WatchTasks{on});
            },
            [this](TaskId task) { return all_tails_.last_lines(task, kLinesShown); }});
}

// Tells of a launch that takes long; rests as soon as all tasks run.
void Partition::watch_launch() {
    launch_timer_.expires_after(kShowLaunch);
    launch_timer_.async_wait([this](const asio::error_code& error) {
        if (error || started_ || judge_.ending()) return;
        const auto up = std::count(up_.begin(), up_.end(), true);
        std::string text =
            std::to_string(up) + " of " + std::to_string(up_.size()) + " nodes are up";
        const std::vector<std::string> missing = missing_nodes();
        for (std::size_t i = 0; i < missing.size(); ++i)
            text += (i == 0 ? "; waiting for " : ", ") + missing[i];
        options_.on_progress(text);
        watch_launch();
    });
}

// The first few nodes whose daemons have not come up, with what their remote shell has said.
std::vector<std::string> Partition::missing_nodes() const {
    std::vector<std::string> names = branches_->waiting_for();
    const auto is_named = [&names](const std::string& node) {
        return std::any_of(names.begin(), names.end(), [&node](const std::string& name) {
            return name == node || name.starts_with(node + " ");
        });
    };
    std::size_t more = 0;
    for (std::size_t node = 0; node < up_.size(); ++node) {
        if (up_[node] || is_named(job_.nodes[node])) continue;
        if (names.size() < kNamedNodes)
            names.push_back(job_.nodes[node]);
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

// Names the nodes whose daemons have not come up, as long as no task runs; empty if there are none.
std::string Partition::unanswered() const {
    if (started_) return "";
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

// A daemon could not be started; those that another one was to start, poe itself tries once.
void Partition::on_unreached(NodeIndex node, const std::string& text) {
    if (judge_.ending()) return;
    const auto place = static_cast<std::size_t>(node);
    if (node >= 0 && place < tried_.size() && !tried_[place]) {
        tried_[place] = true;
        if (options_.on_info) options_.on_info(text + "; trying it from here");
        stdin_progress_.add(node);
        branches_->launch(node, kStreamWindow / kSmallestWindow);
        return;
    }
    end_job(judge_.on_unreached(text), true);
}

void Partition::on_lost(NodeIndex node, const std::string& text) {
    if (node == job_.launch.home) lost_own_daemons_.push_back(job_.id);
    stdin_progress_.remove(node);
    if (trace_) trace_->on_lost(node);
    end_job(judge_.on_lost_daemon(text));
}

// A branch has come one step further.
void Partition::on_change() {
    if (branches_->all_over()) {
        if (input_) input_->finish();
        if (all_over()) reap_leftovers();
        return;
    }
    // Branches that are taken away as the job ends do not make the rest ready.
    if (!told_to_run_ && !judge_.ending() && branches_->all_prepared()) {
        told_to_run_ = true;
        if (job_.nodes.size() > 1) branches_->send(RunTasks{branches_->take_facts()});
        if (!options_.hold_stdin) begin_stdin();
    }
    if (!started_ && branches_->all_started()) on_started();
}

void Partition::on_started() {
    started_ = true;
    deadline_.cancel();
    launch_timer_.cancel();
    if (judge_.ending()) return;
    if (trace_) trace_->keep();
    if (options_.on_progress) options_.on_progress("");
    if (options_.on_info) options_.on_info("all tasks have been started");
    begin_stdin();
    if (!options_.maxtime) return;
    deadline_.expires_at(start_time_ + *options_.maxtime);
    deadline_.async_wait([this](const asio::error_code& error) {
        if (!error) end_job(judge_.on_maxtime());
    });
}

}  // namespace poe::pm
