// Fold: breaks text between words at the width of a terminal. Help texts and messages are written
// without line breaks inside a paragraph and are folded when they are shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace poe {

// The width for which text is folded where there is no terminal.
inline constexpr std::size_t kUsualColumns = 80;

// A blank at which no line is broken. It is shown as a blank.
inline constexpr char kHardBlank = '\x01';

// Returns the width of the terminal `fd`; 0 if `fd` is no terminal, which means no limit below.
std::size_t terminal_columns(int fd);

// Appends `text`, which is one paragraph, to `out`, which ends at `column`. If the text must be
// broken, it is broken between words, and continuation lines are indented to `indent`. Words that
// are longer than a line stay whole. 0 columns: no limit. Adds no line feed at the end. Pure.
void append_folded(std::string& out, std::string_view text, std::size_t column, std::size_t indent,
                   std::size_t columns);

// Returns `text` with each line that is longer than `columns` broken in this way. A continuation
// line starts below the text after the last gap of at least two blanks in the line's first
// `indent_most` columns; if there is no such gap, at the line's own indentation. Pure.
std::string fold(std::string_view text, std::size_t columns, std::size_t indent_most = 20);

// Returns a help text as it is shown on `fd`: folded at the width of the terminal, or at
// kUsualColumns where there is none.
std::string folded_help(std::string_view text, int fd);

}  // namespace poe
