// The commands and answers of PMI-1. The exact text of the answers is part of the protocol, because
// clients compare it byte by byte.
#include "partition_manager/pmi/pmi1_server.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/parse.hpp"
#include "partition_manager/pmi/pmi1_spawn.hpp"

namespace poe::pm {

namespace {

// The limits that clients are given. MPICH's line buffer holds 1024 bytes, answers included.
constexpr std::size_t kMaxKey = 64;
constexpr std::size_t kMaxValue = 1024;
constexpr std::size_t kMaxMapping = 900;

constexpr std::string_view kBlanks = " \t";

// Splits "cmd=x a=1" at the first blank. A `value=` extends to the end of the line.
std::optional<std::pair<std::string_view, std::string_view>> take_pair(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (rest.empty()) return std::nullopt;
    std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (key == "value" && equals != std::string_view::npos) word = rest;
    rest.remove_prefix(word.size());
    return std::pair(
        key, equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1));
}

// Returns a name that a task has sent, in a form that a message and an answer may contain.
std::string printable(std::string_view text) {
    std::string out(text.substr(0, 40));
    for (char& c : out)
        if (c < '!' || c > '~') c = '?';
    return out.empty() ? "(nothing)" : out;
}

// Separates the names of PMI-1 from those of PMIx, because their values have different formats.
constexpr std::string_view kNamePrefix = "pmi1 ";

std::optional<NameRequest::What> question_of(std::string_view command) {
    if (command == "publish_name") return NameRequest::What::kPublish;
    if (command == "unpublish_name") return NameRequest::What::kWithdraw;
    if (command == "lookup_name") return NameRequest::What::kLookUp;
    return std::nullopt;
}

std::string answer_word(NameRequest::What what) {
    return what == NameRequest::What::kPublish    ? "cmd=publish_result"
           : what == NameRequest::What::kWithdraw ? "cmd=unpublish_result"
                                                  : "cmd=lookup_result";
}

std::string trouble_word(NameReply::Status status) {
    switch (status) {
        case NameReply::Status::kTaken:
            return "key_already_present";
        case NameReply::Status::kTooMany:
            return "too_many_names";
        default:
            return "service_not_found";
    }
}

std::string on_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// The answer to a request for more tasks that has failed. The reason would confuse other libraries.
std::string spawn_refusal(const char* message, bool is_own, const std::string& reason) {
    return std::string("cmd=spawn_result rc=-1 msg=") + message +
           (is_own ? " value=" + on_one_line(reason) : "") + "\n";
}

// A run of tasks with the same placement: `tasks` tasks on each of `nodes` nodes from `first` on.
struct Block {
    NodeIndex first;
    NodeIndex nodes;
    std::size_t tasks;
    bool operator==(const Block&) const = default;
};

std::vector<Block> blocks_of(const std::vector<NodeIndex>& node_of_task) {
    std::vector<Block> blocks;
    for (std::size_t at = 0; at < node_of_task.size();) {
        std::size_t end = at;
        while (end < node_of_task.size() && node_of_task[end] == node_of_task[at]) ++end;
        Block* last = blocks.empty() ? nullptr : &blocks.back();
        if (last && last->tasks == end - at && last->first + last->nodes == node_of_task[at])
            ++last->nodes;
        else
            blocks.push_back({node_of_task[at], 1, end - at});
        at = end;
    }
    return blocks;
}

// Readers restart at the first block while tasks are left, so one period is enough.
void keep_one_period(std::vector<Block>& blocks) {
    for (std::size_t period = 1; period <= blocks.size() / 2; ++period) {
        if (blocks.size() % period != 0) continue;
        if (!std::equal(blocks.begin() + static_cast<std::ptrdiff_t>(period), blocks.end(),
                        blocks.begin()))
            continue;
        blocks.resize(period);
        return;
    }
}

}  // namespace

