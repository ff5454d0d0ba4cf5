// Tuning: what messages cost on a computer, as mptune has measured it, and the small file that says
// so. What chooses algorithms (chooser.hpp) computes with it. Pure data; nothing here does I/O.
//
// The file, one fact per line, '#' for comments:
//   level node            what follows is of tasks that share a node; "level network": of others
//   start_up 0.9          microseconds of a message, from send to received
//   per_byte 0.00012      and for each of its bytes
//   message 0.2           microseconds of work for each message, shared by the cores of all tasks
//   load 0.00006          and for each byte that any of them sends or copies
//   lambda 1024 1.7       messages of 1024 bytes take 1.7 times as long as they keep their sender
//   busy
//   best bcast 65536 4 chain:8  what was fastest for 65536 bytes and 4 tasks, where the facts above
//   would have had something else; an algorithm, or shared-memory or direct-memory
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/catalogue.hpp"
#include "comm/base/result.hpp"
#include "comm/base/types.hpp"

namespace poe::collectives {

struct MeasuredLambda {
    Bytes bytes = 0;
    double lambda = 1;
    bool operator==(const MeasuredLambda&) const = default;
};

// How calls are made: by messages; within a node by shared memory (commons.hpp), or by copies
// straight between the tasks' memories (direct_calls.hpp).
enum class Way : std::uint8_t { kMessages, kShared, kDirect };
struct Method {
    Way way = Way::kMessages;
    Choice choice;  // of messages
    // "binomial", "radix:4", "shared-memory"
    std::string text() const;
    bool operator==(const Method&) const = default;
};
// What text() says; for an algorithm that is given without its number, that is -1. An error names
// what there is for that operation.
Result<Method> read_method(Operation operation, std::string_view text);

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

// A file's text; what it does not say is built in. `source` names the file in errors.
Result<Tuning> read_tuning(std::string_view text, const std::string& source, unsigned cores);
// The text that reads as this; `head` becomes comments at its beginning.
std::string tuning_text(const Tuning& tuning, std::string_view head);

}  // namespace poe::collectives
