// The prompt on a terminal: editing, history and completion by readline. Other text appears above
// the prompt, and what the user has typed stays. The only file that knows readline. One object at a
// time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "debugger/prompt.hpp"

namespace poe::debugger {

class CommandLineEditor final : public Prompt {
  public:
    // `history` is the file of earlier lines; empty: there is none.
    CommandLineEditor(std::string history, Complete complete);
    ~CommandLineEditor() override;
    CommandLineEditor(const CommandLineEditor&) = delete;
    CommandLineEditor& operator=(const CommandLineEditor&) = delete;

    void show(const std::string& prompt) override;
    void hide() override;
    bool shown() const override { return shown_; }
    void print(const std::string& lines) override;
    void read() override;
    std::optional<Input> take() override;
    void discard() override;

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
