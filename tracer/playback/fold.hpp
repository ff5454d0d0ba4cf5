// Fold: text for a terminal of so many columns, broken between words.
#pragma once

#include <string>
#include <string_view>

namespace poe::trace {

// Breaks lines that are longer than `columns`, between words; words that are longer themselves stay
// whole. A line that goes on begins below the text behind the last gap of two blanks or more in its
// first `indent_most` columns, or at the same indentation as the line.
std::string fold(std::string_view text, int columns, std::size_t indent_most = 20);

// Columns of the terminal behind this descriptor; 0: it is none.
int columns_of_terminal(int descriptor);

}  // namespace poe::trace
