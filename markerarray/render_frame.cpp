// The frame of a screen: title, the job's progress, hints and prompts; and the help.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "markerarray/keys.hpp"
#include "markerarray/pace.hpp"
#include "markerarray/render.hpp"
#include "markerarray/render_parts.hpp"
#include "terminal/colors.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

std::string title_words(const Scene& scene) {
    const Picture& picture = scene.picture;
    const std::string& program = picture.job.program;
    std::string text = fmt::format(
        "{}  {}{}  {}", program.empty() ? "job " + picture.job.id : program,
        count_words(picture.rows.size(), "task"),
        picture.job.nodes.size() > 1 ? " on " + count_words(picture.job.nodes.size(), "node") : "",
        time_words(picture.elapsed));
    if (picture.ended) text += "  ended";
    if (scene.view.standing)
        text += fmt::format("  [{} ago]", time_words(scene.present - *scene.view.standing));
    return text;
}

// Draws the number of tasks in each state at the right of the title.
int draw_counts(Grid& grid, const Scene& scene, const Glyphs& glyphs) {
    std::array<std::size_t, kActivities> counts{};
    for (const TaskRow& row : scene.picture.rows) ++counts[static_cast<std::size_t>(row.activity)];
    int at = grid.size().columns;
    for (std::size_t i = 1; i < kActivities; ++i) {
        if (counts[i] == 0) continue;
        const std::string number = std::to_string(counts[i]);
        at -= static_cast<int>(number.size()) + 3;
        if (at < 0) return at;
        grid.put(0, at, glyphs.activity(static_cast<Activity>(i)), kTitle);
        grid.put(0, at + 1, number, kTitle);
    }
    return at;
}

void draw_title(Grid& grid, const Scene& scene, const Glyphs& glyphs) {
    grid.fill(0, kTitle);
    const std::string words = title_words(scene);
    const int wanted = columns_of(words) + 2;
    // If there is little room, the counts are omitted first.
    if (grid.size().columns >= 60) {
        Grid counted = grid;
        if (draw_counts(counted, scene, glyphs) > wanted) grid = std::move(counted);
    }
    grid.put(0, grid.size().columns < 40 ? 0 : 1, words, kTitle);
}

void draw_job_progress(Grid& grid, const Scene& scene, const Glyphs& glyphs, int line) {
    const JobProgress job = progress_of(scene.picture);
    const std::string words = pace_words(job.progress, job.pace);
    const int width = std::clamp(grid.size().columns - columns_of(words) - 4, 4, 60);
    const int at =
        grid.put(line, 1, glyphs.bar(width, share_of(job.progress)), {Ink::kBar, 0, false});
    grid.put(line, at + 1, words);
}

// Describes the selected cell of kCells.
std::string cell_words(const Scene& scene, Size size) {
    if (scene.order.empty()) return "";
    const CellPlan plan = cell_plan(scene.order.size(), scene.view, size, scene.progress);
    const CellContent cell =
        cell_at(scene.picture, scene.order, plan, position_of(scene.order, scene.view.selected));
    const TaskRow& worst = scene.picture.rows[scene.order[cell.worst]];
    return fmt::format("[task {}: {}]  ", worst.task, doing_words(worst));
}

// Returns how many rows do not fit on the screen.
std::size_t rows_not_shown(const Scene& scene, Size size) {
    const auto fit = static_cast<std::size_t>(std::max(0, rows_that_fit(size, scene.progress)));
    return scene.order.size() > fit ? scene.order.size() - fit : 0;
}

std::string hints(const Scene& scene, Display display, Size size) {
    const View& view = scene.view;
    switch (display) {
        case Display::kHelp:
        case Display::kTask:
            return "Enter back  up down scroll  q back";
        case Display::kJobs:
            return "up down select  Enter shows it  q back";
        default:
            break;
    }
    std::string text = display == Display::kCells ? cell_words(scene, size) : "";
    if (!view.filter_text.empty())
        text += fmt::format("[{}: {} of {}]  ", view.filter_text, scene.order.size(),
                            scene.picture.rows.size());
    if (view.sort != SortBy::kTask || view.backwards)
        text +=
            fmt::format("[by {}{}]  ", sort_word(view.sort), view.backwards ? ", backwards" : "");
    if (display == Display::kRows)
        if (const std::size_t more = rows_not_shown(scene, size); more > 0)
            text += fmt::format("[{} more]  ", more);
    return text + "? help  Enter details  f filter  s sort  a grid  p pause  L jobs  q quit";
}

