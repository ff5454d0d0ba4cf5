// Questions to nodes without a job: how jobs use the nodes of the pools (poestat -pools), and the
// load of nodes (poestat -nodes). The nodes are asked by the remote shell, all at the same time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "partition_manager/job/pools.hpp"

namespace poe::cli {

// How to ask: the words of MP_REMOTE_SHELL, and the path of the daemon's program.
struct NodeQuery {
    std::vector<std::string> remote_shell;
    std::string pmd;
};

// The answer of a node that does not answer within ten seconds.
inline constexpr const char* kNoAnswer = "no answer";

// Runs the daemon's program with these arguments on every node, and returns the last line that each
// has printed, or kNoAnswer, by node. Blocks.
std::map<std::string, std::string> ask_nodes(std::vector<std::string> nodes, const NodeQuery& query,
                                             const std::string& arguments);

struct PoolNode {
    std::string pool;
    std::string node;
    std::string use;  // "free", "processors shared, adapter shared", ..., or kNoAnswer
};
// Asks every node of the pools once. Blocks.
std::vector<PoolNode> ask_pools(const pm::Pools& pools, const NodeQuery& query);

// Pure.
std::string pools_text(const std::vector<PoolNode>& nodes);
std::string pools_json(const std::vector<PoolNode>& nodes);

// The load of nodes, from the lines of node_statistics.hpp, by node. A table with a line for each
// node, or JSON with all numbers. A node without numbers is shown with what it has answered. Pure.
std::string loads_text(const std::map<std::string, std::string>& answers);
std::string loads_json(const std::map<std::string, std::string>& answers);

}  // namespace poe::cli