std::string pmi1_process_mapping(const std::vector<NodeIndex>& node_of_task) {
    std::vector<Block> blocks = blocks_of(node_of_task);
    keep_one_period(blocks);
    std::string text = "(vector";
    for (const Block& block : blocks)
        text += ",(" + std::to_string(block.first) + "," + std::to_string(block.nodes) + "," +
                std::to_string(block.tasks) + ")";
    text += ")";
    return text.size() <= kMaxMapping ? text : std::string();
}

// The words of one command; they refer to its line.
struct Pmi1Server::Command {
    std::vector<std::pair<std::string_view, std::string_view>> pairs;

    explicit Command(std::string_view line) {
        while (const auto pair = take_pair(line)) pairs.push_back(*pair);
    }
    std::optional<std::string_view> find(std::string_view key) const {
        for (const auto& [name, value] : pairs)
            if (name == key) return value;
        return std::nullopt;
    }
};

Pmi1Server::Pmi1Server(Pmi1Job job) : job_(std::move(job)) {
    for (const TaskId task : job_.local_tasks) clients_.emplace(task, Client());
    for (const auto& [key, value] : job_.pairs) pairs_.emplace(key, value);
    if (!job_.process_mapping.empty()) pairs_["PMI_process_mapping"] = job_.process_mapping;
}

Pmi1Server::Client& Pmi1Server::client(TaskId task) {
    const auto at = clients_.find(task);
    POE_CHECK(at != clients_.end(), task);
    return at->second;
}

const Pmi1Server::Client& Pmi1Server::client(TaskId task) const {
    const auto at = clients_.find(task);
    POE_CHECK(at != clients_.end(), task);
    return at->second;
}

Pmi1Actions Pmi1Server::on_bytes(TaskId task, std::string_view bytes) {
    Pmi1Actions actions;
    Client& from = client(task);
    while (!bytes.empty() && from.errors < kMaxErrors) {
        const std::size_t newline = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, newline);
        if (from.line.size() + piece.size() > kMaxLine) from.overlong = true;
        if (!from.overlong) from.line.append(piece);
        if (newline == std::string_view::npos) break;
        bytes.remove_prefix(newline + 1);
        const std::string line = std::exchange(from.line, {});
        if (std::exchange(from.overlong, false))
            refuse(task, "cmd=error rc=-1 msg=line_too_long",
                   "sent a line of more than " + std::to_string(kMaxLine) + " bytes", actions);
        else
            on_line(task, line, actions);
    }
    return actions;
}

void Pmi1Server::on_line(TaskId task, std::string_view line, Pmi1Actions& actions) {
    Client& from = client(task);
    if (from.multiline) return on_multiline(task, line, actions);
    if (line.starts_with("mcmd=")) {
        from.multiline = Multiline{std::string(line.substr(5)), {}, 0};
        return;
    }
    on_command(task, line, actions);
}

void Pmi1Server::on_command(TaskId task, std::string_view line, Pmi1Actions& actions) {
    const Command command(line);
    const std::optional<std::string_view> name = command.find("cmd");
    if (!name)
        return refuse(task, "cmd=error rc=-1 msg=no_command",
                      "sent a line without a command: " + printable(line), actions);
    if (*name == "barrier_in") return on_barrier(task, actions);
    if (*name == "abort") {
        const long code = parse_number<long>(command.find("exitcode").value_or("")).value_or(1);
        actions.abort = Pmi1Actions::Abort{task, static_cast<int>(code),
                                           std::string(command.find("message").value_or(""))};
        return;
    }
    if (const auto what = question_of(*name))
        return on_names_command(task, *what, command, actions);
    const Handler handler = handler_of(*name);
    if (handler == nullptr)
        return refuse(task, "cmd=" + printable(*name) + "_result rc=-1 msg=unknown_command",
                      "sent the unknown command " + printable(*name), actions);
    actions.replies.push_back({task, (this->*handler)(task, command) + "\n"});
}

