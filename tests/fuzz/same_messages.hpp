// Control messages for tests: compared field by field.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include "partition_manager/channel/messages.hpp"
#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

inline auto fields(const pm::Hello& m) {
    return std::tie(m.version, m.pid);
}
inline auto fields(const pm::Started&) {
    return std::tuple<>();
}
inline auto fields(const pm::SignalTasks& m) {
    return std::tie(m.signal);
}
inline auto fields(const pm::EndJob& m) {
    return std::tie(m.at_once);
}
inline auto fields(const pm::StdinEnd&) {
    return std::tuple<>();
}
inline auto fields(const pm::StdinProgress& m) {
    return std::tie(m.delivered, m.consumed, m.wanted);
}
inline auto fields(const pm::TaskExit& m) {
    return std::tie(m.task, m.code, m.signal, m.core, m.stop, m.after, m.user, m.system,
                    m.peak_memory);
}
inline auto fields(const pm::TaskAbort& m) {
    return std::tie(m.task, m.code, m.text);
}
inline auto fields(const pm::TaskLeft& m) {
    return std::tie(m.task);
}
inline auto fields(const pm::NodeFailed& m) {
    return std::tie(m.text);
}
inline auto fields(const pm::Attention& m) {
    return std::tie(m.text);
}
inline auto fields(const pm::Pulse&) {
    return std::tuple<>();
}
inline auto fields(const pm::Done&) {
    return std::tuple<>();
}
inline auto fields(const pm::AskTaskStates& m) {
    return std::tie(m.round);
}
inline auto fields(const pm::TaskState& s) {
    return std::tie(s.task, s.node, s.life, s.pid, s.wait_status, s.measured, s.awaited, s.doing,
                    s.waits_ms, s.unmoved_ms, s.unlooked_ms, s.unexpected.count, s.unexpected.noted,
                    s.unexpected.notes, s.queues);
}
inline auto fields(const pm::TaskSpec& t) {
    return std::tie(t.node, t.command);
}
inline auto fields(const pm::LaunchFailure& f) {
    return std::tie(f.task, f.text);
}
inline auto fields(const pm::StdinMode& m) {
    return std::tie(m.kind, m.task);
}
inline auto fields(const pm::StdoutMode& m) {
    return std::tie(m.kind, m.task);
}
inline auto plain_fields(const pm::JobSpec& j) {
    return std::tie(j.id, j.nodes, j.commands, j.environment, j.directory, j.stdin_is_empty,
                    j.stdout_is_terminal, j.wait_mode, j.buffer_mem, j.eager_limit, j.kill_grace,
                    j.host_pmix, j.eager_pmix, j.euilib, j.job_key, j.addresses, j.deadlock_timeout,
                    j.bind, j.single_copy, j.unbuffered, j.tell_binding, j.terminal.wanted,
                    j.terminal.rows, j.terminal.columns, j.reserved);
}
inline auto fields(const pm::ResourceLimit& l) {
    return std::tie(l.resource, l.soft);
}
inline auto plain_fields(const pm::LaunchSpec& l) {
    return std::tie(l.fanout, l.home, l.remote_shell, l.pmd, l.pulse, l.device, l.directory,
                    l.umask);
}
inline auto fields(const pm::NodeFacts& n) {
    return std::tie(n.node, n.address, n.ports);
}
inline auto fields(const pm::NodesUp& m) {
    return std::tie(m.nodes);
}
inline auto fields(const pm::NodeUnreached& m) {
    return std::tie(m.node, m.text);
}
inline auto fields(const pm::NodeLost& m) {
    return std::tie(m.node, m.text);
}
inline auto fields(const pm::KeyExchangePart& m) {
    return std::tie(m.key, m.of, m.nodes, m.data, m.jobs);
}
inline auto fields(const pm::KeyExchangeDone& m) {
    return std::tie(m.key, m.data);
}

inline auto fields(const pm::ReplyTo& a) {
    return std::tie(a.job, a.node, a.request);
}
inline auto fields(const pm::NamedValue& v) {
    return std::tie(v.name, v.value, v.by);
}
inline auto fields(const pm::KeyRequest& m) {
    return std::tuple_cat(fields(m.asker), std::tie(m.job, m.task));
}
inline auto fields(const pm::TasksSpawned& m) {
    return std::tuple_cat(fields(m.asker), std::tie(m.job, m.trouble));
}
inline auto fields(const pm::JobSummary& o) {
    return std::tie(o.id, o.nodes, o.node_of_task, o.appnum_of_task);
}
inline auto fields(const pm::JobAnnounced& m) {
    return fields(m.job);
}
inline auto fields(const pm::CommandPlace& p) {
    return std::tie(p.environment, p.directory, p.path);
}
inline auto fields(const pm::SpawnCommand& c) {
    return std::tuple_cat(fields(c.place), std::tie(c.words, c.tasks, c.hosts));
}
inline auto fields(const pm::KeyReply& m) {
    return std::tuple_cat(fields(m.asker), std::tie(m.status, m.data));
}

