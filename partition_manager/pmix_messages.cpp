// CBOR of the messages between pmd and pmd-pmix. Each is an array: its name, then its fields.
#include "partition_manager/pmix_messages.hpp"

#include <nlohmann/json.hpp>

#include "comm/base/error.hpp"
#include "partition_manager/message_values.hpp"

namespace poe::pm {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 4;

Json job_to_json(const PmixJob& job) {
    Json others = Json::array();
    for (const JobOutline& other : job.others) others.push_back(wire::pack(other));
    return {job.job_id,         job.nspace,      job.nodes, job.this_node, job.node_of_task,
            job.appnum_of_task, job.directory,   job.uid,   job.gid,       std::move(others),
            job.parent,         job.parent_task, job.first};
}

PmixJob job_from_json(const Json& json) {
    PmixJob job;
    json.at(0).get_to(job.job_id);
    json.at(1).get_to(job.nspace);
    json.at(2).get_to(job.nodes);
    json.at(3).get_to(job.this_node);
    json.at(4).get_to(job.node_of_task);
    json.at(5).get_to(job.appnum_of_task);
    json.at(6).get_to(job.directory);
    json.at(7).get_to(job.uid);
    json.at(8).get_to(job.gid);
    for (const Json& other : json.at(9)) job.others.push_back(wire::unpack_outline(other));
    json.at(10).get_to(job.parent);
    json.at(11).get_to(job.parent_task);
    json.at(12).get_to(job.first);
    return job;
}

Json bytes(const std::string& data) {
    return Json::binary({data.begin(), data.end()});
}

std::string text(const Json& json) {
    const Json::binary_t& binary = json.get_binary();
    return {binary.begin(), binary.end()};
}

struct ToJson {
    Json operator()(const PmixStart& m) const {
        return {"start", job_to_json(m.job), m.promised, m.promise_given, m.shared_store};
    }
    Json operator()(const PmixReady& m) const { return {"ready", m.environment}; }
    Json operator()(const PmixConnected& m) const { return {"connected", m.task}; }
    Json operator()(const PmixFinalized& m) const { return {"finalized", m.task}; }
    Json operator()(const PmixAbort& m) const { return {"abort", m.task, m.status, m.text}; }
    Json operator()(const PmixAttention& m) const { return {"attention", m.text}; }
    Json operator()(const PmixFailed& m) const { return {"failed", m.text}; }
    Json operator()(const PmixFence& m) const {
        return Json::array({"fence", m.key, m.nodes, bytes(m.data), m.jobs});
    }
    Json operator()(const PmixFenced& m) const {
        return Json::array({"fenced", m.key, bytes(m.data)});
    }
    Json operator()(const PmixPassed& m) const {
        return Json::array({"passed", bytes(encode(m.message))});
    }
    Json operator()(const PmixPeerLost& m) const { return {"peer lost", m.task}; }
};

PmixMessage from_json(const Json& json) {
    const auto& name = json.at(0).get_ref<const std::string&>();
    if (name == "start")
        return PmixStart{job_from_json(json.at(1)), json.at(2).get<Environment>(),
                         json.at(3).get<bool>(), json.at(4).get<bool>()};
    if (name == "ready") return PmixReady{json.at(1).get<Environment>()};
    if (name == "connected") return PmixConnected{json.at(1).get<TaskId>()};
    if (name == "finalized") return PmixFinalized{json.at(1).get<TaskId>()};
    if (name == "abort")
        return PmixAbort{json.at(1).get<TaskId>(), json.at(2).get<int>(),
                         json.at(3).get<std::string>()};
    if (name == "attention") return PmixAttention{json.at(1).get<std::string>()};
    if (name == "failed") return PmixFailed{json.at(1).get<std::string>()};
    if (name == "fence")
        return PmixFence{json.at(1).get<std::string>(), json.at(2).get<std::uint32_t>(),
                         text(json.at(3)), json.at(4).get<std::vector<std::string>>()};
    if (name == "fenced") return PmixFenced{json.at(1).get<std::string>(), text(json.at(2))};
    if (name == "peer lost") return PmixPeerLost{json.at(1).get<TaskId>()};
    if (name == "passed")
        if (auto message = decode(text(json.at(1)))) return PmixPassed{std::move(*message)};
    throw Error("pmd and pmd-pmix do not understand each other: unknown message " + name);
}

}  // namespace

std::string pmix_encode(const PmixMessage& message) {
    std::string bytes(kLengthBytes, '\0');
    Json::to_cbor(std::visit(ToJson(), message), bytes);
    const std::size_t size = bytes.size() - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        bytes[i] = static_cast<char>((size >> (8 * i)) & 0xff);
    return bytes;
}

std::optional<PmixMessage> PmixDecoder::next() {
    if (buffer_.size() - taken_ < kLengthBytes) {
        buffer_.erase(0, std::exchange(taken_, 0));
        return std::nullopt;
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        size |= static_cast<std::size_t>(static_cast<unsigned char>(buffer_[taken_ + i]))
                << (8 * i);
    if (size > kMaxMessage) throw Error("pmd and pmd-pmix do not understand each other");
    if (buffer_.size() - taken_ - kLengthBytes < size) {
        buffer_.erase(0, std::exchange(taken_, 0));
        return std::nullopt;
    }
    const char* begin = buffer_.data() + taken_ + kLengthBytes;
    taken_ += kLengthBytes + size;
    try {
        return from_json(Json::from_cbor(begin, begin + size));
    } catch (const Json::exception& error) {
        throw Error(std::string("pmd and pmd-pmix do not understand each other: ") + error.what());
    }
}

}  // namespace poe::pm
