// Algorithm: what is known of an algorithm for a collective operation: its name, for which shapes it
// is right, its generator and its formulas. The table of all of them is selection/catalogue.hpp.
#pragma once

#include <string>

#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// The numbers that may stand behind a name.
struct NumberRange {
    double least = 0;
    double most = 0;
    bool whole = true;

    bool has(double number) const noexcept;
    // "a whole number from 1 to 1048576"
    std::string text() const;
};

struct Algorithm {
    Operation operation;
    const char* name;
    const char* parameter;  // what the number behind the name is; null: there is none
    NumberRange numbers;    // where there is one
    // The number to take when none is given.
    double (*fallback)(const Shape&);
    // Whether it does what the operation is to do for this shape. Never with a number that is not
    // among `numbers`.
    bool (*fits)(const Shape&, double parameter);
    Generator (*make)(const Shape&, double parameter);
    // The papers' counts; null where there is no formula.
    Counts (*counts)(const Shape&, double parameter);
    // Bytes that each rank copies besides; null: hardly any.
    Bytes (*copied)(const Shape&) = nullptr;
    // What of the counts stays within nodes; null: it does not know nodes.
    Counts (*within)(const Shape&) = nullptr;
};

// An algorithm with its number.
struct Choice {
    const Algorithm* algorithm = nullptr;
    double parameter = 0;

    Generator make(const Shape& shape) const { return algorithm->make(shape, parameter); }
    // "binomial", "radix:4".
    std::string text() const;
    bool operator==(const Choice&) const = default;
};

}  // namespace poe::collectives
