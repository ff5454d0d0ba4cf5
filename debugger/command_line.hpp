// The prompt on a terminal: editing, history and completion by readline. Other text appears above the
// prompt, and what the user has typed stays. The only file that knows readline. One object at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace poe::debugger {

class CommandLineEditor {
  public:
    // Completes a word; `first` says whether it is the first one of the line.
    using Complete = std::function<std::vector<std::string>(const std::string& word, bool first)>;

    // `history` is the file of earlier lines; empty: there is none.
    CommandLineEditor(std::string history, Complete complete);
    ~CommandLineEditor();
    CommandLineEditor(const CommandLineEditor&) = delete;
    CommandLineEditor& operator=(const CommandLineEditor&) = delete;

    // Shows the prompt, or changes it.
    void show(const std::string& prompt);
    // Removes prompt and typed text from the terminal until show() is called.
    void hide();
    bool shown() const { return shown_; }
    // Writes complete lines above the prompt.
    void print(const std::string& lines);
    // To be called when standard input can be read.
    void read();
    // A line that the user has completed. An empty optional within: end of input (Ctrl-D).
    struct Input {
        bool end = false;
        std::string line;
    };
    std::optional<Input> take();
    // Ctrl-C: discards what was typed.
    void discard();

  private:
    static void on_line(char* line);
    static char** attempt(const char* text, int begin, int end);
    static char* next_match(const char* text, int state);

    std::string history_;
    Complete complete_;
    std::string prompt_;
    bool shown_ = false;
    std::optional<Input> input_;
    std::vector<std::string> matches_;
};

}  // namespace poe::debugger
