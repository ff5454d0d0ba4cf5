// The variables of the tools interface (MPI 5.0, chapter 15.3) as tables. A variable's number is
// its place in its table, which does not change while a program runs. Values are read from the
// runtime of this process when a tool asks for them, so they cost nothing otherwise.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>

#include "collectives/engine/collective_context.hpp"
#include "comm/bootstrap/runtime.hpp"

namespace poe::mpi::tool {

// The names of the values 0, 1, ... of a variable.
struct Enumeration {
    const char* name;
    std::span<const char* const> items;
};

// What a variable or a type of events is about. The numbers are the places in categories().
enum Topic : int { kMessages, kProgress, kCollectives, kErrors };
struct Category {
    const char* name;
    const char* description;
};
std::span<const Category> categories();

struct ControlVariable {
    const char* name;
    const char* description;
    Topic topic;
    MPI_Datatype type;         // MPI_UNSIGNED_LONG_LONG, MPI_INT, or MPI_CHAR for a text
    const Enumeration* items;  // of an MPI_INT; null: a plain number
    int scope;                 // MPI_T_SCOPE_*
    // The value of a number; 0 for a text.
    std::uint64_t (*number)(const comm::Runtime&);
    // The value of a text; null for a number. At most kMaxText - 1 characters.
    std::string (*text)(comm::Runtime&);
    // Changes a number; null if the variable is read only. Returns false if the value is not
    // allowed.
    bool (*change)(comm::Runtime&, std::uint64_t);
};
inline constexpr int kMaxText = 64;
std::span<const ControlVariable> control_variables();

// All are MPI_UNSIGNED_LONG_LONG, run all the time, and cannot be changed.
struct PerformanceVariable {
    const char* name;
    const char* description;
    Topic topic;
    int kind;  // MPI_T_PVAR_CLASS_*
    std::uint64_t (*value)(comm::Runtime&, std::uint64_t argument);
    std::uint64_t argument;  // of `value`, for variables that are alike
};
std::span<const PerformanceVariable> performance_variables();

}  // namespace poe::mpi::tool
