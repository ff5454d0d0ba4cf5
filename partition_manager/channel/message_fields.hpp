// The fields of every control message, each listed once. The writer and the reader of messages
// (message_codec.cpp) and the generator of random messages for tests visit these lists, so no field
// can be forgotten at one end.
//
// A visitor is called once per field, in the order in which the fields are sent:
//   f(field)           a number, bool, string, time, vector, pair, optional, byte array, or a
//                      struct that has a list here
//   f(field, limit)    likewise, with a limit: a number from 0 to `limit`, a time up to `limit`, or
//                      the last value of an enumeration
//   f.some(array, n)   the first n elements of an array; n is a field, too
//   f.trimmed(bytes)   a byte array without the zeros at its end
// check() verifies further conditions on a received struct; it throws std::out_of_range.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string_view>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

inline constexpr int kLastExitCode = 255;
inline constexpr int kLastSignal = NSIG - 1;  // includes real-time signals

inline void require(bool fine, const char* what) {
    if (!fine) throw std::out_of_range(what);
}

// ---- the parts of messages

template <class F>
void fields(F& f, NodeFacts& m) {
    f(m.node)(m.address)(m.ports);
}
template <class F>
void fields(F& f, StdinMode& m) {
    f(m.kind, StdinMode::Kind::kOne)(m.task);
}
template <class F>
void fields(F& f, StdoutMode& m) {
    f(m.kind, StdoutMode::Kind::kFolded)(m.task);
}
template <class F>
void fields(F& f, NamedValue& m) {
    f(m.name)(m.value)(m.by);
}
template <class F>
void fields(F& f, LaunchFailure& m) {
    f(m.task)(m.text);
}
template <class F>
void fields(F& f, TaskStop& m) {
    f(m.kind, StopKind::kMpiError)(m.code)(m.text);
}
inline void check(TaskStop& m) {
    require(m.kind != StopKind::kNone, "kind");
}
template <class F>
void fields(F& f, TaskProcess& m) {
    f(m.task)(m.pid)(m.processors);
}
template <class F>
void fields(F& f, ReplyTo& m) {
    f(m.job)(m.node)(m.request);
}
template <class F>
void fields(F& f, TaskSpec& m) {
    f(m.node)(m.command);
}
template <class F>
void fields(F& f, ResourceLimit& m) {
    f(m.resource)(m.soft);
}
template <class F>
void fields(F& f, LaunchSpec& m) {
    f(m.fanout)(m.home)(m.remote_shell)(m.pmd)(m.pulse)(m.device)(m.directory);
    f(m.umask, 07777u)(m.limits);
}
inline void check(LaunchSpec& m) {
    require(m.fanout > 0, "fanout");
}
template <class F>
void fields(F& f, CoreSpec& m) {
    f(m.prefix)(m.format)(m.at_sigterm);
}
template <class F>
void fields(F& f, TerminalSpec& m) {
    f(m.wanted)(m.rows)(m.columns);
}
template <class F>
void fields(F& f, TraceSpec& m) {
    constexpr int kLastLevel = 9;
    constexpr std::uint32_t kLastGeneration = (1u << 24) - 1;
    f(m.level, kLastLevel)(m.generation, kLastGeneration)(m.directory)(m.temporary)(m.wraps);
    f(m.buffer, kMaxTraceBytes)(m.most, kMaxTraceBytes)(m.sample)(m.stacks, kMaxStacksPerSecond);
}
template <class F>
void fields(F& f, CommandPlace& m) {
    f(m.environment)(m.directory)(m.path);
}
template <class F>
void fields(F& f, JobSummary& m) {
    f(m.id)(m.nodes)(m.node_of_task)(m.appnum_of_task);
}
inline void check(JobSummary& m) {
    for (const NodeIndex node : m.node_of_task)
        require(node >= 0 && static_cast<std::size_t>(node) < m.nodes.size(), "node");
}
template <class F>
void fields(F& f, SpawnSpec& m) {
    f(m.parent)(m.parent_task)(m.first)(m.pairs)(m.others);
}
template <class F>
void fields(F& f, SpawnCommand& m) {
    f(m.words)(m.tasks)(m.hosts)(m.place);
}

