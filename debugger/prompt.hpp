// Prompt: where the user of pdbx types commands and reads answers. Two kinds: lines with readline
// (command_line.hpp), and the whole screen (screen_prompt.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "debugger/picture.hpp"

namespace poe::debugger {

// Completes a word; `first` says whether it is the first one of the line.
using Complete = std::function<std::vector<std::string>(const std::string& word, bool first)>;

class Prompt {
  public:
    virtual ~Prompt() = default;

    // Shows the prompt, or changes it. What was typed before it was shown may complete a line.
    virtual void show(const std::string& prompt) = 0;
    // Removes prompt and typed text from the terminal until show() is called.
    virtual void hide() = 0;
    virtual bool shown() const = 0;
    // Writes complete lines above the prompt.
    virtual void print(const std::string& lines) = 0;
    // To be called when standard input can be read.
    virtual void read() = 0;
    // A line that the user has completed. `end`: end of input (Ctrl-D).
    struct Input {
        bool end = false;
        std::string line;
    };
    virtual std::optional<Input> take() = 0;
    // Ctrl-C: discards what was typed.
    virtual void discard() = 0;

    // True if picture() shows something.
    virtual bool wants_picture() const { return false; }
    virtual void picture(Picture) {}
    // The terminal's size has changed.
    virtual void resized() {}
};

}  // namespace poe::debugger
