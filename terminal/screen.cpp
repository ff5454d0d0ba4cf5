// Implementation of screen.hpp. The only file that uses curses.
#include "terminal/screen.hpp"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <curses.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.hpp"
#include "terminal/terminal_rescue.hpp"

namespace poe::terminal {
namespace {

// An escape character is the escape key if nothing follows within this time.
constexpr int kEscapeMilliseconds = 25;

std::string capability(const char* name) {
    const char* value = ::tigetstr(const_cast<char*>(name));
    const auto number = reinterpret_cast<std::intptr_t>(value);
    return number == 0 || number == -1 ? "" : value;
}

// Returns the bytes that reset the terminal modes set by curses and this class.
std::string bytes_of_end(bool mouse) {
    return (mouse ? std::string("\033[?1006l\033[?1000l") : std::string()) + capability("sgr0") +
           capability("cnorm") + capability("rmkx") + capability("rmcup");
}

Colors colors_of_terminal(bool wanted) {
    if (!wanted || !has_colors()) return Colors::kNone;
    if (::tigetflag(const_cast<char*>("RGB")) > 0 && COLORS > 256) return Colors::kTrue;
    return COLORS >= 256 ? Colors::kMany : Colors::kSixteen;
}

std::optional<Key> key_of(int code) {
    using Kind = Key::Kind;
    struct Known {
        int code;
        Kind kind;
    };
    constexpr std::array<Known, 12> kKnown{{{KEY_UP, Kind::kUp},
                                            {KEY_DOWN, Kind::kDown},
                                            {KEY_LEFT, Kind::kLeft},
                                            {KEY_RIGHT, Kind::kRight},
                                            {KEY_PPAGE, Kind::kPageUp},
                                            {KEY_NPAGE, Kind::kPageDown},
                                            {KEY_HOME, Kind::kHome},
                                            {KEY_END, Kind::kEnd},
                                            {KEY_ENTER, Kind::kEnter},
                                            {KEY_BACKSPACE, Kind::kBackspace},
                                            {KEY_SF, Kind::kDown},
                                            {KEY_SR, Kind::kUp}}};
    for (const Known& known : kKnown)
        if (known.code == code) return Key{known.kind, 0, 0, 0};
    return std::nullopt;
}

std::optional<Key> key_of_mouse() {
    MEVENT event;
    if (::getmouse(&event) != OK) return std::nullopt;
    Key key{Key::Kind::kClick, 0, event.y, event.x};
    if ((event.bstate & BUTTON4_PRESSED) != 0)
        key.kind = Key::Kind::kWheelUp;
    else if ((event.bstate & BUTTON5_PRESSED) != 0)
        key.kind = Key::Kind::kWheelDown;
    else if ((event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) == 0)
        return std::nullopt;
    return key;
}

std::optional<Key> key_of_character(wint_t character) {
    using Kind = Key::Kind;
    if (character == '\r' || character == '\n') return Key{Kind::kEnter, 0, 0, 0};
    if (character == 27) return Key{Kind::kEscape, 0, 0, 0};
    if (character == 127 || character == '\b') return Key{Kind::kBackspace, 0, 0, 0};
    return Key{Kind::kCharacter, static_cast<char32_t>(character), 0, 0};
}

}  // namespace

Screen::Screen(const Settings& settings) {
    // Makes curses ignore LINES and COLUMNS, because a wrong LINES would truncate the screen.
    termios settings_before{};
    ::tcgetattr(STDOUT_FILENO, &settings_before);
    ::use_env(FALSE);
    ::use_tioctl(TRUE);
    // Without a handler in the program, curses ignores SIGTSTP while it writes, and the signal
    // would be lost.
    ::signal(SIGTSTP, [](int) {});
    SCREEN* terminal = ::newterm(nullptr, stdout, stdin);
    if (terminal == nullptr) {
        const char* kind = std::getenv("TERM");
        throw Error(std::string("cannot show a screen on a terminal of the kind TERM=") +
                    (kind != nullptr ? kind : "(unset)") +
                    "; set TERM to what it is, or write to a pipe (pmarray | cat)");
    }
    ::set_term(terminal);
    rescue_terminal(STDOUT_FILENO, bytes_of_end(settings.mouse), settings_before);
    ::set_escdelay(kEscapeMilliseconds);
    if (settings.colors && ::has_colors()) {
        ::start_color();
        ::use_default_colors();
    }
    palette_ = Palette(colors_of_terminal(settings.colors));
    if (settings.mouse) {
        ::mouseinterval(0);
        ::mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
    }
    begin();
}

void Screen::begin() {
    ::raw();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::leaveok(stdscr, TRUE);
    ::curs_set(0);
}

Screen::~Screen() {
    ::endwin();
    end_rescue();
}

Size Screen::size() const {
    return {COLS, LINES};
}

bool Screen::ready() const {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) > 0;
}

