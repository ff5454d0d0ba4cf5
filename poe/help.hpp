// The texts that poe prints about itself: `poe -h` and `poe --version`. Both come from the option
// table, so that they list what there is and nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "poe/wrap.hpp"

namespace poe::cli {

// `poe -h`: usage, examples and the flags that most jobs need, for a terminal of so many columns.
// Ends in a newline. Pure.
std::string short_help_text(std::size_t columns = kUsualColumns);

// `poe -h all`: the same with all flags by group. Pure.
std::string help_text(std::size_t columns = kUsualColumns);

// "poe 0.1.0" and what it is, ends in a newline. Pure.
std::string version_text(std::string_view version);

}  // namespace poe::cli
