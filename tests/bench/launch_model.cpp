// A daemon's life in model time; see launch_model.hpp. The tree is walked from the root: what a
// node does depends only on what is above it on the way down, and below it on the way up.
#include "tests/bench/launch_model.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/message_codec.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/launch/exchange_table.hpp"
#include "partition_manager/launch/launch_tree.hpp"

namespace poe::bench {

namespace {

using pm::LaunchTree;
using pm::Message;

pm::JobSpec job_on(NodeIndex nodes, std::uint32_t fanout) {
    pm::JobSpec job;
    job.id = "model";
    job.commands = {{"/home/user/program"}};
    job.directory = "/home/user";
    job.environment = {"PATH=/usr/bin:/bin", "HOME=/home/user"};
    job.launch.fanout = fanout;
    for (NodeIndex node = 0; node < nodes; ++node) {
        job.nodes.push_back("node" + std::to_string(node));
        job.tasks.push_back({node, 0});
    }
    return job;
}

Bytes frame_bytes(const Message& message) {
    return pm::kFrameHeaderBytes + pm::encode(message).size();
}

// A node's processor and its network, which do one thing after another.
struct Resource {
    Seconds free{0};
    Seconds use(Seconds from, Seconds how_long) { return free = std::max(from, free) + how_long; }
};

class Launch {
  public:
    Launch(NodeIndex nodes, std::uint32_t fanout, const NodeDelays& delays, std::size_t parts,
           std::uint64_t seed)
        : delays_(delays),
          tree_(nodes, fanout, -1),
          nodes_(nodes),
          part_(parts, 'x'),
          random_(seed),
          places_(static_cast<std::size_t>(nodes) + 1) {
        start_job_ = frame_bytes(pm::StartJob{job_on(nodes, fanout), 0});
    }

    ModelRun run() {
        const Report prepared = prepare(LaunchTree::kRoot, Seconds{0});
        POE_CHECK(prepared.facts.size() == static_cast<std::size_t>(nodes_), nodes_);
        run_tasks_ = frame_bytes(pm::RunTasks{prepared.facts});
        const Seconds started = start(LaunchTree::kRoot, prepared.at);
        const KeyExchangeDone sum = exchange(LaunchTree::kRoot, started);
        POE_CHECK(sum.part && sum.part->data.size() == part_.size() * places_.size() - part_.size(),
                  nodes_, part_.size());
        const Bytes all = frame_bytes(pm::KeyExchangeDone{sum.part->key, sum.part->data});
        ModelRun result;
        for (const NodeIndex one : tree_.below(LaunchTree::kRoot))
            result.depth = std::max(result.depth, tree_.height(one));
        result.launched = started;
        result.exchanged = broadcast(LaunchTree::kRoot, sum.at, all) - started;
        result.root_messages = root_messages_;
        result.root_bytes = root_bytes_;
        return result;
    }

  private:
    struct Place {
        Resource processor;
        Resource network;
    };
    struct Arrival {
        Seconds at{0};
        NodeIndex from = 0;
        Bytes bytes = 0;
    };
    struct Report {
        Seconds at{0};
        std::vector<pm::NodeFacts> facts;
    };
    struct KeyExchangeDone {
        Seconds at{0};
        std::optional<pm::KeyExchangePart> part;
    };

    Place& place(NodeIndex node) { return places_[static_cast<std::size_t>(node) + 1]; }

    // When the receiver has dealt with a message.
    Seconds send(NodeIndex from, NodeIndex to, Seconds at, Bytes bytes) {
        if (from == LaunchTree::kRoot || to == LaunchTree::kRoot) {
            ++root_messages_;
            root_bytes_ += bytes;
        }
        const auto count = static_cast<double>(bytes);
        const Seconds sent = place(from).network.use(at, count * delays_.byte_wire);
        return place(to).processor.use(sent + delays_.latency,
                                       delays_.handling + count * delays_.byte_handling);
    }

