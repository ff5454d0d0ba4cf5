// The prompt as a part of the whole screen (pdbx -screen): screen_view.hpp says what is shown. One
// object at a time.
#pragma once

#include <memory>

#include "debugger/line_input.hpp"
#include "debugger/prompt.hpp"
#include "debugger/screen_view.hpp"
#include "terminal/screen.hpp"

namespace poe::debugger {

class ScreenPrompt final : public Prompt {
  public:
    // Takes over the terminal. The caller must block SIGTSTP and report SIGWINCH by resized().
    // Throws Error if the terminal cannot show a screen.
    ScreenPrompt(Complete complete, bool unicode);

    void show(const std::string& prompt) override;
    // The last part of the answers and the output stays on the terminal.
    void hide() override;
    bool shown() const override { return screen_ != nullptr && !text_.prompt.empty(); }
    void print(const std::string& lines) override;
    void read() override;
    std::optional<Input> take() override;
    void discard() override;
    bool wants_picture() const override { return screen_ != nullptr; }
    void picture(Picture picture) override;
    void resized() override;

  private:
    void draw();
    void on_key(const terminal::Key& key);
    void type(const terminal::Key& key);
    void scroll(int lines);

    std::unique_ptr<terminal::Screen> screen_;
    Picture picture_;
    std::vector<std::string> source_;  // of picture_.file
    ScreenText text_;
    LineInput line_;
    std::deque<terminal::Key> typed_ahead_;  // while a command was being executed
    std::optional<Input> input_;
};

}  // namespace poe::debugger
