// See screen_view.hpp.
#include "debugger/screen_view.hpp"

#include <algorithm>

#include "terminal/glyphs.hpp"

namespace poe::debugger {

namespace {

using terminal::Activity;
using terminal::Grid;
using terminal::Ink;
using terminal::Size;
using terminal::Style;

// The tasks on a line take this many columns of its margin.
constexpr int kMarginColumns = 12;
constexpr int kTab = 8;
// With fewer lines there is only the log.
constexpr int kFewestLines = 12;

std::string without_tabs(const std::string& line) {
    std::string text;
    for (const char letter : line) {
        if (letter != '\t') {
            text += letter;
            continue;
        }
        do text += ' ';
        while (terminal::columns_of(text) % kTab != 0);
    }
    return text;
}

// "0-3 5"; if it is too long, how many there are: "17 tasks".
std::string margin_words(const TaskSet& tasks, int columns) {
    std::string ranges = in_ranges(tasks);
    if (static_cast<int>(ranges.size()) <= columns) return ranges;
    return std::to_string(tasks.size()) + " tasks";
}

// A title bar: the name of the part, and what it shows.
void put_title(Grid& grid, int line, const std::string& text) {
    grid.fill(line, terminal::kTitle);
    grid.put(line, 1, text, terminal::kTitle);
}

// A cell for each task, in lines of whole tens. Returns the number of lines.
int put_lights(Grid& grid, const std::vector<Activity>& tasks, const terminal::Glyphs& glyphs,
               int most) {
    const int columns = std::max(10, (grid.size().columns - 6) / 10 * 10);
    const int count = static_cast<int>(tasks.size());
    const int lines = std::min(most, (count + columns - 1) / columns);
    for (int line = 0; line < lines; ++line) {
        grid.put_right(line, 5, std::to_string(line * columns), terminal::kDim);
        for (int i = line * columns; i < std::min(count, (line + 1) * columns); ++i) {
            const Activity activity = tasks[static_cast<std::size_t>(i)];
            grid.put(line, 6 + i - line * columns, glyphs.activity(activity),
                     Style{Ink::kActivity, static_cast<std::uint8_t>(activity)});
        }
    }
    return lines;
}

void put_source(Grid& grid, int top, int lines, const Picture& picture,
                const std::vector<std::string>& source) {
    const int last = static_cast<int>(source.size());
    int first = std::clamp(picture.line - lines / 2, 1, std::max(1, last - lines + 1));
    for (int i = 0; i < lines && first + i <= last; ++i) {
        const int number = first + i;
        const auto mark = picture.marks.find(number);
        const bool here = mark != picture.marks.end();
        if (here)
            grid.put_right(top + i, kMarginColumns, margin_words(mark->second, kMarginColumns - 1),
                           Style{Ink::kActivity, static_cast<std::uint8_t>(Activity::kStopped)});
        grid.put_right(top + i, kMarginColumns + 6, std::to_string(number), terminal::kDim);
        grid.put(top + i, kMarginColumns + 7,
                 without_tabs(source[static_cast<std::size_t>(number) - 1]),
                 here ? terminal::kStrong : Style{});
        if (number == picture.line) grid.put(top + i, kMarginColumns, U'>', terminal::kStrong);
    }
}

void put_log(Grid& grid, int top, int lines, const ScreenText& text) {
    std::deque<std::string> shown;
    std::size_t skip = text.back;
    for (auto line = text.log.rbegin();
         line != text.log.rend() && static_cast<int>(shown.size()) < lines; ++line) {
        const std::vector<std::string> parts = wrapped(*line, grid.size().columns);
        for (auto part = parts.rbegin();
             part != parts.rend() && static_cast<int>(shown.size()) < lines; ++part) {
            if (skip > 0)
                --skip;
            else
                shown.push_front(*part);
        }
    }
    for (std::size_t i = 0; i < shown.size(); ++i) grid.put(top + static_cast<int>(i), 0, shown[i]);
}

void put_input(Grid& grid, int line, const ScreenText& text) {
    if (text.prompt.empty()) {
        grid.put(line, 0, "running; Ctrl-C stops the tasks", terminal::kDim);
        return;
    }
    int column = grid.put(line, 0, text.prompt);
    // A line that is too long is shown around its cursor.
    const auto room = static_cast<std::size_t>(std::max(1, grid.size().columns - column - 1));
    const std::size_t begin = text.cursor < room ? 0 : text.cursor - room + 1;
    for (std::size_t i = begin; i <= text.input.size() && i < begin + room; ++i) {
        Style style;
        style.selected = i == text.cursor;
        std::string letter;
        terminal::append_utf8(letter, i < text.input.size() ? text.input[i] : U' ');
        column = grid.put(line, column, letter, style);
    }
}

}  // namespace

std::vector<std::string> wrapped(const std::string& line, int columns) {
    std::vector<std::string> parts(1);
    int used = 0;
    const std::string text = without_tabs(line);
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) ++end;
        const std::string letter = text.substr(begin, end - begin);
        const int width = terminal::columns_of(letter);
        if (used + width > columns && used > 0) {
            parts.emplace_back();
            used = 0;
        }
        parts.back() += letter;
        used += width;
        begin = end;
    }
    return parts;
}

terminal::Grid draw_screen(const Picture& picture, const std::vector<std::string>& source,
                           const ScreenText& text, terminal::Size size) {
    Grid grid(size);
    const int last = size.lines - 1;
    put_input(grid, last, text);
    int top = 0;
    if (size.lines >= kFewestLines) {
        top = put_lights(grid, picture.tasks, terminal::Glyphs(text.unicode), size.lines / 6);
        if (!source.empty()) {
            const int lines = (last - top) * 2 / 5;
            put_title(grid, top, picture.file);
            put_source(grid, top + 1, lines, picture, source);
            top += 1 + lines;
        }
        if (!picture.stacks.empty()) {
            const int lines =
                std::min(static_cast<int>(picture.stacks.size()), (last - top) * 2 / 5);
            const bool all = lines == static_cast<int>(picture.stacks.size());
            put_title(grid, top, all ? "stacks" : "stacks (where shows all)");
            for (int i = 0; i < lines; ++i)
                grid.put(top + 1 + i, 0, picture.stacks[static_cast<std::size_t>(i)]);
            top += 1 + lines;
        }
        put_title(grid, top++,
                  text.back > 0 ? "answers and output (scrolled back)" : "answers and output");
    }
    put_log(grid, top, last - top, text);
    return grid;
}

}  // namespace poe::debugger