// Only spawn has several lines.
void Pmi1Server::on_multiline(TaskId task, std::string_view line, Pmi1Actions& actions) {
    Multiline& open = *client(task).multiline;
    if (line != "endcmd") {
        const std::size_t equals = std::min(line.find('='), line.size());
        open.bytes += line.size() + sizeof(KeyValue);
        if (open.bytes <= kMaxSpawnBytes)
            open.lines.emplace_back(line.substr(0, equals),
                                    line.substr(std::min(equals + 1, line.size())));
        return;
    }
    const Multiline request = *std::exchange(client(task).multiline, std::nullopt);
    if (request.name == "spawn") return on_spawn(task, request, actions);
    refuse(task, "cmd=" + printable(request.name) + "_result rc=-1 msg=unknown_command",
           "sent the unknown command " + printable(request.name), actions);
}

void Pmi1Server::on_spawn(TaskId task, const Multiline& request, Pmi1Actions& actions) {
    Client& from = client(task);
    if (from.spawning)
        return refuse(task, "cmd=spawn_result rc=-1 msg=one_at_a_time",
                      "asked for more tasks before it had its last answer", actions);
    Pmi1Spawn parsed = parse_pmi1_spawn(request.lines);
    if (!from.spawn) from.spawn.emplace();
    Spawn& spawn = *from.spawn;
    spawn.bytes += request.bytes;
    if (spawn.bytes > kMaxSpawnBytes) parsed.trouble = "is too long";
    spawn.is_own = parsed.is_own;
    if (spawn.trouble.empty()) spawn.trouble = parsed.trouble;
    if (spawn.trouble.empty()) {
        for (const KeyValue& pair : parsed.pairs)
            if (std::find(spawn.ask.pairs.begin(), spawn.ask.pairs.end(), pair) ==
                spawn.ask.pairs.end())
                spawn.ask.pairs.push_back(pair);
        spawn.ask.commands.push_back(std::move(parsed.command));
    }
    if (parsed.number < parsed.total) return;
    Spawn all = *std::exchange(from.spawn, std::nullopt);
    if (!all.trouble.empty()) {
        actions.replies.push_back(
            {task, spawn_refusal("invalid_request", all.is_own, "the request " + all.trouble)});
        actions.errors.push_back({task,
                                  "task " + std::to_string(job_.first + task) +
                                      " asked to start more tasks (MPI_Comm_spawn) by a request "
                                      "that " +
                                      all.trouble,
                                  false});
        return;
    }
    all.ask.asker.request = kPmi1Requests + static_cast<std::uint32_t>(task);
    all.ask.task = task;
    from.spawning = true;
    from.own_request = all.is_own;
    all.ask.joins = all.is_own;
    actions.spawns.push_back(std::move(all.ask));
}

Pmi1Actions Pmi1Server::on_spawned(const TasksSpawned& spawned) {
    Pmi1Actions actions;
    const auto task = static_cast<TaskId>(spawned.asker.request - kPmi1Requests);
    const auto at = clients_.find(task);
    if (at == clients_.end()) return actions;
    Client& asker = at->second;
    if (!spawned.job.empty() && !spawned.trouble.empty()) {
        actions.replies.push_back({task, "cmd=spawn_failed job=" + spawned.job +
                                             " value=" + on_one_line(spawned.trouble) + "\n"});
        return actions;
    }
    if (!std::exchange(asker.spawning, false)) return actions;
    const std::string job = asker.own_request ? " job=" + spawned.job : "";
    actions.replies.push_back(
        {task, spawned.job.empty() ? spawn_refusal("refused", asker.own_request, spawned.trouble)
                                   : "cmd=spawn_result rc=0" + job + "\n"});
    return actions;
}

