// A terminal without a window: a pseudo-terminal with a program behind it, and libvterm in front,
// which keeps the screen that a person would see.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <termios.h>
#include <vector>
#include <vterm.h>

#include "base/unique_fd.hpp"

namespace poe::test {

class Terminal {
  public:
    // Starts the program; `environment` is added to a bare one (a locale of UTF-8,
    // TERM=xterm-256color).
    Terminal(int lines, int columns, const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment = {});
    ~Terminal();

    // Takes in what the program writes until the condition holds; false after a long while.
    bool wait_until(const std::function<bool()>& condition);
    // The same until this text is on the screen.
    bool wait_for(const std::string& text);
    // Takes in what comes until nothing has come for so many frames of the program.
    void settle();
    void type(const std::string& text);
    void resize(int lines, int columns);
    void signal(int number) const;

    std::string line(int number) const;
    std::string text() const;
    VTermScreenCell cell(int line, int column) const;
    // The first place of a text; -1 when it is not there.
    std::pair<int, int> find(const std::string& text) const;

    std::size_t bytes() const { return bytes_; }  // that the program has written
    bool on_other_screen() const { return other_screen_; }
    bool cursor_visible() const { return cursor_visible_; }
    int mouse_mode() const { return mouse_mode_; }
    // Whether the terminal's settings are those that it had before the program was started.
    bool settings_as_before() const;
    // Waits until the program is stopped, by a signal; false after a long while.
    bool wait_until_stopped();
    pid_t pid() const { return pid_; }
    // Waits for the program's end; its status as from waitpid, -1 after a long while.
    int end();

  private:
    bool take_in(int milliseconds);
    static int on_property(VTermProp property, VTermValue* value, void* self);

    VTerm* vterm_;
    VTermScreen* screen_ = nullptr;
    int lines_;
    int columns_;
    UniqueFd master_;
    UniqueFd slave_;  // so that settings can be asked for when the program has ended
    termios before_{};
    pid_t pid_ = -1;
    std::size_t bytes_ = 0;
    bool other_screen_ = false;
    bool cursor_visible_ = true;
    int mouse_mode_ = 0;
};

}  // namespace poe::test
