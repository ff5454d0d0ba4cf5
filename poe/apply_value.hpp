// From a checked value to its field in Options: the one place that knows which row fills which
// field. Rows that are not implemented have no field, and change nothing.
#pragma once

#include "poe/options.hpp"
#include "poe/values.hpp"

namespace poe::cli {

// Stores the value of this row. Pure apart from `options`.
void apply_value(Options& options, const OptionRow& row, const Value& value);

}  // namespace poe::cli
