// Reading the small text files that users write: whole into memory, and line by line as editors of
// any system leave them. Shared by the host file and the commands file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace poe::pm {

// The whole file, also of a pipe or a terminal. Blocks. Missing, unreadable, a directory or longer
// than 64 MB is a UserError; `what_it_is` ("host file") goes into its text.
Result<std::string> read_text_file(const std::string& path, const std::string& what_it_is);

// Whether anything is there under this name, readable or not.
bool file_exists(const std::string& path);

// A character between words: no newline.
constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// Hands out the lines of a text that must outlive it. A byte-order mark at the start, the newline,
// and a carriage return before it are not part of a line; a last line needs no newline.
class TextLines {
  public:
    explicit TextLines(std::string_view text);

    // The next line, nothing at the end.
    std::optional<std::string_view> next();

    // Number of the line that next() returned last, from 1.
    int line() const { return line_; }

  private:
    std::string_view rest_;
    int line_ = 0;
};

}  // namespace poe::pm
