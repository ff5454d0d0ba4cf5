// One value of one row: from the text that a user typed to a checked value, or to the UserError
// that says what is allowed. Flags and variables take the same way through here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "poe/option_table.hpp"

namespace poe::cli {

// Checks `text` against the row. `source` is how the user named it ("-procs", "MP_PROCS"). Empty
// text is right for files and strings only. Pure.
Result<Value> read_value(const OptionRow& row, const std::string& source, const std::string& text);

// Whether a yes/no value says yes, in any letter case; false for all that is not a value.
bool means_yes(std::string_view text);

}  // namespace poe::cli
