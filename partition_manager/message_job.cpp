// The description of a job as CBOR, checked as it comes in: nobody behind this looks again whether
// a task names a node that is there. See message_values.hpp.
#include <algorithm>
#include <optional>
#include <string_view>

#include "partition_manager/message_values.hpp"

namespace poe::pm::wire {
namespace {

constexpr int kLastTraceLevel = 9;
constexpr std::uint32_t kLastGeneration = (1u << 24) - 1;

Json pack(const std::optional<JobKey>& key) {
    return key ? Json::binary({key->begin(), key->end()}) : Json();
}

std::optional<JobKey> unpack_key(const Json& json) {
    if (json.is_null()) return std::nullopt;
    const Binary& binary = json.get_binary();
    JobKey key;
    if (binary.size() != key.size()) throw std::out_of_range("key");
    std::copy(binary.begin(), binary.end(), key.begin());
    return key;
}

Json pack(const LaunchSpec& launch) {
    Json limits = Json::array();
    for (const ResourceLimit& limit : launch.limits)
        limits.push_back(Json::array({limit.resource, limit.soft}));
    return Json::array({launch.fanout, launch.home, byte_list(launch.remote_shell),
                        bytes(launch.pmd), launch.pulse.count(), bytes(launch.device),
                        bytes(launch.directory), launch.umask, std::move(limits)});
}

LaunchSpec unpack_launch(const Json& json) {
    LaunchSpec launch;
    launch.fanout = number<std::uint32_t>(json.at(0));
    if (launch.fanout == 0) throw std::out_of_range("fanout");
    launch.home = number<NodeIndex>(json.at(1));
    launch.remote_shell = text_list(json.at(2));
    launch.pmd = text(json.at(3));
    launch.pulse = duration<std::chrono::seconds>(json.at(4));
    launch.device = text(json.at(5));
    launch.directory = text(json.at(6));
    launch.umask = number_up_to<std::uint32_t>(json.at(7), 07777);
    for (const Json& limit : items(json.at(8)))
        launch.limits.push_back({number<int>(limit.at(0)), number<std::uint64_t>(limit.at(1))});
    return launch;
}

// It becomes a file name.
bool is_job_id(std::string_view id) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !id.empty() && id.size() <= 40 && std::all_of(id.begin(), id.end(), allowed);
}

Json pack(const CoreSpec& core) {
    return Json::array({bytes(core.prefix), bytes(core.format), core.at_sigterm});
}

CoreSpec unpack_core(const Json& json) {
    return {text(json.at(0)), text(json.at(1)), json.at(2).get<bool>()};
}

}  // namespace

Json pack(const TraceSpec& trace) {
    return Json::array({trace.level, trace.generation, bytes(trace.directory),
                        bytes(trace.temporary), trace.wraps, trace.buffer, trace.most,
                        trace.sample.count()});
}

TraceSpec unpack_trace(const Json& json) {
    TraceSpec trace;
    trace.level = number_up_to<int>(json.at(0), kLastTraceLevel);
    trace.generation = number_up_to<std::uint32_t>(json.at(1), kLastGeneration);
    trace.directory = text(json.at(2));
    trace.temporary = text(json.at(3));
    trace.wraps = json.at(4).get<bool>();
    trace.buffer = number_up_to(json.at(5), kMaxTraceBytes);
    trace.most = number_up_to(json.at(6), kMaxTraceBytes);
    trace.sample = duration<std::chrono::milliseconds>(json.at(7));
    return trace;
}

