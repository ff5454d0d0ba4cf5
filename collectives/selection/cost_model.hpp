// CostModel: what messages cost on a computer, and where that is known to be wrong. Pure data, with which
// chooser.hpp computes; tuning.hpp reads and writes it.
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

// How calls are made: by messages; within a node by shared memory (group_segment.hpp), or by copies
// straight between the tasks' memories (single_copy_calls.hpp).
enum class Transport : std::uint8_t { kMessages, kShared, kDirect };
inline constexpr const char* kSharedMemoryName = "shared-memory";
inline constexpr const char* kDirectMemoryName = "direct-memory";
struct Method {
    Transport transport = Transport::kMessages;
    Choice choice;  // of messages
    // "binomial", "radix:4", "shared-memory"
    std::string text() const;
    bool operator==(const Method&) const = default;
};
// A point at which the model is known to be wrong, and what is right there.
struct MeasuredBest {
    Operation operation = Operation::kBcast;
    Bytes bytes = 0;
    std::uint32_t n = 0;
    Method method;
    bool operator==(const MeasuredBest&) const = default;
};

// In microseconds, and microseconds per byte. The first two are ts and tc of the CCL paper (IV.A),
// the last its tn; see chooser.hpp.
struct CostModel {
    double start_up = 1;
    double transfer = 0;
    double message = 0;
    double load = 0;
    std::vector<MeasuredLambda> lambdas;  // by length; empty: 1
    std::vector<MeasuredBest> bests{};

    bool operator==(const CostModel&) const = default;
    // The postal model's lambda (paper 001) for messages of that length; between two that were
    // measured by the logarithm of the length.
    double lambda(Bytes bytes) const noexcept;
    // The nearest measured point for calls like this, within a factor of 4 in length and of 1.5 in
    // ranks, if what is best there fits the shape; else null. Not for blocks of unequal length.
    const MeasuredBest* best(const Shape& shape) const noexcept;
};

struct Tuning {
    CostModel node;
    CostModel network;
    bool operator==(const Tuning&) const = default;
};

// Where nobody has measured: on a computer with so many cores.
Tuning built_in_tuning(unsigned cores);

}  // namespace poe::collectives
