// The catalogue of algorithms: their names, the shapes that they support, their generators and
// their formulas. The chooser, the simulator and the tests all read this table. To add an
// algorithm, add a file to schedule/algorithms/ and a row to catalogue.cpp.
#pragma once

#include <span>
#include <string_view>

#include "collectives/schedule/algorithm.hpp"

namespace poe::collectives {

std::span<const Algorithm> catalogue() noexcept;

// Returns null if there is no algorithm of this name.
const Algorithm* find_algorithm(Operation operation, std::string_view name) noexcept;

}  // namespace poe::collectives