void draw_foot(Grid& grid, const Scene& scene, Display display) {
    const int line = grid.size().lines - 1;
    const View& view = scene.view;
    if (!view.notice.empty()) {
        grid.put(line, 0, view.notice, {Ink::kStrong, 0, false});
        return;
    }
    if (view.prompt != Prompt::kNone) {
        const int at = grid.put(line, 0,
                                view.prompt == Prompt::kFilter   ? "filter: "
                                : view.prompt == Prompt::kSignal ? "signal to the job (Esc: none): "
                                                                 : "/",
                                {Ink::kStrong, 0, false});
        const int end = grid.put(line, at, view.typed);
        grid.put(line, end, U' ', {Ink::kPlain, 0, true});
        return;
    }
    grid.put(line, 0, hints(scene, display, grid.size()), {Ink::kDim, 0, false});
}

}  // namespace

void draw_help(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to) {
    constexpr int kWhat = 18;
    std::size_t skip = scene.view.top;
    const auto next = [&] {
        if (skip > 0) {
            --skip;
            return -1;
        }
        return from < to ? from++ : -1;
    };
    for (const KeyHelp& help : key_help()) {
        const int line = next();
        grid.put(line, 1, help.keys, {Ink::kStrong, 0, false});
        grid.put(line, kWhat, help.what);
    }
    next();
    for (std::size_t i = 1; i < kActivities; ++i) {
        const int line = next();
        const auto activity = static_cast<Activity>(i);
        grid.put(line, 1, glyphs.activity(activity),
                 {Ink::kActivity, static_cast<std::uint8_t>(i), false});
        grid.put(line, 3, activity_word(activity));
        if (i > kNamedColors.size()) continue;
        const int color = kNamedColors[i - 1].color;
        grid.put(line, kWhat, glyphs.light(color),
                 {Ink::kLight, static_cast<std::uint8_t>(color), false});
        grid.put(line, kWhat + 2, kNamedColors[i - 1].name);
    }
}

Grid render(const Scene& scene, Size size, const Glyphs& glyphs) {
    Grid grid(size);
    if (size.lines < 1 || size.columns < 1) return grid;
    draw_title(grid, scene, glyphs);
    if (size.lines < 2) return grid;
    int from = 1;
    if (scene.progress && size.lines >= 6) draw_job_progress(grid, scene, glyphs, from++);
    const int to = size.lines >= 3 ? size.lines - 1 : size.lines;
    const Display display = display_of(scene.view, scene.order.size(), size, scene.progress);
    switch (display) {
        case Display::kCells:
            draw_cells(grid, scene, glyphs, from, to);
            break;
        case Display::kTask:
            draw_task(grid, scene, glyphs, from, to);
            break;
        case Display::kJobs:
            draw_jobs(grid, scene, from, to);
            break;
        case Display::kHelp:
            draw_help(grid, scene, glyphs, from, to);
            break;
        default:
            draw_rows(grid, scene, glyphs, from, to, true);
    }
    if (size.lines >= 3) draw_foot(grid, scene, display);
    return grid;
}

Grid render_rows_only(const Scene& scene, Size size, const Glyphs& glyphs) {
    Grid grid(size);
    if (size.lines < 1 || size.columns < 1) return grid;
    draw_title(grid, scene, glyphs);
    int from = 1;
    if (scene.progress && size.lines >= 6) draw_job_progress(grid, scene, glyphs, from++);
    draw_rows(grid, scene, glyphs, from, size.lines, false);
    return grid;
}

Grid render_status(const Scene& scene, int columns, const Glyphs& glyphs) {
    constexpr int kBar = 20;
    Grid grid({columns, 1});
    if (columns < 1) return grid;
    draw_title(grid, scene, glyphs);
    if (!scene.progress) return grid;
    const JobProgress job = progress_of(scene.picture);
    const int at = columns_of(title_words(scene)) + 3;
    const int end = grid.put(0, at, glyphs.bar(kBar, share_of(job.progress)), kTitle, columns - at);
    grid.put(0, end + 1, pace_words(job.progress, job.pace) + "  ", kTitle);
    return grid;
}

Grid render_waiting(Size size, const std::string& text) {
    Grid grid(size);
    if (size.lines < 1 || size.columns < 1) return grid;
    grid.fill(0, kTitle);
    grid.put(0, size.columns < 40 ? 0 : 1, text, kTitle);
    return grid;
}

}  // namespace poe::markers
