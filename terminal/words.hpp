// Formats numbers for a display: short, with nearly constant width.
#pragma once

#include <chrono>
#include <string>

#include "base/types.hpp"

namespace poe::terminal {

// "9.9 s", "59 s", "12:34", "3:25:45", "2d 03h"
std::string time_words(std::chrono::milliseconds time);
// "812K", "1.2M", "34M", "5.0G"
std::string size_words(Bytes bytes);
// "0.25", "3.4", "1234", "1.2M"
std::string rate_words(double per_second);
}  // namespace poe::terminal
