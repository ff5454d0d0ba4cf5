// The reports of the daemons. Every message of the channel is listed in on_message(), so a message
// without a handler does not compile. Separate from partition.cpp, which owns the job.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "partition_manager/home/partition.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {

namespace {

// The answer about a task that does not exist: PMIX_ERROR.
constexpr int kNoSuchTask = -1;

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

// Messages that ChildDaemons handles, or that poe sends but never receives.
template <class T>
concept NotForPartition =
    is_one_of<T, Hello, Prepared, Started, NodesUp, Pulse, Done, StartJob, RunTasks, SignalTasks,
              EndJob, StdinEnd, AskTaskStates, StdoutFlushed, KeyExchangeDone, NameReply,
              TasksSpawned, JobAnnounced, StartTrace, StopTrace, ClockReply, TraceTaken, WatchTasks,
              AskLines, TaskLines, ResizeTerminals, StartDebugger, DebuggerInput, DebuggerCredit,
              EndDebugger, ProcessTaken, InterruptCommand, TasksHeld, DebuggedJob, DeadlockFound>;

// Messages of the daemons' gdbs, for pdbx.
template <class T>
concept ForDebugger = is_one_of<T, DebuggerStarted, DebuggerOutput, DebuggerEnded, ProcessWaits>;

}  // namespace

// Beyond this function the tasks of a run have the numbers by which users know them, except where
// the run itself is passed on.
void Partition::on_message(JobRun& run, NodeIndex branch, NodeIndex from, Message message) {
    if (run.given_up()) return;
    const TaskId first_task = run.first();
    std::visit(
        Overloaded{[&](StartFailed& m) { on_start_failed(run, std::move(m)); },
                   [&](const TaskExit& m) { on_exit(run, m); },
                   [&](const TaskAbort& m) {
                       if (run.failed()) return;
                       end_job(judge_.on_abort(first_task + m.task, m.code, m.text));
                   },
                   [&](const TaskLeft& m) {
                       if (run.failed()) return;
                       run.branches().send(m);  // for tasks that must react to it before they end
                       end_job(judge_.on_left(first_task + m.task));
                   },
                   [&](const NodeFailed& m) { end_job(judge_.on_node_failed(m.text)); },
                   [&](const NodeUnreached& m) { on_unreached(run, m.node, m.text); },
                   [&](const NodeLost& m) { on_lost(run, m.node, m.text); },
                   [&](const StdoutMark& m) {
                       if (run.is_task(m.task) && run.flush_round().on_mark(m.task, m.mode))
                           on_flush_complete(run);
                   },
                   [&](const StdinProgress& m) {
                       if (is_first(run)) on_stdin_progress(branch, m);
                   },
                   [&](const TasksStarted& m) {
                       if (is_first(run)) on_started(m);
                   },
                   [&](const Attention& m) {
                       if (options_.on_attention) options_.on_attention(m.text);
                   },
                   [&](WatchedTasks& m) {
                       std::erase_if(m.tasks,
                                     [&](const auto& w) { return !run.is_task(w.state.task); });
                       for (WatchedTask& watched : m.tasks) {
                           watched.state.task += first_task;
                           watched.state.node = public_node(run, watched.state.node);
                       }
                       sockets_.watchers->on_tasks(std::move(m.tasks));
                   },
                   [&](TaskStates& m) {
                       if (!is_first(run)) return;
                       if (m.round >= kDebuggerRounds) {
                           sockets_.debugger->send(m, from);
                       } else if (m.round >= kStatusRounds) {
                           if (sockets_.status) sockets_.status->on_states(from, std::move(m));
                       } else if (options_.on_deadlock && !judge_.ending() && !debugging_.held) {
                           deadlock_watch_.on_states(from, std::move(m));
                       }
                   },
                   [&](const ClockRequest& m) {
                       run.branches().send(ClockReply{m.asked, trace::monotonic_ns()}, from);
                   },
                   [&](const TraceDone& m) {
                       if (is_first(run)) tracing_.on_done(from, m);
                   },
                   [&](const KeyExchangePart& m) { on_exchange(run, m); },
                   [&](KeyRequest& m) {
                       m.asker.job = run.job().id;
                       if (m.job.empty()) m.job = run.job().id;
                       on_keys_asked(m);
                   },
                   [&](const KeyReply& m) { answer(m.asker, m); },
                   [&](NameRequest& m) {
                       m.asker.job = run.job().id;
                       on_names(std::move(m));
                   },
                   [&](SpawnTasks& m) { on_spawn_request(run, from, std::move(m)); },
                   [&](const ForDebugger auto& m) {
                       if (is_first(run)) sockets_.debugger->send(m, from);
                   },
                   [](const NotForPartition auto&) {}},
        message);
}

// Names of MPI_Publish_name, which come by PMI-1, are shared with the user's other jobs. A task's
// own poe is asked first, so jobs that use the same names do not disturb each other.
void Partition::on_names(NameRequest request) {
    const bool is_shared = request.asker.request >= kPmi1Requests;
    const NameRequest asked = request;
    std::vector<NameReply> replies = names_.published.ask(std::move(request));
    if (is_shared && !replies.empty()) share_names(asked, replies.front());
    for (const NameReply& reply : replies) answer(reply.asker, reply);
}

void Partition::share_names(const NameRequest& asked, NameReply& reply) {
    using Status = NameReply::Status;
    for (const NamedValue& one : asked.names) {
        if (asked.what == NameRequest::What::kLookUp && reply.status == Status::kUnknown) {
            auto value = names_.shared.look_up(one.name);
            if (value) reply = {reply.asker, Status::kDone, {{one.name, std::move(*value), {}}}};
        }
        if (asked.what == NameRequest::What::kWithdraw && reply.status == Status::kDone)
            names_.shared.withdraw(one.name);
        if (asked.what != NameRequest::What::kPublish || reply.status != Status::kDone) continue;
        try {
            names_.shared.publish(one.name, one.value);
        } catch (const Error& error) {
            if (options_.on_attention)
                options_.on_attention(
                    std::string("a name that a task has published is not known to other jobs: ") +
                    error.what());
        }
    }
}

