// A launch on more nodes than anybody here has: the launch tree, the messages, their frames and the
// table that puts parts of an exchange together are poe's own; what a node needs for each step is a
// model. Apart from its main so that a test can look at what must hold.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/types.hpp"

namespace poe::bench {

using Seconds = std::chrono::duration<double>;

// What takes how long.
struct NodeDelays {
    Seconds spawn{0.001};            // to start one remote shell; one after another
    Seconds login{0.150};            // from there until the daemon has said Hello: the median,
    double spread = 0.3;             // and sigma of its logarithm; no two nodes are alike
    Seconds prepare{0.005};          // to look for program and directory, and open ports
    Seconds start{0.002};            // to start the node's task
    Seconds latency{0.0001};         // of a message, beside
    Seconds handling{0.00002};       // what each costs its receiver, and
    Seconds byte_handling{0.01e-6};  // each of its bytes (CBOR)
    Seconds byte_wire{0.001e-6};     // to send a byte; one message after another
};

struct ModelRun {
    int depth = 0;                    // levels of daemons below poe
    Seconds launched{0};              // until poe knows that all tasks run
    Seconds exchanged{0};             // more, until all nodes have the sum of an exchange
    std::uint64_t root_messages = 0;  // that poe sends or receives, for both
    Bytes root_bytes = 0;
};

// One task on each node. `parts`: bytes that each gives to the exchange. Needs about 1 KB for each
// node; the same for the same seed.
ModelRun model_launch(NodeIndex nodes, std::uint32_t fanout, const NodeDelays& delays,
                      std::size_t parts = 64, std::uint64_t seed = 1);

}  // namespace poe::bench
