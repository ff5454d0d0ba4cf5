// The home side of a job; see partition.hpp.
#include "partition_manager/home/partition.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/launch/process_tree.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/status/node_use.hpp"

namespace poe::pm {

namespace {

constexpr std::chrono::milliseconds kReapAgain{10};

std::vector<NodeIndex> places_of(const JobSpec& job) {
    std::vector<NodeIndex> places;
    for (const TaskSpec& task : job.tasks) places.push_back(task.node);
    return places;
}

}  // namespace

Partition::Partition(JobSpec job, PartitionOptions options, InheritedSignals heritage,
                     char* const* environment)
    : job_(std::move(job)),
      options_(std::move(options)),
      heritage_(heritage),
      environment_(environment),
      signals_(loop_),
      timers_(loop_),
      judge_(static_cast<TaskId>(job_.tasks.size())),
      deadlock_watch_(
          places_of(job_), static_cast<NodeIndex>(job_.nodes.size()), job_.deadlock_timeout,
          {[this](NodeIndex node, AskTaskStates ask) { first().branches().send(ask, node); },
           [this](const WaitFindings& findings) {
               options_.on_deadlock(findings);
               sockets_.debugger->send(
                   DeadlockFound{findings.headline(), findings.lines, findings.stuck});
           }}),
      output_(loop_, job_, options_.output,
              {[this] { end_job(judge_.on_output_closed()); },
               [this](const std::string& error) { end_job(judge_.on_output_error(error)); },
               [this](FrameKind stream) {
                   if (!finished_) give_credit(stream);
               },
               [this](const StdoutFlushed& flushed) {
                   if (!finished_) first().branches().send(flushed);
               }}),
      tracing_(
          loop_, job_,
          {[this] { return first().started() && !judge_.ending() && !first().over(); },
           [this](const Message& message, NodeIndex to) { first().branches().send(message, to); },
           options_.on_attention, options_.merge_trace}),
      names_{.published = {},
             .shared = {kJobDirectoryParent, ::getuid(), job_.id},
             .joint_exchanges = {}} {}

Partition::~Partition() = default;

Outcome Partition::run() {
    become_subreaper();
    not_ours_ = descendants();
    so_far_.start = std::chrono::steady_clock::now();
    listen_to_signals();

    tracing_.begin(options_.trace_path);
    launch();
    while (!finished_) loop_.run_one();
    tracing_.finish();
    sockets_.facts.reset();  // no task runs any more
    // All processes have ended, but their last output has not been written yet.
    output_.finish([this] { return impatient(); });
    Outcome outcome = judge_.outcome();
    outcome.elapsed = std::chrono::steady_clock::now() - so_far_.start;
    outcome.never_ran = job_.nodes.size() > 1 && !first().told_to_run();
    return outcome;
}

JobRun& Partition::add_run(JobSpec job) {
    runs_.push_back(std::make_unique<JobRun>(
        loop_, std::move(job), options_.pmd, heritage_, environment_,
        JobRun::Handlers{[this](JobRun& run, NodeIndex branch, NodeIndex from, Message message) {
                             on_message(run, branch, from, std::move(message));
                         },
                         [this](JobRun& run, NodeIndex branch, const Frame& frame) {
                             on_output(run, branch, frame);
                         },
                         [this](JobRun& run) { on_change(run); },
                         [this](JobRun& run, NodeIndex node, const std::string& text) {
                             if (options_.on_info) options_.on_info(text + "; trying it from here");
                             if (is_first(run)) stdin_progress_.add(node);
                         },
                         [this](JobRun& run, NodeIndex node, const std::string& text) {
                             on_unreached(run, node, text);
                         },
                         [this](JobRun& run, NodeIndex node, const std::string& text) {
                             on_lost(run, node, text);
                         }}));
    return *runs_.back();
}

void Partition::give_credit(FrameKind stream) {
    if (!output_.has_room(stream)) return;
    for (const auto& run : runs_) run->branches().flush_credit(stream);
}

NodeIndex Partition::stdin_target() const {
    if (job_.stdin_mode.kind != StdinMode::Kind::kOne || !is_task(job_.stdin_mode.task))
        return kAllNodes;
    return job_.tasks[static_cast<std::size_t>(job_.stdin_mode.task)].node;
}

void Partition::begin_stdin() {
    if (job_.stdin_is_empty || job_.stdin_mode.kind == StdinMode::Kind::kNone || input_) return;
    input_ = std::make_unique<InputSource>(
        loop_, STDIN_FILENO,
        InputSource::Handlers{
            [this](std::string_view data) { first().branches().send_stdin(data, stdin_target()); },
            [this] { first().branches().send(StdinEnd{}); }});
    input_->start();
}

void Partition::end_job(Decision verdict, bool at_once) {
    if (verdict != Decision::kEndJob && !(at_once && judge_.ending())) return;
    if (options_.on_progress) options_.on_progress("");
    end_all(at_once);
}

void Partition::send_all(const Message& message) {
    for (const auto& run : runs_) run->branches().send(message);
}

void Partition::end_all(bool at_once) {
    send_all(EndJob{at_once});
    for (const auto& run : runs_) run->branches().expect_end();
}

bool Partition::all_over() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->over(); });
}

// Processes that a daemon of this node has left become children of poe, because poe is the next
// subreaper above the daemon.
void Partition::reap_leftovers() {
    if (finished_) return;
    std::vector<pid_t> left = descendants();
    std::erase_if(left, [this](pid_t pid) {
        return std::find(not_ours_.begin(), not_ours_.end(), pid) != not_ours_.end();
    });
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) ::waitpid(pid, nullptr, WNOHANG);
    if (left.empty()) {
        for (const std::string& id : lost_own_daemons_)
            remove_tree(job_directory_path(kJobDirectoryParent, ::getuid(), id));
        if (!lost_own_daemons_.empty())
            remove_unused_reservations(kJobDirectoryParent, local_host_name());
        finished_ = true;
        return;
    }
    timers_.reap.expires_after(kReapAgain);
    timers_.reap.async_wait([this](const asio::error_code& error) {
        if (!error) reap_leftovers();
    });
}

// Handles signals while poe waits for a reader. Returns true if the user does not want to wait: the
// user has interrupted once more, or has interrupted twice before and the reader takes nothing.
bool Partition::impatient() {
    if (output_abandoned_) return true;
    const int before = so_far_.interrupts;
    loop_.restart();
    loop_.poll();
    const bool is_stuck = reader_is_stuck();
    output_abandoned_ = so_far_.interrupts > before || (so_far_.interrupts > 1 && is_stuck);
    return output_abandoned_;
}

}  // namespace poe::pm