template <class F>
void fields(F& f, NodeReservation& m) {
    f(m.processors)(m.adapter);
}
template <class F>
void fields(F& f, JobSpec& m) {
    f(m.id)(m.nodes)(m.tasks)(m.commands)(m.environment)(m.directory);
    fields(f, m.stdin_mode);
    fields(f, m.stdout_mode);
    f(m.stdin_is_empty)(m.stdout_is_terminal)(m.wait_mode, WaitMode::kSleep);
    f(m.buffer_mem, kMaxBufferMem)(m.eager_limit, kMaxEagerLimit);
    f(m.kill_grace, std::chrono::milliseconds(kMaxKillGrace))(m.host_pmix)(m.eager_pmix);
    f(m.euilib, Euilib::kIp)(m.job_key)(m.addresses)(m.deadlock_timeout)(m.bind)(m.single_copy);
    f(m.launch)(m.trace)(m.core)(m.stamp_output)(m.spawned)(m.places);
    f(m.unbuffered, Unbuffered::kAllProcesses)(m.terminal)(m.tell_binding);
    f(m.observe, Observe::kNo);
    f(m.threads, kMaxThreads)(m.own_mpi_library)(m.foreign_on_poe)(m.hold_tasks)(m.reserved);
}
// No later code checks whether a task's node exists.
inline void check(JobSpec& m) {
    const auto is_id = [](std::string_view id) {  // it becomes a file name
        const auto allowed = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        };
        return !id.empty() && id.size() <= 40 && std::all_of(id.begin(), id.end(), allowed);
    };
    require(is_id(m.id), "job");
    for (const Command& command : m.commands) require(!command.empty(), "command");
    for (const TaskSpec& task : m.tasks)
        require(task.command < m.commands.size() && task.node >= 0 &&
                    static_cast<std::size_t>(task.node) < m.nodes.size(),
                "task");
    require(m.addresses.empty() || m.addresses.size() == m.nodes.size(), "addresses");
    require(m.launch.home >= -1 && m.launch.home < static_cast<NodeIndex>(m.nodes.size()), "home");
    require(m.reserved.empty() || m.reserved.size() == m.nodes.size(), "reserved");
    require(m.places.empty() || m.places.size() == m.commands.size(), "places");
}

