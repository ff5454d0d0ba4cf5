// A grid as a figure for a paper: SVG, with the characters' own colours on white.
#pragma once

#include <string>

#include "markerarray/grid.hpp"

namespace poe::trace {

std::string svg_of(const markers::Grid& grid);

}  // namespace poe::trace
