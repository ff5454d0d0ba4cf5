// Breaks lines between words at the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace poe::cli {

inline constexpr std::size_t kUsualColumns = 80;

// A blank at which append_wrapped() does not break a line. It is shown as a blank.
inline constexpr char kHardBlank = '\x01';

// Returns the width of the terminal `fd`; 0 if `fd` is no terminal, which means that nothing is
// wrapped.
std::size_t terminal_columns(int fd);

// Appends `text` to `out`, which ends at `column`. If the text must be broken, it is broken between
// words, and continuation lines are indented to `indent`. Words that are longer than a line stay
// whole. 0 columns: no limit. Adds no line feed at the end. Pure.
void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent,
                    std::size_t columns);

}  // namespace poe::cli
