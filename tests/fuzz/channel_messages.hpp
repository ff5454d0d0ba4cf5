// Control messages for tests: made at random.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "partition_manager/messages.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/fuzz/same_messages.hpp"

namespace poe::fuzz {

// Small numbers, and those at the ends of their type, are more frequent than others.
template <typename Number>
Number random_number(Random& random) {
    const auto any = static_cast<Number>(random.next());
    switch (random.below(6)) {
        case 0:
            return std::numeric_limits<Number>::max();
        case 1:
            return std::numeric_limits<Number>::min();
        case 2:
            return any;
        default:
            return static_cast<Number>(random.below(300));
    }
}

template <typename Number>
Number random_number(Random& random, Number limit) {
    const auto any = static_cast<Number>(random.next() % (static_cast<std::uint64_t>(limit) + 1));
    return random.below(6) == 0 ? limit : any;
}

// Any bytes: NUL, line ends, no UTF-8.
inline std::string random_text(Random& random) {
    static constexpr std::size_t kLimits[] = {1, 4, 24, 300};
    std::string text(random.below(kLimits[random.below(4)]), '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    return text;
}

inline std::vector<std::string> random_list(Random& random, std::size_t least, std::size_t limit) {
    std::vector<std::string> list(least + random.below(limit));
    for (std::string& text : list) text = random_text(random);
    return list;
}

inline bool random_bool(Random& random) {
    return random.below(2) == 1;
}

inline pm::LaunchSpec random_launch(Random& random, std::size_t nodes) {
    pm::LaunchSpec launch;
    launch.fanout = 1 + random_number<std::uint32_t>(random) / 2;
    launch.home = static_cast<NodeIndex>(random.below(nodes + 1)) - 1;
    launch.remote_shell = random_list(random, 0, 4);
    launch.pmd = random_text(random);
    launch.pulse = std::chrono::seconds(random.below(100000));
    launch.device = random_text(random);
    launch.directory = random_text(random);
    launch.umask = static_cast<std::uint32_t>(random.below(01000));
    for (std::size_t i = random.below(5); i > 0; --i)
        launch.limits.push_back({random_number<int>(random), random_number<std::uint64_t>(random)});
    return launch;
}

inline pm::TraceSpec random_trace(Random& random) {
    pm::TraceSpec trace;
    trace.level = random_number<int>(random, 9);
    trace.generation = random_number<std::uint32_t>(random, 0xffffff);
    trace.directory = random_text(random);
    trace.temporary = random_text(random);
    trace.wraps = random_bool(random);
    trace.buffer = random_number(random, pm::kMaxTraceBytes);
    trace.most = random_number(random, pm::kMaxTraceBytes);
    trace.sample = std::chrono::milliseconds(random.below(1'000'001));
    return trace;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;
inline Pairs random_pairs(Random& random) {
    Pairs pairs(random.below(3));
    for (auto& [key, value] : pairs) key = random_text(random), value = random_text(random);
    return pairs;
}
inline pm::JobOutline random_outline(Random& random) {
    pm::JobOutline outline{random_text(random), random_list(random, 1, 4), {}, {}};
    for (std::size_t i = random.below(9); i > 0; --i) {
        outline.node_of_task.push_back(static_cast<NodeIndex>(random.below(outline.nodes.size())));
        outline.appnum_of_task.push_back(random_number<std::uint32_t>(random));
    }
    return outline;
}
inline pm::CommandPlace random_place(Random& random) {
    return {random_list(random, 0, 4), random_text(random), random_text(random)};
}
inline pm::SpawnSpec random_spawn(Random& random) {
    pm::SpawnSpec spawn;
    spawn.parent = random_text(random);
    spawn.parent_task = random_number<TaskId>(random);
    spawn.first = random_number<TaskId>(random);
    spawn.pairs = random_pairs(random);
    for (std::size_t i = random.below(3); i > 0; --i)
        spawn.others.push_back(random_outline(random));
    return spawn;
}

// Keeps what decode() promises: tasks name nodes and commands that are there.
inline pm::StartJob random_start(Random& random) {
    pm::StartJob start;
    pm::JobSpec& job = start.job;
    job.id = "job-" + std::to_string(random.below(1000));
    job.nodes = random_list(random, 1, 4);
    job.commands.resize(1 + random.below(4));
    for (pm::Command& command : job.commands) command = random_list(random, 1, 4);
    for (std::size_t i = random.below(40); i > 0; --i)
        job.tasks.push_back({static_cast<NodeIndex>(random.below(job.nodes.size())),
                             static_cast<std::uint32_t>(random.below(job.commands.size()))});
    job.environment = random_list(random, 0, 10);
    job.directory = random_text(random);
    job.stdin_mode = {static_cast<pm::StdinMode::Kind>(random.below(3)),
                      random_number<TaskId>(random)};
    job.stdout_mode = {static_cast<pm::StdoutMode::Kind>(random.below(4)),
                       random_number<TaskId>(random)};
    job.stdin_is_empty = random_bool(random);
    job.stdout_is_terminal = random_bool(random);
    job.wait_mode = static_cast<WaitMode>(random.below(4));
    job.buffer_mem = random_number(random, pm::kMaxBufferMem);
    job.eager_limit = random_number(random, pm::kMaxEagerLimit);
    job.kill_grace = std::chrono::milliseconds(random.below(3'600'001));
    job.host_pmix = random_bool(random);
    job.eager_pmix = random_bool(random);
    job.euilib = static_cast<Euilib>(random.below(2));
    if (random_bool(random)) {
        job.job_key.emplace();
        for (std::uint8_t& byte : *job.job_key) byte = static_cast<std::uint8_t>(random.next());
    }
    if (random_bool(random))
        for (std::size_t i = job.nodes.size(); i > 0; --i)
            job.addresses.push_back(random_text(random));
    job.deadlock_timeout = std::chrono::seconds(random.below(100000));
    job.bind = random_bool(random);
    job.single_copy = random_bool(random);
    job.launch = random_launch(random, job.nodes.size());
    job.trace = random_trace(random);
    job.unbuffered = static_cast<pm::Unbuffered>(random.below(3));
    job.terminal = {random_bool(random), random_number<std::uint16_t>(random),
                    random_number<std::uint16_t>(random)};
    job.tell_binding = random_bool(random);
    if (random_bool(random)) job.spawned = random_spawn(random);
    if (random_bool(random))
        for (std::size_t i = job.commands.size(); i > 0; --i)
            job.places.push_back(random_place(random));
    start.window = 1 + random_number(random, pm::kStreamWindow - 1);
    start.node = static_cast<NodeIndex>(random.below(job.nodes.size()));
    return start;
}

inline pm::TaskExit random_exit(Random& random) {
    pm::TaskExit exit;
    exit.task = random_number<TaskId>(random);
    exit.code = random_number<int>(random, 255);
    exit.signal = random_number<int>(random, 64);
    exit.core = random_bool(random);
    if (random_bool(random)) exit.stopall = random_number<int>(random, 255);
    exit.after = std::chrono::nanoseconds(random_number(random, std::int64_t{1} << 60));
    exit.user = std::chrono::microseconds(random_number(random, std::int64_t{1} << 50));
    exit.system = std::chrono::microseconds(random_number(random, std::int64_t{1} << 50));
    exit.peak_memory = random_number<Bytes>(random);
    return exit;
}

inline pm::StartFailed random_failure(Random& random) {
    pm::StartFailed failed;
    for (std::size_t i = random.below(5); i > 0; --i)
        failed.failures.push_back({random_number<TaskId>(random), random_text(random)});
    failed.text = random_text(random);
    return failed;
}

inline pm::TaskState random_state(Random& random) {
    pm::TaskState state;
    state.task = random_number<TaskId>(random);
    state.node = random_number<NodeIndex>(random);
    state.life = static_cast<pm::TaskState::Life>(random.below(3));
    state.pid = random_number<std::int32_t>(random);
    state.wait_status = random_number<int>(random);
    state.measured = random_bool(random);
    state.awaited = {static_cast<Awaited::Kind>(random.below(4)), random_number<TaskId>(random),
                     random_number<std::int32_t>(random)};
    state.doing = {static_cast<Call>(random.below(256)), random_number<TaskId>(random),
                   random_number<std::int32_t>(random), random_number<Bytes>(random), 0};
    state.waits_ms = random_number<std::uint32_t>(random);
    state.unmoved_ms = random_number<std::uint32_t>(random);
    state.unlooked_ms = random_number<std::uint32_t>(random);
    state.unexpected.count = random_number<std::uint32_t>(random);
    state.unexpected.noted = static_cast<std::uint32_t>(random.below(UnexpectedView::kMost + 1));
    for (std::uint32_t i = 0; i < state.unexpected.noted; ++i)
        state.unexpected.notes[i] = {random_number<TaskId>(random),
                                     random_number<std::int32_t>(random),
                                     random_number<Bytes>(random)};
    return state;
}
inline void fill(pm::WatchedTask& task, Random& random) {
    task.state = random_state(random);
    for (bool* flag : {&task.processes.known, &task.processes.runs, &task.processes.stopped,
                       &task.processes.disk})
        *flag = random_bool(random);
    task.processes.cpu_percent = random_number<std::int32_t>(random);
    for (auto* number : {&task.processes.memory, &task.sent_per_second, &task.received_per_second,
                         &task.text.number, &task.done, &task.total})
        *number = random_number<std::uint64_t>(random);
    for (std::size_t i = random.below(kMaxLights + 1); i > 0; --i)
        task.lights[i - 1] = static_cast<std::uint8_t>(random.below(kMarkerColors + 1));
    task.text.text = random_text(random).substr(0, kMarkerBytes);
}
inline void fill(pm::WatchTasks& m, Random& r) {
    m.on = random_bool(r);
}
inline void fill(pm::WatchedTasks& m, Random& r) {
    m.tasks.resize(r.below(4));
    for (pm::WatchedTask& task : m.tasks) fill(task, r);
}
inline void fill(pm::ResizeTerminals& m, Random& r) {
    m = {random_number<std::uint16_t>(r), random_number<std::uint16_t>(r)};
}
inline void fill(pm::TasksBound& m, Random& r) {
    for (std::size_t i = r.below(4); i > 0; --i)
        m.tasks.push_back({random_number<TaskId>(r), random_text(r)});
}
inline void fill(pm::AskLines& m, Random& r) {
    m.task = random_number<TaskId>(r);
}
inline void fill(pm::TaskLines& m, Random& r) {
    m = {random_number<TaskId>(r), random_list(r, 0, 5)};
}
inline void fill(pm::Hello& m, Random& r) {
    m = {random_number<int>(r), random_number<int>(r)};
}
inline void fill(pm::StartJob& m, Random& r) {
    m = random_start(r);
}
inline void fill(pm::Started&, Random&) {}
inline void fill(pm::StartFailed& m, Random& r) {
    m = random_failure(r);
}
inline void fill(pm::SignalTasks& m, Random& r) {
    m.signal = random_number<int>(r, 64);
}
inline void fill(pm::EndJob& m, Random& r) {
    m.at_once = random_bool(r);
}
inline void fill(pm::StdinEnd&, Random&) {}
inline void fill(pm::StdinProgress& m, Random& r) {
    m = {random_number<std::uint64_t>(r), random_number<std::uint64_t>(r), random_bool(r)};
}
inline void fill(pm::TaskExit& m, Random& r) {
    m = random_exit(r);
}
inline void fill(pm::TaskAbort& m, Random& r) {
    m = {random_number<TaskId>(r), random_number<int>(r), random_text(r)};
}
inline void fill(pm::TaskLeft& m, Random& r) {
    m.task = random_number<TaskId>(r);
}
inline void fill(pm::NodeFailed& m, Random& r) {
    m.text = random_text(r);
}
inline void fill(pm::Attention& m, Random& r) {
    m.text = random_text(r);
}
inline void fill(pm::Pulse&, Random&) {}
inline void fill(pm::Done&, Random&) {}
inline void fill(pm::AskTaskStates& m, Random& r) {
    m.round = random_number<std::uint32_t>(r);
}
inline void fill(pm::TaskStates& m, Random& r) {
    m.round = random_number<std::uint32_t>(r);
    for (std::size_t i = r.below(5); i > 0; --i) m.states.push_back(random_state(r));
}
inline pm::StdoutMode random_stdout_mode(Random& r) {
    return {static_cast<pm::StdoutMode::Kind>(r.below(4)), random_number<TaskId>(r)};
}
inline void fill(pm::StdoutMark& m, Random& r) {
    m.task = random_number<TaskId>(r);
    if (random_bool(r)) m.mode = random_stdout_mode(r);
}
inline void fill(pm::StdoutFlushed& m, Random& r) {
    m = {random_bool(r), random_stdout_mode(r)};
}

inline std::vector<pm::NodeFacts> random_facts(Random& r) {
    std::vector<pm::NodeFacts> nodes(r.below(5));
    for (pm::NodeFacts& node : nodes) {
        node.node = random_number<NodeIndex>(r);
        node.address = random_text(r);
        node.ports.resize(r.below(5));
        for (std::uint16_t& port : node.ports) port = random_number<std::uint16_t>(r);
    }
    return nodes;
}
inline void fill(pm::Prepared& m, Random& r) {
    m.nodes = random_facts(r);
}
inline void fill(pm::RunTasks& m, Random& r) {
    m.nodes = random_facts(r);
}
inline void fill(pm::NodesUp& m, Random& r) {
    m.nodes.resize(r.below(5));
    for (NodeIndex& node : m.nodes) node = random_number<NodeIndex>(r);
}
inline void fill(pm::NodeUnreached& m, Random& r) {
    m = {random_number<NodeIndex>(r), random_text(r)};
}
inline void fill(pm::NodeLost& m, Random& r) {
    m = {random_number<NodeIndex>(r), random_text(r)};
}

inline void fill(pm::Exchange& m, Random& r) {
    m = {random_text(r), random_number<std::uint32_t>(r), random_number<std::uint32_t>(r),
         random_text(r), random_list(r, 0, 3)};
}
inline void fill(pm::Exchanged& m, Random& r) {
    m = {random_text(r), random_text(r)};
}

inline pm::Asker random_asker(Random& r) {
    return {random_text(r), random_number<NodeIndex>(r), random_number<std::uint32_t>(r)};
}
inline std::vector<pm::NamedValue> random_names(Random& r) {
    std::vector<pm::NamedValue> names(r.below(4));
    for (pm::NamedValue& name : names) name = {random_text(r), random_text(r), random_text(r)};
    return names;
}
inline void fill(pm::AskKeys& m, Random& r) {
    m = {random_text(r), random_number<TaskId>(r), random_asker(r)};
}
inline void fill(pm::TellKeys& m, Random& r) {
    m = {random_asker(r), random_number<int>(r), random_text(r)};
}
inline void fill(pm::AskNames& m, Random& r) {
    m = {random_asker(r), static_cast<pm::AskNames::What>(r.below(3)),
         random_bool(r),  random_bool(r),
         random_text(r),  random_names(r)};
}
inline void fill(pm::SpawnTasks& m, Random& r) {
    m = {random_asker(r), random_number<TaskId>(r), {}, random_pairs(r)};
    for (std::size_t i = r.below(3); i > 0; --i)
        m.commands.push_back({random_list(r, 0, 3), random_number<std::uint32_t>(r),
                              random_list(r, 0, 3), random_place(r)});
}
inline void fill(pm::TasksSpawned& m, Random& r) {
    m = {random_asker(r), random_text(r), random_text(r)};
}
inline void fill(pm::KnowJob& m, Random& r) {
    m = {random_outline(r)};
}
inline void fill(pm::TellNames& m, Random& r) {
    m = {random_asker(r), static_cast<pm::TellNames::Status>(r.below(5)), random_names(r)};
}

inline void fill(pm::StartTrace& m, Random& r) {
    m.trace = random_trace(r);
}
inline void fill(pm::StopTrace& m, Random& r) {
    m.generation = random_number<std::uint32_t>(r);
}
inline void fill(pm::ClockAsk& m, Random& r) {
    m.asked = random_number<std::uint64_t>(r);
}
inline void fill(pm::ClockTell& m, Random& r) {
    m = {random_number<std::uint64_t>(r), random_number<std::uint64_t>(r)};
}
inline void fill(pm::TraceDone& m, Random& r) {
    m = {random_number<std::uint32_t>(r), random_bool(r), random_text(r)};
}
inline void fill(pm::TraceTaken& m, Random& r) {
    m = {random_number<std::uint32_t>(r), random_bool(r)};
}

inline constexpr std::size_t kMessageKinds = std::variant_size_v<pm::Message>;

// Message number `which` of the variant.
template <std::size_t Index = 0>
pm::Message random_message(std::size_t which, Random& random) {
    if constexpr (Index + 1 < kMessageKinds) {
        if (which != Index) return random_message<Index + 1>(which, random);
    }
    std::variant_alternative_t<Index, pm::Message> message;
    fill(message, random);
    return message;
}

}  // namespace poe::fuzz
