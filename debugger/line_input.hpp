// LineInput: a line that is typed on the screen, with its cursor and the earlier lines. Pure.
#pragma once

#include <string>
#include <vector>

#include "debugger/prompt.hpp"
#include "terminal/key.hpp"

namespace poe::debugger {

class LineInput {
  public:
    explicit LineInput(Complete complete) : complete_(std::move(complete)) {}

    // Returns true if the line is complete; the caller then takes it with finish(). Keys without a
    // meaning for a line are ignored.
    bool on_key(const terminal::Key& key);
    // Returns the line as UTF-8, and begins a new one.
    std::string finish();
    void clear();
    bool empty() const { return text_.empty(); }

    const std::u32string& text() const { return text_; }
    std::size_t cursor() const { return cursor_; }
    // What the word at the cursor may become, if there were several possibilities at the last Tab.
    const std::vector<std::string>& choices() const { return choices_; }

  private:
    void on_character(char32_t character);
    void recall(bool older);
    void complete();

    Complete complete_;
    std::u32string text_;
    std::size_t cursor_ = 0;
    std::vector<std::u32string> history_;
    std::size_t recalled_ = 0;  // lines back in the history; 0: the new line
    std::u32string new_line_;   // kept while older ones are shown
    std::vector<std::string> choices_;
};

}  // namespace poe::debugger
