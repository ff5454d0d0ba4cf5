// The table of paths: all ways to make blocking calls.
#pragma once

#include <span>

#include "collectives/engine/path.hpp"

namespace poe::collectives {

// The rows for a transport are in the order of preference.
std::span<const Path> paths() noexcept;

}  // namespace poe::collectives