void Pmi1Server::refuse(TaskId task, const std::string& answer, const std::string& text,
                        Pmi1Actions& actions) {
    const bool fatal = ++client(task).errors >= kMaxErrors;
    actions.replies.push_back({task, answer + "\n"});
    actions.errors.push_back({task,
                              "task " + std::to_string(job_.first + task) +
                                  " does not speak PMI-1: it " + text +
                                  (fatal ? "; its PMI connection is closed" : ""),
                              fatal});
}

void Pmi1Server::on_barrier(TaskId task, Pmi1Actions& actions) {
    Client& from = client(task);
    if (from.in_barrier)
        return refuse(task, "cmd=barrier_out rc=-1 msg=already_in_barrier",
                      "entered a barrier twice", actions);
    from.in_barrier = true;
    if (++waiting_ < clients_.size()) return;
    if (clients_.size() == job_.size) return release_local(actions);
    actions.barrier = std::exchange(new_pairs_, {});
}

Pmi1Actions Pmi1Server::release(const std::vector<KeyValue>& pairs) {
    Pmi1Actions actions;
    for (const auto& [key, value] : pairs) pairs_.insert_or_assign(key, value);
    release_local(actions);
    return actions;
}

void Pmi1Server::release_local(Pmi1Actions& actions) {
    waiting_ = 0;
    new_pairs_.clear();
    for (auto& [task, waiting] : clients_) {
        waiting.in_barrier = false;
        actions.replies.push_back({task, "cmd=barrier_out rc=0\n"});
    }
}

void Pmi1Server::on_names_command(TaskId task, NameRequest::What what, const Command& command,
                                  Pmi1Actions& actions) {
    const auto service = command.find("service");
    const auto port = command.find("port");
    if (client(task).asks)
        return refuse(task, answer_word(what) + " info=error rc=1 msg=one_at_a_time",
                      "asked about a name before it had its last answer", actions);
    if (!service || service->empty() || (what == NameRequest::What::kPublish && !port)) {
        actions.replies.push_back(
            {task, answer_word(what) + " info=error rc=1 msg=service_or_port_missing\n"});
        return;
    }
    client(task).asks = what;
    NameRequest ask;
    ask.asker.request = kPmi1Requests + static_cast<std::uint32_t>(task);
    ask.what = what;
    ask.by = std::string(kNamePrefix) + job_.kvsname + " " + std::to_string(task);
    ask.names.push_back(
        {std::string(kNamePrefix).append(*service), std::string(port.value_or("")), std::string()});
    actions.names.push_back(std::move(ask));
}

Pmi1Actions Pmi1Server::on_names(const NameReply& tell) {
    Pmi1Actions actions;
    const auto task = static_cast<TaskId>(tell.asker.request - kPmi1Requests);
    const auto at = clients_.find(task);
    if (at == clients_.end() || !at->second.asks) return actions;
    const NameRequest::What what = *std::exchange(at->second.asks, std::nullopt);
    std::string answer = answer_word(what);
    if (tell.status == NameReply::Status::kDone) {
        answer += " info=ok rc=0 msg=success";
        if (!tell.names.empty()) answer += " port=" + tell.names.front().value;
    } else {
        answer += " info=error rc=1 msg=" + trouble_word(tell.status);
    }
    actions.replies.push_back({task, answer + "\n"});
    return actions;
}

Pmi1Server::Handler Pmi1Server::handler_of(std::string_view name) {
    static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
        {"init", &Pmi1Server::init},
        {"get_maxes", &Pmi1Server::get_maxes},
        {"get_appnum", &Pmi1Server::get_appnum},
        {"get_my_kvsname", &Pmi1Server::get_my_kvsname},
        {"get_universe_size", &Pmi1Server::get_universe_size},
        {"put", &Pmi1Server::put},
        {"get", &Pmi1Server::get},
        {"getbyidx", &Pmi1Server::getbyidx},
        {"create_kvs", &Pmi1Server::create_kvs},
        {"destroy_kvs", &Pmi1Server::destroy_kvs},
        {"finalize", &Pmi1Server::finalize},
    };
    for (const auto& [known, handler] : kHandlers)
        if (known == name) return handler;
    return nullptr;
}

