// The texts about a row of the option table in `poe -h`, the man page and error messages. Separate
// from the rows, which are data.
#pragma once

#include <string>
#include <string_view>

#include "poe/option_table.hpp"

namespace poe::cli {

// "-procs" for rows with a flag; otherwise the variable.
std::string display_name(const OptionRow& row);

// "-hostfile, -hfile FILE": all flag names and the kind of value. Only the value if there is no
// flag.
std::string flag_synopsis(const OptionRow& row);

// Describes the allowed values: "yes or no", "a number from 1 to 8", "all, none or a task id".
std::string allowed_values(const OptionRow& row);

// The title of a group in `poe -h` and the man page.
std::string_view group_title(OptionGroup group);

}  // namespace poe::cli
