// A job and pdbx: poe forwards between pdbx and the daemons, and time limits stand still while
// tasks are held. Separate from partition.cpp, because a job without debugger needs nothing of it.
#include <unistd.h>
#include <utility>

#include "partition_manager/home/partition.hpp"

namespace poe::pm {

void Partition::let_debug() {
    sockets_.debugger = std::make_unique<DebugSocket>(
        loop_, ::getuid(), job_.id, UniqueFd(std::exchange(options_.debugger, -1)),
        DebugSocket::Handlers{
            [this] {
                if (first().started()) tell_debugger();
            },
            [this](NodeIndex to, Message message) { on_debugger_message(to, std::move(message)); },
            [this](bool detached) { on_debugger_left(detached); }});
}

void Partition::tell_debugger() {
    DebuggedJob facts;
    const JobSpec& job = first().job();
    facts.id = job.id;
    facts.nodes = job.nodes;
    facts.at_start = job.hold_tasks && !debugging_.left;
    for (const TaskSpec& task : job.tasks) {
        facts.node_of_task.push_back(task.node);
        facts.programs.push_back(job.commands[task.command].front());
    }
    sockets_.debugger->send(facts);
}

void Partition::on_debugger_message(NodeIndex to, Message message) {
    if (finished_) return;
    if (const auto* held = std::get_if<TasksHeld>(&message)) return hold_limits(held->on);
    if (to != kAllNodes && (to < 0 || static_cast<std::size_t>(to) >= first().job().nodes.size()))
        return;
    first().branches().send(message, to);
}

// The gdbs must detach from the tasks. If pdbx has started the job, the job ends with pdbx, unless
// the user has detached.
void Partition::on_debugger_left(bool detached) {
    if (finished_) return;
    hold_limits(false);
    if (!detached) first().branches().send(EndDebugger{});
    // As for a user who closes the output: the job ends, and that is no error.
    if (first().job().hold_tasks && !detached && !debugging_.left)
        end_job(judge_.on_output_closed());
    debugging_.left = debugging_.left || detached;
}

void Partition::hold_limits(bool on) {
    if (on == debugging_.held) return;
    debugging_.held = on;
    first().branches().send(TasksHeld{on});
    if (!options_.maxtime || !first().started() || judge_.ending()) return;
    const auto now = std::chrono::steady_clock::now();
    if (on) {
        debugging_.maxtime = timers_.deadline.expiry() - now;
        timers_.deadline.cancel();
    } else {
        set_maxtime(now + debugging_.maxtime);
    }
}

void Partition::set_maxtime(std::chrono::steady_clock::time_point when) {
    timers_.deadline.expires_at(when);
    timers_.deadline.async_wait([this](const asio::error_code& error) {
        if (!error) end_job(judge_.on_maxtime());
    });
}

}  // namespace poe::pm
