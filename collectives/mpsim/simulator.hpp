// The simulator: executes the schedules of all ranks under a model of what messages cost, and
// computes when each rank ends. It uses only the order of steps and their lengths, so it can handle
// a million ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// Times are in microseconds. The model of a message of m bytes:
//   - It keeps its sender busy for B = send_busy + m send_per_byte.
//   - It arrives latency + (m - 1) wire_per_byte + (latency_factor - 1) B after that.
//   - It keeps the receiver busy for receive_busy when the receiver waits for it.
// A rank's port carries one message at a time in each direction, for max(B, gap + (m - 1)
// wire_per_byte). If a rank has several ports, they carry its messages while it continues; it is
// busy until the last of them has been sent when it waits.
struct MessageModel {
    double send_busy = 0;
    double send_per_byte = 0;
    double latency = 0;
    double latency_factor = 1;
    double wire_per_byte = 0;
    double gap = 0;
    double receive_busy = 0;
    double work_per_byte = 0;   // for copies and reductions
    double work_per_piece = 0;  // and for each of them, whatever its length
    std::uint32_t ports = 1;    // of a rank; several only without shared nodes, cores and meshes

    // ts + m tc (CCL paper, IV.A).
    static MessageModel linear(double start_up, double per_byte);
    // The sender is busy for t0 = ts + m tc; the message takes lambda t0 (postal paper, Bruck et
    // al. 1996).
    static MessageModel postal(double start_up, double per_byte, double lambda);
    // LogGP (Alexandrov et al. 1995): a byte follows the previous one after gap_per_byte; a message
    // follows the last byte of the previous one after gap.
    static MessageModel loggp(double latency, double overhead, double gap, double gap_per_byte);
};

// Ranks that share nodes. Messages of a rank to its own node follow `within`. All messages of a
// node's ranks to other nodes share its cable, which carries the bytes of one message at a time in
// each direction; a sender waits for it. Each rank has its own start-ups.
struct SimulatedNodes {
    std::vector<std::uint32_t> node_of;  // of each rank (Shape::nodes); empty: each has its own
    MessageModel within;
};

// Ranks on the nodes of a mesh, one on each. A message goes along its row, then along its column,
// and occupies all links of its path while its sender is busy (wormhole routing; postal paper,
// 2.6). A link carries one message at a time in each direction.
struct SimulatedMesh {
    std::uint32_t columns = 0;            // 0: every two ranks have a link of their own
    std::vector<std::uint32_t> place_of;  // the node of each rank, row by row
};
// Places the ranks in the order of the rows, or in a random order.
SimulatedMesh mesh_in_order(std::uint32_t rows, std::uint32_t columns);
SimulatedMesh mesh_at_random(std::uint32_t rows, std::uint32_t columns, std::uint32_t seed);

struct SimulatedMessage {
    Rank from = 0;
    Rank to = 0;
    Bytes bytes = 0;
    double sent = 0;      // when the sender began
    double received = 0;  // when the receiver has received it
};

// Ranks that share cores and use them in turn (shared_cores.hpp). While a rank is busy, the other
// ranks of its core wait.
struct SimulatedCores {
    std::uint32_t of_a_node = 0;  // cores per node; 0: each rank has its own
    double turn = 0;              // the time to check whether a rank still waits
};

struct Simulation {
    std::string fault;      // why it did not end; empty: it ended
    bool too_long = false;  // a message or block of 4 GB or more
    double time = 0;        // when the last rank ends
    std::uint64_t messages = 0;
    Counts counts;
};

// Calls `on_message`, unless it is empty, for each message when it is received. Needs 8 bytes of
// memory for each step of all ranks. Each schedule is built once. Messages and blocks of 4 GB or
// more are a fault.
Simulation simulate(std::uint32_t n, const Generator& generate, const MessageModel& model,
                    const std::function<void(const SimulatedMessage&)>& on_message = {},
                    const SimulatedNodes& nodes = {}, const SimulatedCores& cores = {},
                    const SimulatedMesh& mesh = {});

}  // namespace poe::collectives