inline auto fields(const pm::TraceSpec& m) {
    return std::tie(m.level, m.generation, m.directory, m.temporary, m.wraps, m.buffer, m.most,
                    m.sample);
}
inline auto fields(const pm::StartTrace& m) {
    return fields(m.trace);
}
inline auto fields(const pm::StopTrace& m) {
    return std::tie(m.generation);
}
inline auto fields(const pm::ClockRequest& m) {
    return std::tie(m.asked);
}
inline auto fields(const pm::ClockReply& m) {
    return std::tie(m.asked, m.home);
}
inline auto fields(const pm::TraceDone& m) {
    return std::tie(m.generation, m.sent, m.left);
}
inline auto fields(const pm::TraceTaken& m) {
    return std::tie(m.generation, m.all);
}
inline auto fields(const pm::WatchTasks& m) {
    return std::tie(m.on);
}
inline auto fields(const pm::WatchedTask& t) {
    return std::tuple_cat(fields(t.state),
                          std::tie(t.processes, t.sent_per_second, t.received_per_second, t.lights,
                                   t.text.number, t.text.text, t.done, t.total));
}
inline auto fields(const pm::ResizeTerminals& m) {
    return std::tie(m.rows, m.columns);
}
inline auto fields(const pm::TaskProcess& one) {
    return std::tie(one.task, one.pid, one.processors);
}
inline auto fields(const pm::StartDebugger&) {
    return std::tuple<>();
}
inline auto fields(const pm::EndDebugger&) {
    return std::tuple<>();
}
inline auto fields(const pm::DebuggerInput& m) {
    return std::tie(m.bytes);
}
inline auto fields(const pm::DebuggerOutput& m) {
    return std::tie(m.bytes);
}
inline auto fields(const pm::DebuggerCredit& m) {
    return std::tie(m.bytes);
}
inline auto fields(const pm::ProcessWaits& m) {
    return std::tie(m.task, m.pid, m.program);
}
inline auto fields(const pm::ProcessTaken& m) {
    return std::tie(m.pid);
}
inline auto fields(const pm::InterruptCommand& m) {
    return std::tie(m.pid);
}
inline auto fields(const pm::DebuggerEnded& m) {
    return std::tie(m.text);
}
inline auto fields(const pm::TasksHeld& m) {
    return std::tie(m.on);
}
inline auto fields(const pm::DebuggedJob& m) {
    return std::tie(m.id, m.nodes, m.node_of_task, m.programs, m.at_start);
}
inline auto fields(const pm::DeadlockFound& m) {
    return std::tie(m.headline, m.lines, m.tasks);
}
inline auto fields(const pm::AskLines& m) {
    return std::tie(m.task);
}
inline auto fields(const pm::TaskLines& m) {
    return std::tie(m.task, m.lines);
}
inline auto fields(const pm::StdoutMark& m) {
    return std::tuple(m.task, m.mode.has_value(), m.mode.value_or(pm::StdoutMode{}).kind,
                      m.mode.value_or(pm::StdoutMode{}).task);
}
inline auto fields(const pm::StdoutFlushed& m) {
    return std::tie(m.agreed, m.mode.kind, m.mode.task);
}

template <typename T>
bool same(const T& a, const T& b) {
    return fields(a) == fields(b);
}
template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& one, const T& other) { return same(one, other); });
}
inline bool same(const pm::SpawnSpec& a, const pm::SpawnSpec& b) {
    return a.parent == b.parent && a.parent_task == b.parent_task && a.first == b.first &&
           a.pairs == b.pairs && same(a.others, b.others);
}
inline bool same(const pm::StartJob& a, const pm::StartJob& b) {
    return a.node == b.node && a.window == b.window && plain_fields(a.job) == plain_fields(b.job) &&
           plain_fields(a.job.launch) == plain_fields(b.job.launch) &&
           fields(a.job.trace) == fields(b.job.trace) &&
           same(a.job.launch.limits, b.job.launch.limits) && same(a.job.tasks, b.job.tasks) &&
           same(a.job.stdin_mode, b.job.stdin_mode) && same(a.job.stdout_mode, b.job.stdout_mode) &&
           same(a.job.places, b.job.places) &&
           a.job.spawned.has_value() == b.job.spawned.has_value() &&
           (!a.job.spawned || same(*a.job.spawned, *b.job.spawned));
}
inline bool same(const pm::SpawnTasks& a, const pm::SpawnTasks& b) {
    return fields(a.asker) == fields(b.asker) && a.task == b.task && a.pairs == b.pairs &&
           same(a.commands, b.commands);
}
inline bool same(const pm::StartFailed& a, const pm::StartFailed& b) {
    return a.text == b.text && a.busy == b.busy && same(a.failures, b.failures);
}
inline bool same(const pm::Prepared& a, const pm::Prepared& b) {
    return same(a.nodes, b.nodes);
}
inline bool same(const pm::RunTasks& a, const pm::RunTasks& b) {
    return same(a.nodes, b.nodes);
}
inline bool same(const pm::NameRequest& a, const pm::NameRequest& b) {
    return fields(a.asker) == fields(b.asker) && a.what == b.what && a.once == b.once &&
           a.waits == b.waits && a.by == b.by && same(a.names, b.names);
}
inline bool same(const pm::NameReply& a, const pm::NameReply& b) {
    return fields(a.asker) == fields(b.asker) && a.status == b.status && same(a.names, b.names);
}
inline bool same(const pm::TaskStates& a, const pm::TaskStates& b) {
    return a.round == b.round && same(a.states, b.states);
}
inline bool same(const pm::WatchedTasks& a, const pm::WatchedTasks& b) {
    return same(a.tasks, b.tasks);
}
inline bool same(const pm::TasksStarted& a, const pm::TasksStarted& b) {
    return same(a.tasks, b.tasks);
}
inline bool same(const pm::DebuggerStarted& a, const pm::DebuggerStarted& b) {
    return a.trouble == b.trouble && same(a.tasks, b.tasks);
}
inline bool same(const pm::Message& a, const pm::Message& b) {
    return a.index() == b.index() &&
           std::visit(
               [&b](const auto& one) {
                   return same(one, std::get<std::decay_t<decltype(one)>>(b));
               },
               a);
}

}  // namespace poe::fuzz
