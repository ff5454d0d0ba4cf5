// Reads the small text files of users: as a whole, and line by line with the line ends of any
// system. Shared by the host file and the commands file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace poe::pm {

// Reads the whole file, which may be a pipe or a terminal. Blocks. Returns a UserError if the file
// is missing, unreadable, a directory or longer than 64 MB. `what_it_is` ("host file") becomes part
// of its text.
Result<std::string> read_text_file(const std::string& path, const std::string& what_it_is);

// True if the name exists, whether it is readable or not.
bool file_exists(const std::string& path);

// True for a character between words; a newline is none.
constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// Returns the lines of a text, which must outlive this object. A byte-order mark at the start, the
// newline, and a carriage return before the newline are not part of a line. The last line needs no
// newline.
class TextLines {
  public:
    explicit TextLines(std::string_view text);

    // Returns the next line; nothing at the end.
    std::optional<std::string_view> next();

    // The number of the line that next() returned last, from 1.
    int line() const { return line_; }

  private:
    std::string_view rest_;
    int line_ = 0;
};

}  // namespace poe::pm
