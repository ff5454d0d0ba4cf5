// The names of algorithms and of ways to make a call, as users write them: in MP_COLL_BCAST and the
// like, in tuning files, in arguments of mpsim.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

// The operation of that name. An error names all operations, and the one that was probably meant.
Result<Operation> read_operation(std::string_view name);

// "binomial", "radix:4": an algorithm of that operation. An error names what there is.
Result<Choice> read_choice(Operation operation, std::string_view text);

// What text() says; for an algorithm that is given without its number, that is -1. An error names
// what there is for that operation.
Result<Method> read_method(Operation operation, std::string_view text);

// Reads MP_COLL_BCAST and so on.
Result<Overrides> read_overrides(const std::function<const char*(const char*)>& variables);

}  // namespace poe::collectives
