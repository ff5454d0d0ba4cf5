// The texts that poe prints about itself: `poe -h` and `poe --version`. The help comes from the
// option table, so that it lists exactly the existing flags.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/fold.hpp"

namespace poe::cli {

// `poe -h`: usage, examples and the flags that most jobs need, for a terminal with `columns`
// columns. Ends with a newline. Pure.
std::string short_help_text(std::size_t columns = kUsualColumns);

// `poe -h all`: likewise, with all flags in groups. Pure.
std::string help_text(std::size_t columns = kUsualColumns);

// "poe 0.1.0" with a newline. Pure.
std::string version_text(std::string_view version);

}  // namespace poe::cli
