// The names of algorithms and transports, as users write them: in MP_COLL_BCAST and similar
// variables, in tuning files, and in the arguments of mpsim.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// Reads the name of an operation. The error lists all operations, and the one that was probably
// meant.
Result<Operation> read_operation(std::string_view name);

// Reads the name of an algorithm for this operation, such as "binomial" or "radix:4". The error
// lists the names that are allowed.
Result<Choice> read_choice(Operation operation, std::string_view text);

// Reads the text that Method::text() returns. If an algorithm is named without its parameter, the
// parameter is -1. The error lists the names that are allowed for this operation.
Result<Method> read_method(Operation operation, std::string_view text);

// Reads MP_COLL_BCAST and the variables of the other operations.
Result<Overrides> read_overrides(const std::function<const char*(const char*)>& variables);

}  // namespace poe::collectives
