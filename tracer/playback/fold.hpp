// Fold: breaks text between words for a terminal of a given width.
#pragma once

#include <string>
#include <string_view>

namespace poe::trace {

// Breaks lines that are longer than `columns` between words; longer words are not broken. A
// continuation line starts below the text after the last gap of at least two blanks in the line's
// first `indent_most` columns; if there is no such gap, at the line's own indentation.
std::string fold(std::string_view text, int columns, std::size_t indent_most = 20);

// Returns the width of the terminal of this descriptor; 0 if it is not a terminal.
int columns_of_terminal(int descriptor);

}  // namespace poe::trace
