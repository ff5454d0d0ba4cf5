// CostModel: the cost of messages on a computer, and the points at which the model is known to be
// wrong. Pure data: the chooser uses them (chooser.hpp), tuning.hpp reads and writes them.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace poe::collectives {

struct MeasuredLambda {
    Bytes bytes = 0;
    double lambda = 1;
    bool operator==(const MeasuredLambda&) const = default;
};

// How calls are made: by messages; within a node also in shared memory (group_segment.hpp), or by
// single copy between the memories of tasks (single_copy_calls.hpp); between nodes also by
// multicast (multicast_calls.hpp).
enum class Transport : std::uint8_t { kMessages, kShared, kDirect, kMulticast };
inline constexpr const char* kSharedMemoryName = "shared-memory";
inline constexpr const char* kDirectMemoryName = "direct-memory";
inline constexpr const char* kMulticastName = "multicast";
struct Method {
    Transport transport = Transport::kMessages;
    Choice choice;  // for kMessages only
    // Returns "binomial", "radix:4" or "shared-memory", for example.
    std::string text() const;
    bool operator==(const Method&) const = default;
};
// A point at which the model is known to be wrong, and the best method at this point.
struct MeasuredBest {
    Operation operation = Operation::kBcast;
    Bytes bytes = 0;
    std::uint32_t n = 0;
    Method method;
    bool operator==(const MeasuredBest&) const = default;
};

// Costs in microseconds, and in microseconds per byte. start_up and transfer are ts and tc of the
// CCL paper (IV.A), load is its tn, and message is tm of chooser.hpp.
struct CostModel {
    double start_up = 1;
    double transfer = 0;
    double message = 0;
    double load = 0;
    std::vector<MeasuredLambda> lambdas;  // by length; empty: 1 for all
    std::vector<MeasuredBest> bests{};
    // The number of messages that a task can send, and receive, in the time of one (CCL paper,
    // IV.B); a whole number. For a node with several networks, for example.
    double ports = 1;
    // The cost of a multicast transfer (multicast_cost.hpp), in microseconds: `multicast` for the
    // root and for each level of the report tree, and `multicast_byte` for each byte. Only the
    // network level has them. If multicast_byte is 0, they were not measured.
    double multicast = 0;
    double multicast_byte = 0;

    bool operator==(const CostModel&) const = default;
    // Returns lambda of the postal model (Bruck et al. 1996) for messages of this length. Between
    // two measured lengths it is interpolated by the logarithm of the length.
    double lambda(Bytes bytes) const noexcept;
    // Returns the nearest measured point for calls like this: within a factor of 4 in length and of
    // 1.5 in ranks, and with a method that supports the shape. Null: there is none, or blocks are
    // unequal.
    const MeasuredBest* best(const Shape& shape) const noexcept;
};

// The length in bytes of the pieces in which long blocks of an index go over a network. Long
// messages to many tasks at the same time take longer than the same bytes in pieces
// (docs/decisions/053).
inline constexpr Bytes kNetworkPiece = Bytes{32} << 10;

struct Tuning {
    CostModel node;
    CostModel network;
    bool operator==(const Tuning&) const = default;
};

// Returns the tuning for a computer with this number of cores on which mptune has not measured.
Tuning built_in_tuning(unsigned cores);

}  // namespace poe::collectives
