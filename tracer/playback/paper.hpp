// Paper: converts a figure to a file with cairo: SVG, PNG or PDF.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracer/playback/figure.hpp"

namespace poe::trace {

enum class Paper : std::uint8_t { kSvg, kPng, kPdf };
// The suffixes of figure files.
inline constexpr std::array<std::string_view, 3> kPaperSuffixes{".svg", ".png", ".pdf"};
// Returns the format for a file name; empty if it is not a figure's name.
std::optional<Paper> paper_named(std::string_view file);

// Returns the contents of the file. A PNG has two pixels per point. Throws Error if there is not
// enough memory for it.
std::string file_of(const Figure& figure, Paper paper);

}  // namespace poe::trace