int Screen::pair_of(int foreground, int background) {
    if (foreground == Look::kDefault && background == Look::kDefault) return 0;
    return std::max(0, ::alloc_pair(foreground, background));
}

void Screen::draw(int line, int column, const Cell& cell) {
    const Look look = palette_.look_of(cell.style);
    attr_t attributes = A_NORMAL;
    if (look.bold) attributes |= A_BOLD;
    if (look.dim) attributes |= A_DIM;
    if (look.reverse) attributes |= A_REVERSE;
    int foreground = look.foreground;
    if (foreground >= 8 && foreground < 16 && COLORS < 16) {
        // With eight colours, the bright ones are shown as bold.
        foreground -= 8;
        attributes |= A_BOLD;
        if (foreground == 0) foreground = Look::kDefault;  // black on black would be invisible
    }
    // A terminal with eight colours has no bright backgrounds, so the plain colour is used.
    const int background =
        look.background >= 8 && COLORS < 16 ? look.background - 8 : look.background;
    int pair = pair_of(foreground, background);
    const std::array<wchar_t, 2> text{static_cast<wchar_t>(cell.glyph), L'\0'};
    cchar_t character;
    ::setcchar(&character, text.data(), attributes, 0, &pair);
    ::mvadd_wch(line, column, &character);
}

void Screen::show(const Grid& grid) {
    const Size size = grid.size();
    const bool all = !shown_ || shown_->size() != size;
    for (int line = 0; line < std::min(size.lines, LINES); ++line)
        for (int column = 0; column < std::min(size.columns, COLS); ++column) {
            const Cell& cell = grid.at(line, column);
            if (cell.glyph == 0) continue;  // drawn with its left half
            const bool wide = column + 1 < size.columns && grid.at(line, column + 1).glyph == 0;
            const bool was_wide =
                !all && column + 1 < size.columns && shown_->at(line, column + 1).glyph == 0;
            if (!all && !wide && !was_wide && shown_->at(line, column) == cell) continue;
            draw(line, column, cell);
        }
    shown_ = grid;
    ::wnoutrefresh(stdscr);
    ::doupdate();
}

void Screen::repaint() {
    ::clearok(curscr, TRUE);
    shown_.reset();
}

void Screen::resized() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        ::resizeterm(size.ws_row, size.ws_col);
    ::erase();
    repaint();
}

void Screen::leave() {
    ::endwin();
}

void Screen::come_back() {
    begin();
    resized();
}

std::optional<Key> Screen::key() {
    while (true) {
        wint_t code = 0;
        switch (::get_wch(&code)) {
            case OK:
                return key_of_character(code);
            case KEY_CODE_YES: {
                const auto key =
                    code == KEY_MOUSE ? key_of_mouse() : key_of(static_cast<int>(code));
                if (key) return key;
                break;  // a key without a meaning here
            }
            default:
                return std::nullopt;
        }
    }
}

}  // namespace poe::terminal
