// CBOR of the control messages, by nlohmann-json's macros-free converters: each struct is a JSON
// array in the order of its fields, behind a number that says which struct it is.
#include "partition_manager/messages.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace poe::pm {

namespace {

using Json = nlohmann::json;
using Binary = Json::binary_t;

// Strings of users are bytes, not UTF-8: they travel as CBOR byte strings.
Json bytes(const std::string& text) { return Json::binary({text.begin(), text.end()}); }

std::string text(const Json& json) {
    const Binary& binary = json.get_binary();
    return {binary.begin(), binary.end()};
}

Json byte_list(const std::vector<std::string>& list) {
    Json json = Json::array();
    for (const std::string& item : list) json.push_back(bytes(item));
    return json;
}

std::vector<std::string> text_list(const Json& json) {
    std::vector<std::string> list;
    list.reserve(json.size());
    for (const Json& item : json) list.push_back(text(item));
    return list;
}

Json pack(const JobSpec& job) {
    Json tasks = Json::array();
    for (const TaskSpec& task : job.tasks) tasks.push_back({task.node, task.command});
    Json commands = Json::array();
    for (const Command& command : job.commands) commands.push_back(byte_list(command));
    return Json::array({bytes(job.id), byte_list(job.nodes), std::move(tasks), std::move(commands),
                        byte_list(job.environment), bytes(job.directory),
                        static_cast<int>(job.stdin_mode.kind), job.stdin_mode.task,
                        static_cast<int>(job.stdout_mode.kind), job.stdout_mode.task,
                        job.stdin_is_empty, job.stdout_is_terminal,
                        static_cast<int>(job.wait_mode), job.buffer_mem, job.eager_limit,
                        job.kill_grace.count(), job.host_pmix, job.eager_pmix});
}

template <typename Enum>
Enum checked_enum(const Json& json, Enum last) {
    const int value = json.get<int>();
    if (value < 0 || value > static_cast<int>(last)) throw std::out_of_range("enumeration");
    return static_cast<Enum>(value);
}

JobSpec unpack_job(const Json& json) {
    JobSpec job;
    job.id = text(json.at(0));
    job.nodes = text_list(json.at(1));
    for (const Json& task : json.at(2))
        job.tasks.push_back({task.at(0).get<NodeIndex>(), task.at(1).get<std::uint32_t>()});
    for (const Json& command : json.at(3)) job.commands.push_back(text_list(command));
    for (const TaskSpec& task : job.tasks) {
        if (task.command >= job.commands.size() || job.commands[task.command].empty() ||
            task.node < 0 || static_cast<std::size_t>(task.node) >= job.nodes.size())
            throw std::out_of_range("task");
    }
    job.environment = text_list(json.at(4));
    job.directory = text(json.at(5));
    job.stdin_mode.kind = checked_enum(json.at(6), StdinMode::Kind::kOne);
    job.stdin_mode.task = json.at(7).get<TaskId>();
    job.stdout_mode.kind = checked_enum(json.at(8), StdoutMode::Kind::kOne);
    job.stdout_mode.task = json.at(9).get<TaskId>();
    job.stdin_is_empty = json.at(10).get<bool>();
    job.stdout_is_terminal = json.at(11).get<bool>();
    job.wait_mode = checked_enum(json.at(12), WaitMode::kSleep);
    job.buffer_mem = json.at(13).get<Bytes>();
    job.eager_limit = json.at(14).get<Bytes>();
    job.kill_grace = std::chrono::milliseconds(json.at(15).get<std::int64_t>());
    job.host_pmix = json.at(16).get<bool>();
    job.eager_pmix = json.at(17).get<bool>();
    return job;
}

Json body(const Hello& m) { return {m.version, m.pid}; }
Json body(const StartJob& m) { return Json::array({pack(m.job), m.node}); }
Json body(const Started&) { return Json::array(); }
Json body(const StartFailed& m) {
    Json failures = Json::array();
    for (const LaunchFailure& f : m.failures)
        failures.push_back(Json::array({f.task, bytes(f.text)}));
    return Json::array({std::move(failures), bytes(m.text)});
}
Json body(const SignalTasks& m) { return Json::array({m.signal}); }
Json body(const EndJob& m) { return Json::array({m.at_once}); }
Json body(const StdinEnd&) { return Json::array(); }
Json body(const StdinProgress& m) {
    return Json::array({m.delivered, m.consumed, m.wanted});
}
Json body(const TaskExit& m) {
    return Json::array({m.task, m.code, m.signal, m.core, m.stopall ? Json(*m.stopall) : Json(),
                        m.after.count(), m.user.count(), m.system.count(), m.peak_memory});
}
Json body(const TaskAbort& m) { return Json::array({m.task, m.code, bytes(m.text)}); }
Json body(const TaskLeft& m) { return Json::array({m.task}); }
Json body(const NodeFailed& m) { return Json::array({bytes(m.text)}); }
Json body(const Attention& m) { return Json::array({bytes(m.text)}); }
Json body(const Pulse&) { return Json::array(); }
Json body(const Done&) { return Json::array(); }

void read(const Json& json, Hello& m) {
    m.version = json.at(0).get<int>();
    m.pid = json.at(1).get<int>();
}
void read(const Json& json, StartJob& m) {
    m.job = unpack_job(json.at(0));
    m.node = json.at(1).get<NodeIndex>();
    if (m.node < 0 || static_cast<std::size_t>(m.node) >= m.job.nodes.size())
        throw std::out_of_range("node");
}
void read(const Json&, Started&) {}
void read(const Json& json, StartFailed& m) {
    for (const Json& f : json.at(0)) m.failures.push_back({f.at(0).get<TaskId>(), text(f.at(1))});
    m.text = text(json.at(1));
}
void read(const Json& json, SignalTasks& m) { m.signal = json.at(0).get<int>(); }
void read(const Json& json, EndJob& m) { m.at_once = json.at(0).get<bool>(); }
void read(const Json&, StdinEnd&) {}
void read(const Json& json, StdinProgress& m) {
    m.delivered = json.at(0).get<std::uint64_t>();
    m.consumed = json.at(1).get<std::uint64_t>();
    m.wanted = json.at(2).get<bool>();
}
void read(const Json& json, TaskExit& m) {
    m.task = json.at(0).get<TaskId>();
    m.code = json.at(1).get<int>();
    m.signal = json.at(2).get<int>();
    m.core = json.at(3).get<bool>();
    if (!json.at(4).is_null()) m.stopall = json.at(4).get<int>();
    m.after = std::chrono::nanoseconds(json.at(5).get<std::int64_t>());
    m.user = std::chrono::microseconds(json.at(6).get<std::int64_t>());
    m.system = std::chrono::microseconds(json.at(7).get<std::int64_t>());
    m.peak_memory = json.at(8).get<Bytes>();
}
void read(const Json& json, TaskAbort& m) {
    m.task = json.at(0).get<TaskId>();
    m.code = json.at(1).get<int>();
    m.text = text(json.at(2));
}
void read(const Json& json, TaskLeft& m) { m.task = json.at(0).get<TaskId>(); }
void read(const Json& json, NodeFailed& m) { m.text = text(json.at(0)); }
void read(const Json& json, Attention& m) { m.text = text(json.at(0)); }
void read(const Json&, Pulse&) {}
void read(const Json&, Done&) {}

// The library reads nested arrays by recursion; this first pass refuses what no message needs.
struct DepthGuard : nlohmann::json_sax<Json> {
    static constexpr int kMaxDepth = 8;
    int depth = 0;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return false; }
    bool key(string_t&) override { return false; }
    bool end_object() override { return false; }
    bool start_array(std::size_t) override { return ++depth <= kMaxDepth; }
    bool end_array() override { return --depth >= 0; }
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
        return false;
    }
};

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
    const Json json = Json::array(
        {message.index(), std::visit([](const auto& m) { return body(m); }, message)});
    std::string out;
    Json::to_cbor(json, out);
    return out;
}

std::optional<Message> decode(std::string_view cbor) {
    DepthGuard guard;
    if (!Json::sax_parse(cbor.begin(), cbor.end(), &guard, Json::input_format_t::cbor))
        return std::nullopt;
    try {
        const Json json = Json::from_cbor(cbor.begin(), cbor.end());
        return make(json.at(0).get<std::size_t>(), json.at(1),
                    std::make_index_sequence<std::variant_size_v<Message>>{});
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace poe::pm