    Seconds login() { return delays_.login * std::exp(delays_.spread * normal_(random_)); }

    // Those below say Hello in any order; each then gets the job.
    Report prepare(NodeIndex node, Seconds at) {
        Report report;
        report.at = at;
        std::vector<std::pair<Seconds, NodeIndex>> hellos;
        for (const NodeIndex one : tree_.below(node))
            hellos.emplace_back(place(node).processor.use(at, delays_.spawn) + login(), one);
        std::sort(hellos.begin(), hellos.end());
        const bool root = node == LaunchTree::kRoot;
        if (!root) report.at = place(node).processor.use(at, delays_.prepare);
        if (!root) report.facts.push_back({node, "10.0.0.1", {40000}});
        const Bytes hello = frame_bytes(pm::Hello{});
        std::vector<Arrival> arrivals;
        for (const auto& [said, one] : hellos) {
            const Seconds greeted = send(one, node, said, hello);
            Report below = prepare(one, send(node, one, greeted, start_job_));
            arrivals.push_back({below.at, one, frame_bytes(pm::Prepared{below.facts})});
            std::move(below.facts.begin(), below.facts.end(), std::back_inserter(report.facts));
        }
        report.at = std::max(report.at, receive(node, std::move(arrivals)));
        return report;
    }

    // When the last of messages from below has been dealt with, in the order in which they come.
    Seconds receive(NodeIndex node, std::vector<Arrival> arrivals) {
        std::sort(arrivals.begin(), arrivals.end(),
                  [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
        Seconds last{0};
        for (const Arrival& one : arrivals)
            last = std::max(last, send(one.from, node, one.at, one.bytes));
        return last;
    }

    Seconds start(NodeIndex node, Seconds at) {
        const Seconds all =
            node == LaunchTree::kRoot ? at : place(node).processor.use(at, delays_.start);
        const Bytes started = frame_bytes(pm::Started{});
        std::vector<Arrival> arrivals;
        for (const NodeIndex one : tree_.below(node))
            arrivals.push_back({start(one, send(node, one, at, run_tasks_)), one, started});
        return std::max(all, receive(node, std::move(arrivals)));
    }

    KeyExchangeDone exchange(NodeIndex node, Seconds at) {
        pm::ExchangeTable table;
        const pm::KeyExchangePart own{
            "fence of all", static_cast<std::uint32_t>(nodes_), 1, part_, {}};
        const std::vector<NodeIndex> below = tree_.below(node);
        const bool root = node == LaunchTree::kRoot;
        KeyExchangeDone result;
        result.at = at;
        if (!root) result.part = table.add_of(own, below.size() + 1);
        std::vector<Arrival> arrivals;
        for (const NodeIndex one : below) {
            const KeyExchangeDone part = exchange(one, at);
            arrivals.push_back({part.at, one, frame_bytes(*part.part)});
            auto sum = root ? table.add(*part.part) : table.add_of(*part.part, below.size() + 1);
            if (sum) result.part = std::move(sum);
        }
        result.at = std::max(result.at, receive(node, std::move(arrivals)));
        return result;
    }

    Seconds broadcast(NodeIndex node, Seconds at, Bytes bytes) {
        Seconds last = at;
        for (const NodeIndex one : tree_.below(node))
            last = std::max(last, broadcast(one, send(node, one, at, bytes), bytes));
        return last;
    }

    NodeDelays delays_;
    LaunchTree tree_;
    NodeIndex nodes_;
    std::string part_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    std::vector<Place> places_;  // the root first
    Bytes start_job_ = 0;
    Bytes run_tasks_ = 0;
    std::uint64_t root_messages_ = 0;
    Bytes root_bytes_ = 0;
};

}  // namespace

ModelRun model_launch(NodeIndex nodes, std::uint32_t fanout, const NodeDelays& delays,
                      std::size_t parts, std::uint64_t seed) {
    return Launch(nodes, fanout, delays, parts, seed).run();
}

}  // namespace poe::bench