void Partition::on_output(JobRun& run, NodeIndex branch, const Frame& frame) {
    ChildDaemons& from = run.branches();
    if (frame.kind == FrameKind::kTrace) {
        if (is_first(run)) tracing_.on_frame(frame);
        from.add_credit(branch, frame.kind, frame.payload.size());
        from.flush_credit(frame.kind);
        return;
    }
    if (!run.is_task(frame.task) || run.given_up()) return;
    Frame renamed = frame;
    renamed.task += run.first();
    output_.on_frame(renamed);
    from.add_credit(branch, frame.kind, frame.payload.size());
    give_credit(frame.kind);
}

void Partition::on_start_failed(JobRun& run, StartFailed failed) {
    if (run.is_spawned() && !run.started() && !judge_.ending()) {
        std::string text = failed.text;
        for (const LaunchFailure& failure : failed.failures)
            if (text.find(failure.text) == std::string::npos)
                text += (text.empty() ? "" : "; ") + failure.text;
        return fail_spawn(run, text);
    }
    if (failed.busy >= 0 && failed.busy < static_cast<NodeIndex>(run.job().nodes.size()))
        return end_job(judge_.on_busy(failed.busy, failed.text), true);
    for (LaunchFailure& failure : failed.failures) failure.task += run.first();
    end_job(judge_.on_start_failed(std::move(failed.failures), failed.text), true);
}

void Partition::on_exit(JobRun& run, TaskExit exit) {
    if (!run.is_task(exit.task)) return;
    ++so_far_.exits;
    if (is_first(run)) sockets_.debugger->send(exit);
    const TaskId own_number = exit.task;
    exit.task += run.first();
    if (run.is_spawned()) exit.after += run.launched() - so_far_.start;  // users know one start
    if (run.is_spawned() && exit.unjoined) on_unjoined(run, exit);
    if (run.given_up()) return;
    if (run.failed())
        judge_.on_failed_spawn(exit);
    else
        end_job(judge_.on_exit(exit));
    if (run.flush_round().on_exit(own_number)) on_flush_complete(run);
    if (is_first(run) && options_.on_deadlock && !judge_.ending())
        deadlock_watch_.on_exit(own_number);
}

// All tasks of the run wait for the flush. Spawned tasks cannot change the mode, because they share
// their output with tasks that have not been asked about it.
void Partition::on_flush_complete(JobRun& run) {
    FlushRound::Result result = run.flush_round().finish();
    if (run.is_spawned()) {
        run.branches().send(StdoutFlushed{result.agreed && !result.mode, run.job().stdout_mode});
        return;
    }
    if (result.mode && result.mode->kind == StdoutMode::Kind::kOne && !is_task(result.mode->task))
        result = {.agreed = false, .mode = std::nullopt};
    if (result.mode) job_.stdout_mode = *result.mode;
    output_.flush({result.agreed, job_.stdout_mode});
}

void Partition::on_stdin_progress(NodeIndex branch, const StdinProgress& progress) {
    if (!input_) return;
    if (job_.stdin_mode.kind == StdinMode::Kind::kOne) {
        // Only one node reads. The other daemons correctly report that they want no input.
        if (progress.delivered > 0 || progress.wanted || job_.nodes.size() == 1)
            input_->on_progress(progress);
        return;
    }
    stdin_progress_.set(branch, progress);
    input_->on_progress(stdin_progress_.all());
}

void Partition::on_started(const TasksStarted& started) {
    processes_.by_task.resize(first().job().tasks.size());
    for (const TaskProcess& one : started.tasks) {
        if (!first().is_task(one.task)) continue;
        TaskProcess& known = processes_.by_task[static_cast<std::size_t>(one.task)];
        if (known.pid == 0) ++processes_.known;
        known = one;
    }
    if (processes_.known == processes_.by_task.size() && options_.on_processes)
        options_.on_processes(first().job(), processes_.by_task);
}

void Partition::on_exchange(JobRun& run, const KeyExchangePart& part) {
    if (part.jobs.empty()) {
        if (auto all = run.exchanges().add(part))
            run.branches().send(KeyExchangeDone{std::move(all->key), std::move(all->data)});
        return;
    }
    const auto all = names_.joint_exchanges.add(part);
    if (!all) return;
    for (const std::string& job : part.jobs)
        if (JobRun* other = find_run(job))
            other->branches().send(KeyExchangeDone{all->key, all->data});
}

JobRun* Partition::find_run(const std::string& id) {
    const auto run = std::find_if(runs_.begin(), runs_.end(),
                                  [&](const auto& each) { return each->job().id == id; });
    return run != runs_.end() ? run->get() : nullptr;
}

void Partition::answer(const ReplyTo& asker, const Message& message) {
    JobRun* run = find_run(asker.job);
    if (run != nullptr && asker.node >= 0 &&
        static_cast<std::size_t>(asker.node) < run->job().nodes.size())
        run->branches().send(message, asker.node);
}

void Partition::on_keys_asked(const KeyRequest& ask) {
    JobRun* run = find_run(ask.job);
    if (run == nullptr || !run->is_task(ask.task) || run->over())
        return answer(ask.asker, KeyReply{ask.asker, kNoSuchTask, {}});
    run->branches().send(ask, run->job().tasks[static_cast<std::size_t>(ask.task)].node);
}

}  // namespace poe::pm
