// Algorithm: what is known about an algorithm for a collective operation: its name, the shapes that
// it supports, its generator and its formulas. The table of all algorithms is
// selection/catalogue.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// The parameters that the chooser compares in addition to the default one.
enum class Compared : std::uint8_t {
    kDefaultOnly,
    kMeasuredLambda,  // instead of the default, the lambda measured for messages of the length
    kPowersOfTwo,     // numbers of segments
    kRadixes,         // small ones and the number of ranks
    kModelPorts,      // instead of the default, the ports of the model, if there are several
};

// The range of the parameter that may follow an algorithm's name.
struct NumberRange {
    double least = 0;
    double most = 0;
    bool whole = true;
    Compared compared = Compared::kDefaultOnly;

    bool has(double number) const noexcept;
    // For example "a whole number from 1 to 1048576".
    std::string text() const;
};

struct Algorithm {
    Operation operation;
    const char* name;
    const char* parameter;  // what the parameter means; null: there is none
    NumberRange numbers;    // the parameter's range, if there is one
    // The parameter to use if none is given.
    double (*fallback)(const Shape&);
    // True if the algorithm is correct for this shape. False for a parameter that is outside of
    // `numbers`.
    bool (*fits)(const Shape&, double parameter);
    Generator (*make)(const Shape&, double parameter);
    // The counts from the papers; null if there is no formula.
    Counts (*counts)(const Shape&, double parameter);
    // The bytes that each rank copies in addition; null: hardly any.
    Bytes (*copied)(const Shape&) = nullptr;
    // The part of the counts that stays within nodes; null: the algorithm does not know nodes.
    Counts (*within)(const Shape&) = nullptr;
    // True if every rank starts all its messages and then waits for them; null: never.
    bool (*starts_all_at_once)(double parameter) = nullptr;
    // Every rank sends whole blocks, or several as one message. Over a network, long messages then
    // compete for the queue of each cable.
    bool blocks_compete = false;
    // A rank sends as many messages in a round as the parameter says.
    bool sends_by_ports = false;
    // Each message follows a signal of its receiver, which costs a start-up of its own.
    bool signals_precede = false;
    // For an algorithm whose parameter is lambda: the time of the whole operation in the postal
    // model, as a multiple of the time of one message from its sending to its arrival. Its messages
    // need not go in rounds. Null: the operation takes the time of its rounds.
    double (*postal_time)(const Shape&, double lambda) = nullptr;
    // Messages without data go along both directions of each edge of a tree.
    bool both_ways_along_tree = false;
    // An irregular index needs the lengths of the own rank's blocks only, not those of all ranks.
    bool own_lengths_suffice = false;
};

// An algorithm with its parameter.
struct Choice {
    const Algorithm* algorithm = nullptr;
    double parameter = 0;

    Generator make(const Shape& shape) const { return algorithm->make(shape, parameter); }
    // For example "binomial" or "radix:4".
    std::string text() const;
    bool operator==(const Choice&) const = default;
};

}  // namespace poe::collectives