template <class F>
void fields(F& f, UnexpectedNote& m) {
    f(m.source)(m.type)(m.length)(m.context);
}
template <class F>
void fields(F& f, ObservedNeed& m) {
    f(m.kind, ObservedNeed::Kind::kAll)(m.peer)(m.tag)(m.context)(m.number);
}
template <class F>
void fields(F& f, LineCount& m) {
    f(m.context)(m.peer)(m.tag)(m.count);
}
template <class F>
void fields(F& f, CommCount& m) {
    f(m.context)(m.operations);
}
template <class F>
void fields(F& f, TaskActivity& m) {
    f(m.call, static_cast<Call>(kLastCall))(m.peer)(m.type)(m.bytes)(m.context)(m.request);
}
template <class F>
void fields(F& f, ThreadWait& m) {
    f(m.one_suffices)(m.needs)(m.doing)(m.communicator)(m.place);
    f(m.awaited.kind, Awaited::Kind::kAll)(m.awaited.peer)(m.awaited.type)(m.awaited.context);
}
template <class F>
void fields(F& f, ObservedEvidence& m) {
    f(m.known)(m.wildcards)(m.waits)(m.sends)(m.receives)(m.many_threads)(m.ended)(m.comms);
}
template <class F>
void fields(F& f, PostedNote& m) {
    f(m.source)(m.type)(m.room)(m.context)(m.blocking);
}
template <class F>
void fields(F& f, MessageQueues& m) {
    f(m.state, MessageQueues::State::kForbidden)(m.posted_count)(m.unexpected_count);
    f(m.posted)(m.unexpected);
}
template <class F>
void fields(F& f, TaskState& m) {
    f(m.task)(m.node)(m.life, TaskState::Life::kEnded)(m.pid)(m.wait_status)(m.measured);
    f(m.awaited.kind, Awaited::Kind::kAll)(m.awaited.peer)(m.awaited.type)(m.awaited.context);
    f(m.awaited.progress.path, kLastCollectivePath)(m.awaited.progress.round);
    f(m.awaited.progress.rounds)(m.doing)(m.communicator)(m.place);
    f(m.waits_ms)(m.unmoved_ms)(m.unlooked_ms)(m.unexpected.count);
    f.some(m.unexpected.notes, m.unexpected.noted);
    f(m.idle)(m.stopped)(m.observed)(m.evidence)(m.queues);
}
template <class F>
void fields(F& f, ProcessesView& m) {
    f(m.known)(m.runs)(m.stopped)(m.disk)(m.cpu_percent)(m.memory);
    f(m.switches_per_second)(m.disk_read_per_second)(m.disk_written_per_second);
}
template <class F>
void fields(F& f, WatchedTask& m) {
    f(m.state)(m.processes)(m.sent_per_second)(m.received_per_second);
    f.trimmed(m.lights);
    f(m.text.number)(m.text.text)(m.done)(m.total);
}
inline void check(WatchedTask& m) {
    for (std::uint8_t& light : m.lights) light = std::min<std::uint8_t>(light, kMarkerColors);
    require(m.text.text.size() <= kMarkerBytes, "text");
}

// ---- the messages

