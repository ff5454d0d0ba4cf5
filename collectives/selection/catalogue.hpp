// The catalogue of algorithms: their names, for which shapes they are right, their generators and
// their formulas. What chooses, what simulates and what tests them all reads this table. A new
// algorithm is a file in schedule/algorithms/ and a row in catalogue.cpp.
#pragma once

#include <span>
#include <string_view>

#include "collectives/schedule/algorithm.hpp"

namespace poe::collectives {

std::span<const Algorithm> catalogue() noexcept;

// Null when there is none of that name.
const Algorithm* find_algorithm(Operation operation, std::string_view name) noexcept;

}  // namespace poe::collectives