std::string Pmi1Server::init(TaskId task, const Command& command) {
    const std::string_view version = command.find("pmi_version").value_or("1");
    if (version != "1")
        return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1 msg=only_version_1";
    client(task).initialized = true;
    return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
}

std::string Pmi1Server::get_maxes(TaskId, const Command&) {
    return "cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(kMaxKey) +
           " vallen_max=" + std::to_string(kMaxValue) + " rc=0";
}

std::string Pmi1Server::get_appnum(TaskId task, const Command&) {
    const auto index = static_cast<std::size_t>(task);
    const std::uint32_t appnum =
        index < job_.appnum_of_task.size() ? job_.appnum_of_task[index] : 0;
    return "cmd=appnum appnum=" + std::to_string(appnum) + " rc=0";
}

std::string Pmi1Server::get_my_kvsname(TaskId, const Command&) {
    return "cmd=my_kvsname kvsname=" + job_.kvsname + " rc=0";
}

std::string Pmi1Server::get_universe_size(TaskId, const Command&) {
    const std::uint32_t size = job_.universe_size != 0 ? job_.universe_size : job_.size;
    return "cmd=universe_size size=" + std::to_string(size) + " rc=0";
}

std::string Pmi1Server::put(TaskId, const Command& command) {
    const auto key = command.find("key");
    const auto value = command.find("value");
    if (!key || key->empty() || !value) return "cmd=put_result rc=-1 msg=key_or_value_missing";
    if (command.find("kvsname") != job_.kvsname) return "cmd=put_result rc=-1 msg=unknown_kvsname";
    if (pairs_.size() >= kMaxPairs) return "cmd=put_result rc=-1 msg=too_many_keys";
    if (!pairs_.emplace(*key, *value).second) return "cmd=put_result rc=-1 msg=duplicate_key";
    if (clients_.size() < job_.size) new_pairs_.emplace_back(*key, *value);
    return "cmd=put_result rc=0 msg=success";
}

std::string Pmi1Server::get(TaskId task, const Command& command) {
    if (command.find("kvsname") != job_.kvsname) return "cmd=get_result rc=-1 msg=unknown_kvsname";
    const auto at = pairs_.find(command.find("key").value_or(""));
    if (at == pairs_.end()) return "cmd=get_result rc=-1 msg=key_not_found";
    if (std::ranges::any_of(job_.pairs,
                            [&](const KeyValue& pair) { return pair.first == at->first; }))
        client(task).joined = true;
    return "cmd=get_result rc=0 msg=success value=" + at->second;
}

std::string Pmi1Server::getbyidx(TaskId, const Command& command) {
    const auto index = parse_number<long>(command.find("idx").value_or(""));
    if (command.find("kvsname") != job_.kvsname || !index || *index < 0)
        return "cmd=getbyidx_results rc=-1 reason=invalid_request";
    if (static_cast<std::size_t>(*index) >= pairs_.size())
        return "cmd=getbyidx_results rc=-2 reason=no_more_keyvals";
    const auto at = std::next(pairs_.begin(), *index);
    return "cmd=getbyidx_results rc=0 nextidx=" + std::to_string(*index + 1) + " key=" + at->first +
           " val=" + at->second;
}

std::string Pmi1Server::create_kvs(TaskId, const Command&) {
    return "cmd=newkvs rc=-1 msg=one_kvs_per_job";
}

std::string Pmi1Server::destroy_kvs(TaskId, const Command&) {
    return "cmd=kvs_destroyed rc=-1 msg=one_kvs_per_job";
}

std::string Pmi1Server::finalize(TaskId task, const Command&) {
    client(task).finalized = true;
    return "cmd=finalize_ack rc=0";
}

}  // namespace poe::pm
