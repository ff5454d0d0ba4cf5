// The tasks' exchange through the launcher's service; see foreign_launch.hpp.
#include "comm/bootstrap/foreign_launch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/segment/endpoint.hpp"
#include "comm/bootstrap/launch_settings.hpp"
#include "comm/tcp/own_address.hpp"

namespace poe::comm {
namespace {

using Mask = std::vector<std::uint8_t>;  // one bit per core

// --- text encoding for the launcher's service

std::string in_hex(const std::uint8_t* bytes, std::size_t size) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

[[noreturn]] void fail_reading(TaskId task, const std::string& key) {
    throw Error("what task " + std::to_string(task) + " has stored as " + key +
                " with the launcher cannot be understood; are its MPL library and this one of "
                "different releases?");
}

std::vector<std::uint8_t> from_hex(const std::string& text, TaskId task, const std::string& key) {
    std::vector<std::uint8_t> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* at = text.data() + 2 * i;
        if (std::from_chars(at, at + 2, bytes[i], 16).ptr != at + 2) fail_reading(task, key);
    }
    return bytes;
}

// Splits a text that a task has stored into `count` parts at commas; the last part may contain
// commas. Throws Error if there are too few.
std::vector<std::string> get_parts(Rendezvous& rendezvous, TaskId task, const std::string& key,
                                   std::size_t count) {
    const std::string text = rendezvous.get(task, key);
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (parts.size() + 1 < count) {
        const auto comma = text.find(',', begin);
        if (comma == std::string::npos) fail_reading(task, key);
        parts.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

// --- what a task knows about itself

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::string text(name.data());
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c <= ' ' || c == ','; }, '_');
    return text.substr(0, 100);
}

std::string node_identity() {
    std::array<char, 64> boot{};
    const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    const ssize_t length = file ? ::read(file.get(), boot.data(), 36) : -1;
    struct stat namespace_of_pids {};
    if (length != 36 || ::stat("/proc/self/ns/pid", &namespace_of_pids) != 0)
        throw_errno("cannot find out from /proc on which computer this task is");
    return boot.data() + ("." + std::to_string(namespace_of_pids.st_ino));
}

Mask usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    Mask mask(CPU_SETSIZE / 8);
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) mask[core / 8] |= static_cast<std::uint8_t>(1U << core % 8);
    while (!mask.empty() && mask.back() == 0) mask.pop_back();
    return mask;
}

template <std::size_t n>
std::array<std::uint8_t, n> random_bytes() {
    std::array<std::uint8_t, n> bytes;
    if (::getrandom(bytes.data(), n, 0) != static_cast<ssize_t>(n))
        throw_errno("cannot get random bytes for the job's key");
    return bytes;
}

// --- the four steps

class Joining {
  public:
    Joining(Rendezvous& rendezvous, const Variables& variables)
        : rendezvous_(rendezvous), variables_(variables), me_(rendezvous.rank()) {}

    NodeSegment join() {
        exchange_cards();
        const bool needs_tcp = spec_.euilib == Euilib::kIp || spec_.node_names.size() > 1;
        UniqueFd listener;
        if (needs_tcp) listener = exchange_doors();
        NodeSegment segment = share_segment();
        if (needs_tcp) segment.slot(*segment.local_index(me_)).listener = listener.release();
        return segment;
    }

  private:
    void exchange_cards() {
        const Mask cores = usable_cores();
        rendezvous_.put(
            "card", node_identity() + "," + in_hex(cores.data(), cores.size()) + "," + host_name());
        if (me_ == 0) put_facts();
        rendezvous_.fence();
        get_facts();
        get_cards();
    }

    void put_facts() {
        const Result<LaunchSettings> settings = read_launch_settings(variables_);
        if (!settings) {
            // Prints the error before the fence, because a launcher may end all tasks as soon as
            // one has exited.
            const std::string text =
                "ERROR: 0032-118 task 0: this job cannot begin: " + settings.error().str() + ".\n";
            std::fwrite(text.data(), 1, text.size(), stderr);
            rendezvous_.put("job", ",,");
            return;
        }
        const auto name = random_bytes<8>();
        const auto key = random_bytes<kJobKeyBytes>();
        rendezvous_.put("job", "launched-" + in_hex(name.data(), name.size()) + "," +
                                   in_hex(key.data(), key.size()) + "," + settings.value().text());
    }

