// The basic types of which type maps consist, and how a predefined datatype consists of them: a
// pair such as MPI_DOUBLE_INT is two basic types, every other predefined datatype is one.
#pragma once

#include <cstdint>

#include "mpi/datatype/node.hpp"
#include "mpi/datatype/predefined.hpp"

namespace poe::mpi {

struct BasicParts {
    Unit units[2];
    int count = 1;
};
BasicParts basic_parts(const PredefinedType& type);

// The pairs that the standard names (MPI 5.0, section 6.9.4), by the codes of their handles.
struct PairType {
    std::uint16_t pair;
    std::uint16_t value;
    std::uint16_t index;
};
// The pair with this code, or null.
const PairType* find_pair(std::uint32_t code) noexcept;
// The pair of these two types, or null.
const PairType* find_pair(std::uint32_t value, std::uint32_t index) noexcept;

}  // namespace poe::mpi
