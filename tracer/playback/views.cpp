// Implementation of views.hpp: the frame around the views (title, menu, help, hints), and the
// division of the screen among panes.
#include "tracer/playback/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/fold.hpp"
#include "base/suggest.hpp"
#include "terminal/words.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/controls.hpp"
#include "tracer/playback/panes.hpp"
#include "tracer/playback/view_parts.hpp"

namespace poe::trace {

using terminal::Grid;
using terminal::Ink;
using terminal::kDim;
using terminal::kStrong;
using terminal::kTitle;
using terminal::Size;
using terminal::Style;

namespace {

void copy(Grid& to, int line, int column, const Grid& from) {
    for (int l = 0; l < from.size().lines; ++l)
        for (int c = 0; c < from.size().columns; ++c) {
            const terminal::Cell& cell = from.at(l, c);
            to.put(line + l, column + c, cell.glyph, cell.style);
        }
}

void draw_title(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const TraceFacts& facts = easel.session.source().facts();
    const Stretch whole = easel.session.whole();
    const double share = whole.length() <= Time{0}
                             ? 0
                             : seconds_of(look.now - whole.from) / seconds_of(whole.length());
    const bool unicode = easel.glyphs.unicode();
    const std::string mode = look.direction > 0 ? (unicode ? "▶ " : "> ") + speed_words(look.speed)
                             : look.direction < 0
                                 ? (unicode ? "◀ " : "< ") + speed_words(look.speed)
                                 : std::string(unicode ? "‖" : "|");
    grid.fill(0, kTitle);
    const std::string right = fmt::format(
        "{} {} {:.0f}% ", mode, moment_words(look.now, look.window.length() / 1000), 100 * share);
    const int at = grid.size().columns - terminal::columns_of(right);
    if (at > 1)
        grid.put(0, 1,
                 fmt::format("vt {}  {}", facts.program,
                             count_words(static_cast<std::size_t>(facts.tasks), "task")),
                 kTitle, at - 2);
    grid.put(0, std::max(at, 0), right, kTitle);
}

void draw_hints(Grid& grid, const ViewState& look, const ViewContext& easel) {
    const int line = grid.size().lines - 1;
    if (line <= 0) return;
    if (look.prompt != ViewState::Prompt::kNone) {
        const char* what =
            look.prompt == ViewState::Prompt::kJump ? "go to (1.5s, 40%): " : "search: ";
        grid.put(line, 0, what + look.typed + (easel.glyphs.unicode() ? "▏" : "_"), kStrong);
        return;
    }
    if (!look.notice.empty()) {
        // A long notice covers lines of the views above.
        const std::string folded =
            fold(look.notice, static_cast<std::size_t>(std::max(grid.size().columns, 0)), 0);
        int at = line - static_cast<int>(std::count(folded.begin(), folded.end(), '\n'));
        std::istringstream words(folded);
        for (std::string part; std::getline(words, part); ++at) {
            for (int column = 0; column < grid.size().columns; ++column) grid.put(at, column, U' ');
            grid.put(at, 0, part, kStrong);
        }
        return;
    }
    const std::size_t problems = easel.session.source().problems().size();
    if (problems > 0 && grid.size().columns >= 70)
        grid.put_right(line, grid.size().columns - 1,
                       fmt::format("{} missing: vt -summary", count_words(problems, "thing")),
                       kDim);
    grid.put(line, 0, "? help  v views  space play  / search  j go to  q quit", kDim,
             std::max(grid.size().columns - (problems > 0 ? 34 : 0), 20));
}

void draw_menu(Grid& grid, const ViewState& look) {
    const std::vector<ViewKind> panes = panes_of(look, grid.size());
    std::string_view group;
    int line = 1;
    grid.put(line++, 1, "Views: a key shows one alone, its capital adds one or takes it away",
             kStrong);
    for (const std::string_view wanted : kViewGroups)
        for (const ViewName& view : view_names()) {
            if (view.group != wanted) continue;
            if (group != wanted) grid.put(line++, 1, wanted, kDim);
            group = wanted;
            const bool shown = std::find(panes.begin(), panes.end(), view.kind) != panes.end();
            grid.put(
                line++, 3,
                fmt::format("{} {}  {:<12} {}", shown ? '*' : ' ', view.key, view.name, view.what));
        }
    std::string all = "A group:";
    for (std::size_t i = 0; i < kViewGroups.size(); ++i)
        all += fmt::format("{} {} {}", i == 0 ? "" : ",", i + 1, kViewGroups[i]);
    grid.put(line, 1, all, kDim);
}

void draw_help(Grid& grid, const ViewState& look) {
    int line = 1;
    const auto& help = control_help();
    for (std::size_t i = std::min(look.sheet_top, help.size() - 1);
         i < help.size() && line < grid.size().lines - 1; ++i, ++line) {
        grid.put(line, 1, help[i].keys, kStrong);
        grid.put(line, 20, help[i].what);
    }
}

}  // namespace

char32_t level_glyph(double share, const terminal::Glyphs& glyphs) {
    constexpr std::u32string_view kShapes = U"▁▂▃▄▅▆▇█";
    constexpr std::u32string_view kLetters = U".:-=+*%#";
    const auto level = static_cast<std::size_t>(std::clamp(std::ceil(share * 8) - 1, 0.0, 7.0));
    return (glyphs.unicode() ? kShapes : kLetters)[level];
}

void tell_rest(Grid& grid, int next) {
    const int last = grid.size().lines - 1;
    if (next <= last + 1 || last <= 1) return;
    for (int column = 0; column < grid.size().columns; ++column) grid.put(last, column, U' ');
    grid.put(last, 1, fmt::format("{} more", next - last), kDim);
}

Grid draw_view(ViewKind kind, const ViewState& look, Size size, const ViewContext& easel) {
    using Draw = void (*)(Grid&, const ViewState&, const ViewContext&);
    constexpr std::array<Draw, kViews> kDraw{
        draw_timeline, draw_stream,  draw_matrix,      draw_connections,
        draw_messages, draw_balance, draw_utilization, draw_calls,
        draw_markers,  draw_system,  draw_source,      draw_wait_states,
        draw_causes,   draw_path,    draw_efficiency,  draw_flame};
    Grid grid(size);
    if (size.lines <= 0 || size.columns <= 0) return grid;
    grid.put(0, 0, name_of(kind).name, kStrong);
    kDraw[static_cast<std::size_t>(kind)](grid, look, easel);
    return grid;
}

Grid draw_screen(const ViewState& look, Size size, const ViewContext& easel) {
    Grid grid(size);
    if (size.lines <= 0 || size.columns <= 0) return grid;
    draw_title(grid, look, easel);
    if (look.sheet == ViewState::Sheet::kMenu) {
        draw_menu(grid, look);
    } else if (look.sheet == ViewState::Sheet::kHelp) {
        draw_help(grid, look);
    } else {
        const auto panes = panes_of(look, size);
        const auto places = places_of(panes, size);
        for (std::size_t i = 0; i < places.size(); ++i)
            copy(grid, places[i].line, places[i].column,
                 draw_view(panes[i], look, {places[i].columns, places[i].lines}, easel));
    }
    draw_hints(grid, look, easel);
    return grid;
}

}  // namespace poe::trace