    void get_facts() {
        const auto facts = get_parts(rendezvous_, 0, "job", 3);
        if (facts[0].empty()) throw JobRefused("task 0 has refused its settings");
        const auto key = from_hex(facts[1], 0, "job");
        const auto settings = LaunchSettings::parse(facts[2]);
        if (!settings || key.size() != kJobKeyBytes || facts[0].size() > kMaxJobId)
            fail_reading(0, "job");
        spec_.job_id = facts[0];
        std::copy(key.begin(), key.end(), spec_.job_key.begin());
        spec_.wait_mode = settings->wait_mode;
        spec_.buffer_mem = settings->buffer_mem;
        spec_.eager_limit = settings->eager_limit;
        spec_.euilib = settings->euilib;
        spec_.single_copy = settings->single_copy;
    }

    // Nodes are numbered in the order of their first task.
    void get_cards() {
        std::vector<std::string> identities;
        std::vector<Mask> cores;  // indexed by node
        for (TaskId task = 0; task < static_cast<TaskId>(rendezvous_.size()); ++task) {
            const auto card = get_parts(rendezvous_, task, "card", 3);
            const auto found = std::find(identities.begin(), identities.end(), card[0]);
            const auto node = static_cast<std::size_t>(found - identities.begin());
            if (found == identities.end()) {
                identities.push_back(card[0]);
                spec_.node_names.push_back(card[2]);
                first_task_.push_back(task);
                cores.emplace_back();
            }
            spec_.node_of_task.push_back(static_cast<NodeIndex>(node));
            const Mask mask = from_hex(card[1], task, "card");
            cores[node].resize(std::max(cores[node].size(), mask.size()));
            for (std::size_t i = 0; i < mask.size(); ++i) cores[node][i] |= mask[i];
        }
        spec_.node = spec_.node_of_task[static_cast<std::size_t>(me_)];
        // The union of all masks, because a launcher may have given each task a core of its own.
        for (const std::uint8_t byte : cores[static_cast<std::size_t>(spec_.node)])
            spec_.cpus += static_cast<unsigned>(__builtin_popcount(byte));
    }

    UniqueFd exchange_doors() {
        const NodeAddress address =
            spec_.node_names.size() == 1 ? loopback_address() : own_address();
        std::uint16_t port = 0;
        UniqueFd listener = listen_on(address, port);
        rendezvous_.put("door", std::to_string(port) + "," + address.text());
        rendezvous_.fence();
        for (TaskId task = 0; task < static_cast<TaskId>(rendezvous_.size()); ++task) {
            const auto door = get_parts(rendezvous_, task, "door", 2);
            const auto there = NodeAddress::parse(door[1]);
            std::uint16_t number = 0;
            std::from_chars(door[0].data(), door[0].data() + door[0].size(), number);
            if (!there || number == 0) fail_reading(task, "door");
            ports_.push_back(number);
            const auto node = spec_.node_of_task[static_cast<std::size_t>(task)];
            if (task == first_task_[static_cast<std::size_t>(node)])
                spec_.node_addresses.push_back(*there);
        }
        return listener;
    }

    NodeSegment share_segment() {
        const TaskId maker = first_task_[static_cast<std::size_t>(spec_.node)];
        std::optional<NodeSegment> segment;
        if (me_ == maker) {
            segment = NodeSegment::create(spec_);
            for (std::size_t task = 0; task < ports_.size(); ++task)
                segment->port_of(static_cast<TaskId>(task)).store(ports_[task]);
            rendezvous_.put("segment", segment->path());
        }
        rendezvous_.fence();
        if (me_ != maker) segment = NodeSegment::attach(rendezvous_.get(maker, "segment"));
        rendezvous_.fence();
        return std::move(*segment);
    }

    Rendezvous& rendezvous_;
    const Variables& variables_;
    const TaskId me_;
    NodeSegmentSpec spec_;
    std::vector<TaskId> first_task_;    // indexed by node
    std::vector<std::uint16_t> ports_;  // indexed by task; empty in a job without TCP
};

}  // namespace

NodeSegment join_foreign_job(Rendezvous& rendezvous, const Variables& variables) {
    return Joining(rendezvous, variables).join();
}

}  // namespace poe::comm
