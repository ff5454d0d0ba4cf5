// The simulator: runs the schedules of all ranks under a model of what messages cost, and says when
// each rank is through. It looks at the order of steps and at lengths only, so a million ranks fit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// Times in microseconds. A message of m bytes keeps its sender busy for send_busy + m
// send_per_byte, is at the receiver `latency` + (m - 1) wire_per_byte + (latency_factor - 1) times
// what the sender was busy later, and keeps the receiver busy for receive_busy once it is waited
// for. A port of a rank carries one message at a time each way, for max(what the sender is busy,
// gap + (m - 1) wire_per_byte).
struct MessageModel {
    double send_busy = 0;
    double send_per_byte = 0;
    double latency = 0;
    double latency_factor = 1;
    double wire_per_byte = 0;
    double gap = 0;
    double receive_busy = 0;
    double work_per_byte = 0;   // of copies and reductions
    double work_per_piece = 0;  // and for each of them, however short

    // ts + m tc (CCL paper, IV.A).
    static MessageModel linear(double start_up, double per_byte);
    // The sender is busy for t0 = ts + m tc, the message takes lambda t0 (paper 1).
    static MessageModel postal(double start_up, double per_byte, double lambda);
    // Alexandrov et al. 1995: a byte follows another one after gap_per_byte, a message the last
    // byte of another one after gap.
    static MessageModel loggp(double latency, double overhead, double gap, double gap_per_byte);
};

// Ranks that share nodes. What a rank sends to its own node follows `within`. Between nodes all
// messages of a node's ranks share its cable: it carries the bytes of one at a time each way, and a
// sender waits for it. Start-ups are the ranks' own.
struct SimulatedNodes {
    std::vector<std::uint32_t> node_of;  // of each rank (Shape::nodes); empty: each has its own
    MessageModel within;
};

struct SimulatedMessage {
    Rank from = 0;
    Rank to = 0;
    Bytes bytes = 0;
    double sent = 0;      // when the sender began
    double received = 0;  // when the receiver had it
};

// Ranks that share cores, and have them in turn (shared_cores.hpp): what keeps a rank busy keeps
// the others of its core waiting.
struct SimulatedCores {
    std::uint32_t of_a_node = 0;  // 0: each rank has its own
    double turn = 0;              // what it takes to look whether a rank still waits
};

struct Simulation {
    std::string fault;      // what kept it from ending; empty: nothing
    bool too_long = false;  // a message of 4 GB or more, which is not simulated
    double time = 0;        // when the last rank is through
    std::uint64_t messages = 0;
    Counts counts;
};

// `on_message`, when not empty, is told of each message as it is received. Needs 8 bytes for each
// step of all ranks; a schedule is built once. Messages of 4 GB and more are a fault.
Simulation simulate(std::uint32_t n, const Generator& generate, const MessageModel& model,
                    const std::function<void(const SimulatedMessage&)>& on_message = {},
                    const SimulatedNodes& nodes = {}, const SimulatedCores& cores = {});

}  // namespace poe::collectives
