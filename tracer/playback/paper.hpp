// Paper: a figure as a file, drawn by cairo: SVG, PNG or PDF.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracer/playback/figure.hpp"

namespace poe::trace {

enum class Paper : std::uint8_t { kSvg, kPng, kPdf };
// The names that files of figures end with.
inline constexpr std::array<std::string_view, 3> kPaperSuffixes{".svg", ".png", ".pdf"};
// What a file of this name is to be; nothing if it is no figure.
std::optional<Paper> paper_named(std::string_view file);

// A PNG has two pixels for each point. Throws Error when there is no memory for it.
std::string file_of(const Figure& figure, Paper paper);

}  // namespace poe::trace
