// Lines for a terminal: broken between words at its width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace poe::cli {

inline constexpr std::size_t kUsualColumns = 80;

// A blank that wrap() does not break at, and shows as a blank.
inline constexpr char kHardBlank = '\x01';

// The width of the terminal `fd`; nothing is wrapped at 0, which means that it is none.
std::size_t terminal_columns(int fd);

// Appends `text` to `out`, which ends at `column`: word by word if it must be broken, continued
// lines indented to `indent`. Words that do not fit a line stay whole. 0 columns: no limit. Adds no
// line feed at the end. Pure.
void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent,
                    std::size_t columns);

}  // namespace poe::cli
