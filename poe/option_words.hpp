// The option table in words for people: what `poe -h`, the man page and the error texts say about a
// row. Apart from the rows, which are data.
#pragma once

#include <string>
#include <string_view>

#include "poe/option_table.hpp"

namespace poe::cli {

// "-procs" for rows with a flag, else the variable.
std::string display_name(const OptionRow& row);

// "-hostfile, -hfile FILE": all flag names and the kind of value; the value alone when no flag.
std::string flag_synopsis(const OptionRow& row);

// What a value may be, for people: "yes or no", "a number from 1 to 8", "all, none or a task id".
std::string allowed_values(const OptionRow& row);

// The title of a group, as `poe -h` and the man page show it.
std::string_view group_title(OptionGroup group);

}  // namespace poe::cli
