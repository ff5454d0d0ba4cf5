// One value of one row: converts the text that a user typed to a checked value, or to the UserError
// with the allowed values. Flags and variables use the same code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "poe/option_table.hpp"

namespace poe::cli {

// Checks `text` against the row. `source` is the user's name of it ("-procs", "MP_PROCS"). Empty
// text is valid only for files, strings and flags without a value. Pure.
Result<Value> read_value(const OptionRow& row, const std::string& source, const std::string& text);

// True if a yes/no value means yes, in any letter case. False for invalid values.
bool means_yes(std::string_view text);

}  // namespace poe::cli