template <class F>
void fields(F& f, Hello& m) {
    f(m.version)(m.pid);
}
template <class F>
void fields(F& f, StartJob& m) {
    f(m.job)(m.node)(m.window, kStreamWindow);
}
inline void check(StartJob& m) {
    require(m.node >= 0 && static_cast<std::size_t>(m.node) < m.job.nodes.size(), "node");
    require(m.window > 0, "window");
}
template <class F>
void fields(F&, Started&) {}
template <class F>
void fields(F& f, StartFailed& m) {
    f(m.failures)(m.text)(m.busy);
}
template <class F>
void fields(F& f, SignalTasks& m) {
    f(m.signal, kLastSignal);
}
template <class F>
void fields(F& f, EndJob& m) {
    f(m.at_once);
}
template <class F>
void fields(F&, StdinEnd&) {}
template <class F>
void fields(F& f, StdinProgress& m) {
    f(m.delivered)(m.consumed)(m.wanted);
}
template <class F>
void fields(F& f, TaskExit& m) {
    f(m.task)(m.code, kLastExitCode)(m.signal, kLastSignal)(m.core)(m.stop);
    f(m.after)(m.user)(m.system)(m.peak_memory)(m.unjoined);
}
template <class F>
void fields(F& f, TaskAbort& m) {
    f(m.task)(m.code)(m.text);
}
template <class F>
void fields(F& f, TaskLeft& m) {
    f(m.task);
}
template <class F>
void fields(F& f, NodeFailed& m) {
    f(m.text);
}
template <class F>
void fields(F& f, Attention& m) {
    f(m.text);
}
template <class F>
void fields(F&, Pulse&) {}
template <class F>
void fields(F&, Done&) {}
template <class F>
void fields(F& f, AskTaskStates& m) {
    f(m.round);
}
template <class F>
void fields(F& f, TaskStates& m) {
    f(m.round)(m.states);
}
template <class F>
void fields(F& f, StdoutMark& m) {
    f(m.task)(m.mode);
}
template <class F>
void fields(F& f, StdoutFlushed& m) {
    f(m.agreed)(m.mode);
}
template <class F>
void fields(F& f, Prepared& m) {
    f(m.nodes);
}
template <class F>
void fields(F& f, RunTasks& m) {
    f(m.nodes);
}
template <class F>
void fields(F& f, NodesUp& m) {
    f(m.nodes);
}
template <class F>
void fields(F& f, NodeUnreached& m) {
    f(m.node)(m.text);
}
template <class F>
void fields(F& f, NodeLost& m) {
    f(m.node)(m.text);
}
template <class F>
void fields(F& f, KeyExchangePart& m) {
    f(m.key)(m.of)(m.nodes)(m.data)(m.jobs);
}
template <class F>
void fields(F& f, KeyExchangeDone& m) {
    f(m.key)(m.data);
}
template <class F>
void fields(F& f, StartTrace& m) {
    f(m.trace);
}
template <class F>
void fields(F& f, StopTrace& m) {
    f(m.generation);
}
template <class F>
void fields(F& f, ClockRequest& m) {
    f(m.asked);
}
template <class F>
void fields(F& f, ClockReply& m) {
    f(m.asked)(m.home);
}
template <class F>
void fields(F& f, TraceDone& m) {
    f(m.generation)(m.sent)(m.left);
}
template <class F>
void fields(F& f, TraceTaken& m) {
    f(m.generation)(m.all);
}
template <class F>
void fields(F& f, KeyRequest& m) {
    f(m.job)(m.task)(m.asker);
}
template <class F>
void fields(F& f, KeyReply& m) {
    f(m.asker)(m.status)(m.data);
}
template <class F>
void fields(F& f, WatchTasks& m) {
    f(m.on);
}
template <class F>
void fields(F& f, WatchedTasks& m) {
    f(m.tasks);
}
template <class F>
void fields(F& f, AskLines& m) {
    f(m.task);
}
template <class F>
void fields(F& f, TaskLines& m) {
    f(m.task)(m.lines);
}
template <class F>
void fields(F& f, NameRequest& m) {
    f(m.asker)(m.what, NameRequest::What::kLookUp)(m.once)(m.waits)(m.by)(m.names);
}
template <class F>
void fields(F& f, NameReply& m) {
    f(m.asker)(m.status, NameReply::Status::kTooMany)(m.names);
}
template <class F>
void fields(F& f, SpawnTasks& m) {
    f(m.asker)(m.task)(m.commands)(m.pairs)(m.joins);
}
template <class F>
void fields(F& f, TasksSpawned& m) {
    f(m.asker)(m.job)(m.trouble);
}
template <class F>
void fields(F& f, JobAnnounced& m) {
    f(m.job);
}
template <class F>
void fields(F& f, ResizeTerminals& m) {
    f(m.rows)(m.columns);
}
template <class F>
void fields(F& f, TasksStarted& m) {
    f(m.tasks);
}

template <class F>
void fields(F&, StartDebugger&) {}
template <class F>
void fields(F& f, DebuggerStarted& m) {
    f(m.tasks)(m.trouble);
}
template <class F>
void fields(F& f, DebuggerInput& m) {
    f(m.bytes);
}
template <class F>
void fields(F& f, DebuggerOutput& m) {
    f(m.bytes);
}
template <class F>
void fields(F& f, DebuggerCredit& m) {
    f(m.bytes);
}
template <class F>
void fields(F&, EndDebugger&) {}
template <class F>
void fields(F& f, DebuggerEnded& m) {
    f(m.text);
}
template <class F>
void fields(F& f, ProcessWaits& m) {
    f(m.task)(m.pid)(m.program);
}
template <class F>
void fields(F& f, ProcessTaken& m) {
    f(m.pid);
}
template <class F>
void fields(F& f, InterruptCommand& m) {
    f(m.pid);
}
template <class F>
void fields(F& f, TasksHeld& m) {
    f(m.on);
}
template <class F>
void fields(F& f, DebuggedJob& m) {
    f(m.id)(m.nodes)(m.node_of_task)(m.programs)(m.at_start);
}
template <class F>
void fields(F& f, DeadlockFound& m) {
    f(m.headline)(m.lines)(m.tasks);
}

template <class T>
inline constexpr bool has_check = requires(T& value) {
    check(value);
};

}  // namespace poe::pm