Json pack(const JobSpec& job) {
    Json tasks = Json::array();
    for (const TaskSpec& task : job.tasks) tasks.push_back({task.node, task.command});
    Json commands = Json::array();
    for (const Command& command : job.commands) commands.push_back(byte_list(command));
    Json places = Json::array();
    for (const CommandPlace& place : job.places) places.push_back(pack(place));
    return Json::array({bytes(job.id),
                        byte_list(job.nodes),
                        std::move(tasks),
                        std::move(commands),
                        byte_list(job.environment),
                        bytes(job.directory),
                        static_cast<int>(job.stdin_mode.kind),
                        job.stdin_mode.task,
                        static_cast<int>(job.stdout_mode.kind),
                        job.stdout_mode.task,
                        job.stdin_is_empty,
                        job.stdout_is_terminal,
                        static_cast<int>(job.wait_mode),
                        job.buffer_mem,
                        job.eager_limit,
                        job.kill_grace.count(),
                        job.host_pmix,
                        job.eager_pmix,
                        static_cast<int>(job.euilib),
                        pack(job.job_key),
                        byte_list(job.addresses),
                        job.deadlock_timeout.count(),
                        job.bind,
                        job.single_copy,
                        pack(job.launch),
                        pack(job.trace),
                        pack(job.core),
                        job.stamp_output,
                        job.spawned ? pack(*job.spawned) : Json(),
                        std::move(places),
                        static_cast<int>(job.unbuffered),
                        Json::array({job.terminal.wanted, job.terminal.rows, job.terminal.columns}),
                        job.tell_binding});
}

JobSpec unpack_job(const Json& json) {
    JobSpec job;
    job.id = text(json.at(0));
    job.nodes = text_list(json.at(1));
    for (const Json& task : items(json.at(2)))
        job.tasks.push_back({number<NodeIndex>(task.at(0)), number<std::uint32_t>(task.at(1))});
    for (const Json& command : items(json.at(3))) job.commands.push_back(text_list(command));
    for (const Command& command : job.commands)
        if (command.empty()) throw std::out_of_range("command");
    for (const TaskSpec& task : job.tasks) {
        if (task.command >= job.commands.size() || task.node < 0 ||
            static_cast<std::size_t>(task.node) >= job.nodes.size())
            throw std::out_of_range("task");
    }
    if (!is_job_id(job.id)) throw std::out_of_range("job");
    job.environment = text_list(json.at(4));
    job.directory = text(json.at(5));
    job.stdin_mode.kind = checked_enum(json.at(6), StdinMode::Kind::kOne);
    job.stdin_mode.task = number<TaskId>(json.at(7));
    job.stdout_mode.kind = checked_enum(json.at(8), StdoutMode::Kind::kFolded);
    job.stdout_mode.task = number<TaskId>(json.at(9));
    job.stdin_is_empty = json.at(10).get<bool>();
    job.stdout_is_terminal = json.at(11).get<bool>();
    job.wait_mode = checked_enum(json.at(12), WaitMode::kSleep);
    job.buffer_mem = number_up_to(json.at(13), kMaxBufferMem);
    job.eager_limit = number_up_to(json.at(14), kMaxEagerLimit);
    job.kill_grace = duration<std::chrono::milliseconds>(json.at(15), kMaxKillGrace);
    job.host_pmix = json.at(16).get<bool>();
    job.eager_pmix = json.at(17).get<bool>();
    job.euilib = checked_enum(json.at(18), Euilib::kIp);
    job.job_key = unpack_key(json.at(19));
    job.addresses = text_list(json.at(20));
    if (!job.addresses.empty() && job.addresses.size() != job.nodes.size())
        throw std::out_of_range("addresses");
    job.deadlock_timeout = duration<std::chrono::seconds>(json.at(21));
    job.bind = json.at(22).get<bool>();
    job.single_copy = json.at(23).get<bool>();
    job.launch = unpack_launch(json.at(24));
    if (job.launch.home < -1 || job.launch.home >= static_cast<NodeIndex>(job.nodes.size()))
        throw std::out_of_range("home");
    job.trace = unpack_trace(json.at(25));
    job.core = unpack_core(json.at(26));
    job.stamp_output = json.at(27).get<bool>();
    if (!json.at(28).is_null()) job.spawned = unpack_spawn(json.at(28));
    for (const Json& place : items(json.at(29))) job.places.push_back(unpack_place(place));
    job.unbuffered = checked_enum(json.at(30), Unbuffered::kAllProcesses);
    const Json& terminal = json.at(31);
    job.terminal = {terminal.at(0).get<bool>(), number<std::uint16_t>(terminal.at(1)),
                    number<std::uint16_t>(terminal.at(2))};
    job.tell_binding = json.at(32).get<bool>();
    if (!job.places.empty() && job.places.size() != job.commands.size())
        throw std::out_of_range("places");
    return job;
}

}  // namespace poe::pm::wire
