// See job_run.hpp.
#include "partition_manager/home/job_run.hpp"

#include <utility>

namespace poe::pm {

JobRun::JobRun(asio::io_context& loop, JobSpec job, const std::string& local_pmd,
               const InheritedSignals& heritage, char* const* environment, Handlers handlers)
    : job_(std::move(job)),
      flush_round_(static_cast<TaskId>(job_.tasks.size())),
      handlers_(std::move(handlers)),
      branches_(loop, job_, local_pmd, heritage, environment,
                {[this](NodeIndex branch, NodeIndex from, Message message) {
                     handlers_.on_message(*this, branch, from, std::move(message));
                 },
                 [this](NodeIndex branch, const Frame& frame) {
                     handlers_.on_output(*this, branch, frame);
                 },
                 [this](const std::vector<NodeIndex>& nodes) {
                     for (const NodeIndex node : nodes)
                         if (node >= 0 && static_cast<std::size_t>(node) < up_.size())
                             up_[static_cast<std::size_t>(node)] = true;
                 },
                 [this] { handlers_.on_change(*this); },
                 [this](NodeIndex node, const std::string& text) {
                     handlers_.on_unreached(*this, node, text);
                 },
                 [this](NodeIndex node, const std::string& text) {
                     handlers_.on_lost(*this, node, text);
                 }}),
      up_(job_.nodes.size(), false),
      tried_(job_.nodes.size(), false) {}

std::vector<NodeIndex> JobRun::launch() {
    launched_ = std::chrono::steady_clock::now();
    const LaunchTree tree(static_cast<NodeIndex>(job_.nodes.size()), job_.launch.fanout,
                          job_.launch.home);
    std::vector<NodeIndex> below = tree.below(LaunchTree::kRoot);
    for (const NodeIndex node : below) {
        tried_[static_cast<std::size_t>(node)] = true;
        branches_.launch(node, below.size());
    }
    return below;
}

bool JobRun::retry(NodeIndex node, const std::string& text) {
    const auto place = static_cast<std::size_t>(node);
    if (node < 0 || place >= tried_.size() || tried_[place]) return false;
    tried_[place] = true;
    handlers_.on_retry(*this, node, text);
    branches_.launch(node, kStreamWindow / kSmallestWindow);
    return true;
}

bool JobRun::just_told_to_run() {
    if (given_up_ || over() || told_to_run_ || !branches_.all_prepared()) return false;
    told_to_run_ = true;
    if (job_.nodes.size() > 1) branches_.send(RunTasks{branches_.take_facts()});
    return true;
}

bool JobRun::just_started() {
    if (given_up_ || over() || started_ || !branches_.all_started()) return false;
    started_ = true;
    return true;
}

void JobRun::end_failed() {
    failed_ = true;
    branches_.send(EndJob{false});
    branches_.expect_end();
}

void JobRun::give_up() {
    given_up_ = true;
    branches_.send(EndJob{true});
    branches_.expect_end();
}

}  // namespace poe::pm
