// Screen: the terminal, through curses, which sends only what differs from what is there. Puts the
// terminal back as it was on every way out, that of a crash included.
#pragma once

#include <optional>
#include <vector>

#include "terminal/grid.hpp"
#include "terminal/key.hpp"
#include "terminal/palette.hpp"

namespace poe::terminal {

// One at a time in a process; one thread.
class Screen {
  public:
    struct Settings {
        bool colors = true;  // as many as the terminal has; false: none
        bool mouse = true;
    };

    // Takes over the terminal on standard input and output, and SIGTSTP: the caller blocks it, and
    // calls leave() and come_back() around a stop. Throws Error when its kind (TERM) is
    // not known or cannot show a screen.
    explicit Screen(const Settings& settings);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    Size size() const;
    // False if the terminal has no colours, or none are wanted.
    bool colored() const { return palette_.colored(); }
    // Whether the terminal takes output now. Never blocks.
    bool ready() const;
    // Shows the grid, which has this size; blocks while the terminal does not take it.
    void show(const Grid& grid);
    // Sends all of it again with the next show().
    void repaint();
    // The terminal's size has changed (SIGWINCH).
    void resized();
    // Gives the terminal back for a while (SIGTSTP), and takes it again.
    void leave();
    void come_back();
    // A key that has been pressed, if any. Never blocks.
    std::optional<Key> key();

  private:
    void begin();
    void draw(int line, int column, const Cell& cell);
    int pair_of(int foreground, int background);

    Palette palette_{Colors::kNone};
    std::optional<Grid> shown_;
};

}  // namespace poe::terminal
