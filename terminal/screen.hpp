// Screen: the terminal, through curses, which sends only the differences. Restores the terminal on
// every exit, including a crash.
#pragma once

#include <optional>
#include <vector>

#include "terminal/grid.hpp"
#include "terminal/key.hpp"
#include "terminal/palette.hpp"

namespace poe::terminal {

// One object at a time per process; for one thread.
class Screen {
  public:
    struct Settings {
        bool colors = true;  // as many as the terminal has; false: none
        bool mouse = true;
    };

    // Takes over the terminal on standard input and output, and SIGTSTP: the caller must block
    // SIGTSTP, and call leave() and come_back() around a stop. Throws Error if the terminal type
    // (TERM) is unknown or cannot show a screen.
    explicit Screen(const Settings& settings);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    Size size() const;
    // False if the terminal has no colours, or none are wanted.
    bool colored() const { return palette_.colored(); }
    // True if the terminal accepts output now. Never blocks.
    bool ready() const;
    // Shows the grid, which must have this size. Blocks while the terminal does not accept output.
    void show(const Grid& grid);
    // Makes the next show() send the whole screen.
    void repaint();
    // Call after the terminal's size has changed (SIGWINCH).
    void resized();
    // Restores the terminal for a while (SIGTSTP), and takes it over again.
    void leave();
    void come_back();
    // Returns a key that was pressed; empty if there is none. Never blocks.
    std::optional<Key> key();

  private:
    void begin();
    void draw(int line, int column, const Cell& cell);
    int pair_of(int foreground, int background);

    Palette palette_{Colors::kNone};
    std::optional<Grid> shown_;
};

}  // namespace poe::terminal
