// The texts that poe prints about itself: `poe -h` and `poe --version`. Both come from the option
// table, so that they list what there is and nothing else.
#pragma once

#include <string>
#include <string_view>

namespace poe::cli {

// Usage, examples, and all flags by group with variable and default; at most 80 columns, ends in a
// newline. Pure.
std::string help_text();

// "poe 0.1.0" and what it is, ends in a newline. Pure.
std::string version_text(std::string_view version);

}  // namespace poe::cli
