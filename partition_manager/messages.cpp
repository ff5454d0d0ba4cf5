// CBOR of the control messages, by nlohmann-json's macros-free converters: each struct is a JSON
// array in the order of its fields, behind a number that says which struct it is.
#include "partition_manager/messages.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "partition_manager/cbor_check.hpp"
#include "partition_manager/message_values.hpp"

namespace poe::pm {

namespace {

using namespace wire;

constexpr int kLastCode = 255;         // of a process that exits
constexpr int kLastSignal = NSIG - 1;  // real-time signals included

Json pack(const std::vector<NodeFacts>& nodes) {
    Json json = Json::array();
    for (const NodeFacts& node : nodes) {
        Json ports = Json::array();
        for (const std::uint16_t port : node.ports) ports.push_back(port);
        json.push_back(Json::array({node.node, bytes(node.address), std::move(ports)}));
    }
    return json;
}

std::vector<NodeFacts> unpack_facts(const Json& json) {
    std::vector<NodeFacts> nodes;
    for (const Json& item : items(json)) {
        NodeFacts node;
        node.node = number<NodeIndex>(item.at(0));
        node.address = text(item.at(1));
        for (const Json& port : items(item.at(2)))
            node.ports.push_back(number<std::uint16_t>(port));
        nodes.push_back(std::move(node));
    }
    return nodes;
}

Json pack(const StdoutMode& mode) {
    return Json::array({static_cast<int>(mode.kind), mode.task});
}

StdoutMode unpack_stdout_mode(const Json& json) {
    StdoutMode mode;
    mode.kind = checked_enum(json.at(0), StdoutMode::Kind::kFolded);
    mode.task = number<TaskId>(json.at(1));
    return mode;
}

Json pack(const std::vector<NamedValue>& names) {
    Json json = Json::array();
    for (const NamedValue& one : names)
        json.push_back(Json::array({bytes(one.name), bytes(one.value), bytes(one.by)}));
    return json;
}

std::vector<NamedValue> unpack_names(const Json& json) {
    std::vector<NamedValue> names;
    for (const Json& one : items(json))
        names.push_back({text(one.at(0)), text(one.at(1)), text(one.at(2))});
    return names;
}

Json body(const Hello& m) {
    return {m.version, m.pid};
}
Json body(const StartJob& m) {
    return Json::array({wire::pack(m.job), m.node, m.window});
}
Json body(const Started&) {
    return Json::array();
}
Json body(const StartFailed& m) {
    Json failures = Json::array();
    for (const LaunchFailure& f : m.failures)
        failures.push_back(Json::array({f.task, bytes(f.text)}));
    return Json::array({std::move(failures), bytes(m.text)});
}
Json body(const SignalTasks& m) {
    return Json::array({m.signal});
}
Json body(const EndJob& m) {
    return Json::array({m.at_once});
}
Json body(const StdinEnd&) {
    return Json::array();
}
Json body(const StdinProgress& m) {
    return Json::array({m.delivered, m.consumed, m.wanted});
}
Json body(const TaskExit& m) {
    return Json::array({m.task, m.code, m.signal, m.core, m.stopall ? Json(*m.stopall) : Json(),
                        m.after.count(), m.user.count(), m.system.count(), m.peak_memory});
}
Json body(const TaskAbort& m) {
    return Json::array({m.task, m.code, bytes(m.text)});
}
Json body(const TaskLeft& m) {
    return Json::array({m.task});
}
Json body(const NodeFailed& m) {
    return Json::array({bytes(m.text)});
}
Json body(const Attention& m) {
    return Json::array({bytes(m.text)});
}
Json body(const Pulse&) {
    return Json::array();
}
Json body(const Done&) {
    return Json::array();
}
Json body(const AskTaskStates& m) {
    return Json::array({m.round});
}
Json body(const TaskStates& m) {
    Json states = Json::array();
    for (const TaskState& state : m.states) states.push_back(wire::pack(state));
    return Json::array({m.round, std::move(states)});
}
Json body(const StdoutMark& m) {
    return Json::array({m.task, m.mode ? pack(*m.mode) : Json()});
}
Json body(const StdoutFlushed& m) {
    return Json::array({m.agreed, pack(m.mode)});
}
Json body(const Prepared& m) {
    return Json::array({pack(m.nodes)});
}
Json body(const RunTasks& m) {
    return Json::array({pack(m.nodes)});
}
Json body(const NodesUp& m) {
    return Json::array({Json(m.nodes)});
}
Json body(const NodeUnreached& m) {
    return Json::array({m.node, bytes(m.text)});
}
Json body(const NodeLost& m) {
    return Json::array({m.node, bytes(m.text)});
}
Json body(const Exchange& m) {
    return Json::array({bytes(m.key), m.of, m.nodes, bytes(m.data), byte_list(m.jobs)});
}
Json body(const Exchanged& m) {
    return Json::array({bytes(m.key), bytes(m.data)});
}
Json body(const AskKeys& m) {
    return Json::array({bytes(m.job), m.task, wire::pack(m.asker)});
}
Json body(const TellKeys& m) {
    return Json::array({wire::pack(m.asker), m.status, bytes(m.data)});
}
Json body(const AskNames& m) {
    return Json::array({wire::pack(m.asker), static_cast<int>(m.what), m.once, m.waits, bytes(m.by),
                        pack(m.names)});
}
Json body(const TellNames& m) {
    return Json::array({wire::pack(m.asker), static_cast<int>(m.status), pack(m.names)});
}
Json body(const SpawnTasks& m) {
    return wire::pack(m);
}
Json body(const TasksSpawned& m) {
    return Json::array({wire::pack(m.asker), bytes(m.job), bytes(m.trouble)});
}
Json body(const KnowJob& m) {
    return Json::array({wire::pack(m.job)});
}
Json body(const StartTrace& m) {
    return Json::array({wire::pack(m.trace)});
}
Json body(const StopTrace& m) {
    return Json::array({m.generation});
}
Json body(const ClockAsk& m) {
    return Json::array({m.asked});
}
Json body(const ClockTell& m) {
    return Json::array({m.asked, m.home});
}
Json body(const TraceDone& m) {
    return Json::array({m.generation, m.sent, bytes(m.left)});
}
Json body(const TraceTaken& m) {
    return Json::array({m.generation, m.all});
}
Json body(const WatchTasks& m) {
    return Json::array({m.on});
}
Json body(const WatchedTasks& m) {
    Json tasks = Json::array();
    for (const WatchedTask& task : m.tasks) tasks.push_back(wire::pack(task));
    return Json::array({std::move(tasks)});
}
Json body(const AskLines& m) {
    return Json::array({m.task});
}
Json body(const TaskLines& m) {
    return Json::array({m.task, byte_list(m.lines)});
}
Json body(const ResizeTerminals& m) {
    return Json::array({m.rows, m.columns});
}
Json body(const TasksBound& m) {
    Json tasks = Json::array();
    for (const TaskBinding& one : m.tasks)
        tasks.push_back(Json::array({one.task, bytes(one.processors)}));
    return Json::array({std::move(tasks)});
}

void read(const Json& json, Hello& m) {
    m.version = number<int>(json.at(0));
    m.pid = number<int>(json.at(1));
}
void read(const Json& json, StartJob& m) {
    m.job = unpack_job(json.at(0));
    m.node = number<NodeIndex>(json.at(1));
    if (m.node < 0 || static_cast<std::size_t>(m.node) >= m.job.nodes.size())
        throw std::out_of_range("node");
    m.window = number_up_to(json.at(2), kStreamWindow);
    if (m.window == 0) throw std::out_of_range("window");
}
void read(const Json&, Started&) {}
void read(const Json& json, StartFailed& m) {
    for (const Json& f : items(json.at(0)))
        m.failures.push_back({number<TaskId>(f.at(0)), text(f.at(1))});
    m.text = text(json.at(1));
}
void read(const Json& json, SignalTasks& m) {
    m.signal = number_up_to<int>(json.at(0), kLastSignal);
}
void read(const Json& json, EndJob& m) {
    m.at_once = json.at(0).get<bool>();
}
void read(const Json&, StdinEnd&) {}
void read(const Json& json, StdinProgress& m) {
    m.delivered = number<std::uint64_t>(json.at(0));
    m.consumed = number<std::uint64_t>(json.at(1));
    m.wanted = json.at(2).get<bool>();
}
void read(const Json& json, TaskExit& m) {
    m.task = number<TaskId>(json.at(0));
    m.code = number_up_to<int>(json.at(1), kLastCode);
    m.signal = number_up_to<int>(json.at(2), kLastSignal);
    m.core = json.at(3).get<bool>();
    if (!json.at(4).is_null()) m.stopall = number_up_to<int>(json.at(4), kLastCode);
    m.after = duration<std::chrono::nanoseconds>(json.at(5));
    m.user = duration<std::chrono::microseconds>(json.at(6));
    m.system = duration<std::chrono::microseconds>(json.at(7));
    m.peak_memory = number<Bytes>(json.at(8));
}
void read(const Json& json, TaskAbort& m) {
    m.task = number<TaskId>(json.at(0));
    m.code = number<int>(json.at(1));
    m.text = text(json.at(2));
}
void read(const Json& json, TaskLeft& m) {
    m.task = number<TaskId>(json.at(0));
}
void read(const Json& json, NodeFailed& m) {
    m.text = text(json.at(0));
}
void read(const Json& json, Attention& m) {
    m.text = text(json.at(0));
}
void read(const Json&, Pulse&) {}
void read(const Json&, Done&) {}
void read(const Json& json, AskTaskStates& m) {
    m.round = number<std::uint32_t>(json.at(0));
}
void read(const Json& json, TaskStates& m) {
    m.round = number<std::uint32_t>(json.at(0));
    for (const Json& state : items(json.at(1))) m.states.push_back(unpack_state(state));
}
void read(const Json& json, StdoutMark& m) {
    m.task = number<TaskId>(json.at(0));
    if (!json.at(1).is_null()) m.mode = unpack_stdout_mode(json.at(1));
}
void read(const Json& json, StdoutFlushed& m) {
    m.agreed = json.at(0).get<bool>();
    m.mode = unpack_stdout_mode(json.at(1));
}
void read(const Json& json, Prepared& m) {
    m.nodes = unpack_facts(json.at(0));
}
void read(const Json& json, RunTasks& m) {
    m.nodes = unpack_facts(json.at(0));
}
void read(const Json& json, NodesUp& m) {
    for (const Json& node : items(json.at(0))) m.nodes.push_back(number<NodeIndex>(node));
}
void read(const Json& json, NodeUnreached& m) {
    m.node = number<NodeIndex>(json.at(0));
    m.text = text(json.at(1));
}
void read(const Json& json, NodeLost& m) {
    m.node = number<NodeIndex>(json.at(0));
    m.text = text(json.at(1));
}
void read(const Json& json, Exchange& m) {
    m.key = text(json.at(0));
    m.of = number<std::uint32_t>(json.at(1));
    m.nodes = number<std::uint32_t>(json.at(2));
    m.data = text(json.at(3));
    m.jobs = text_list(json.at(4));
}
void read(const Json& json, Exchanged& m) {
    m.key = text(json.at(0));
    m.data = text(json.at(1));
}
void read(const Json& json, AskKeys& m) {
    m.job = text(json.at(0));
    m.task = number<TaskId>(json.at(1));
    m.asker = unpack_asker(json.at(2));
}
void read(const Json& json, TellKeys& m) {
    m.asker = unpack_asker(json.at(0));
    m.status = number<int>(json.at(1));
    m.data = text(json.at(2));
}
void read(const Json& json, AskNames& m) {
    m.asker = unpack_asker(json.at(0));
    m.what = checked_enum(json.at(1), AskNames::What::kLookUp);
    m.once = json.at(2).get<bool>();
    m.waits = json.at(3).get<bool>();
    m.by = text(json.at(4));
    m.names = unpack_names(json.at(5));
}
void read(const Json& json, TellNames& m) {
    m.asker = unpack_asker(json.at(0));
    m.status = checked_enum(json.at(1), TellNames::Status::kTooMany);
    m.names = unpack_names(json.at(2));
}
void read(const Json& json, SpawnTasks& m) {
    m = unpack_spawn_tasks(json);
}
void read(const Json& json, TasksSpawned& m) {
    m.asker = unpack_asker(json.at(0));
    m.job = text(json.at(1));
    m.trouble = text(json.at(2));
}
void read(const Json& json, KnowJob& m) {
    m.job = unpack_outline(json.at(0));
}
void read(const Json& json, StartTrace& m) {
    m.trace = unpack_trace(json.at(0));
}
void read(const Json& json, StopTrace& m) {
    m.generation = number<std::uint32_t>(json.at(0));
}
void read(const Json& json, ClockAsk& m) {
    m.asked = number<std::uint64_t>(json.at(0));
}
void read(const Json& json, ClockTell& m) {
    m.asked = number<std::uint64_t>(json.at(0));
    m.home = number<std::uint64_t>(json.at(1));
}
void read(const Json& json, TraceDone& m) {
    m.generation = number<std::uint32_t>(json.at(0));
    m.sent = json.at(1).get<bool>();
    m.left = text(json.at(2));
}
void read(const Json& json, TraceTaken& m) {
    m.generation = number<std::uint32_t>(json.at(0));
    m.all = json.at(1).get<bool>();
}
void read(const Json& json, WatchTasks& m) {
    m.on = json.at(0).get<bool>();
}
void read(const Json& json, WatchedTasks& m) {
    for (const Json& task : items(json.at(0))) m.tasks.push_back(unpack_watched(task));
}
void read(const Json& json, AskLines& m) {
    m.task = number<TaskId>(json.at(0));
}
void read(const Json& json, TaskLines& m) {
    m.task = number<TaskId>(json.at(0));
    m.lines = text_list(json.at(1));
}
void read(const Json& json, ResizeTerminals& m) {
    m.rows = number<std::uint16_t>(json.at(0));
    m.columns = number<std::uint16_t>(json.at(1));
}
void read(const Json& json, TasksBound& m) {
    for (const Json& one : items(json.at(0)))
        m.tasks.push_back({number<TaskId>(one.at(0)), text(one.at(1))});
}

template <std::size_t... Index>
Message make(std::size_t which, const Json& json, std::index_sequence<Index...>) {
    Message message;
    const auto try_one = [&]<std::size_t I>() {
        if (which != I) return false;
        std::variant_alternative_t<I, Message> value;
        read(json, value);
        message = std::move(value);
        return true;
    };
    if (!(try_one.template operator()<Index>() || ...)) throw std::out_of_range("message");
    return message;
}

}  // namespace

std::string encode(const Message& message) {
    const Json json =
        Json::array({message.index(), std::visit([](const auto& m) { return body(m); }, message)});
    std::string out;
    Json::to_cbor(json, out);
    return out;
}

std::optional<Message> decode(std::string_view cbor) {
    if (!is_message_cbor(cbor)) return std::nullopt;
    try {
        const Json json = Json::from_cbor(cbor.begin(), cbor.end());
        return make(number<std::size_t>(json.at(0)), json.at(1),
                    std::make_index_sequence<std::variant_size_v<Message>>{});
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace poe::pm
