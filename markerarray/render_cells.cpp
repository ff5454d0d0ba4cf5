// The cell display: one cell per task or per group of neighbouring tasks, which shows the most
// severe state of the group. Below it is a legend with the number of tasks per state.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "markerarray/render_parts.hpp"

namespace poe::markers {
namespace {

// "● 12 computing  ◀ 3 receiving": counts all tasks, on this screen or not.
void draw_legend(Grid& grid, const Scene& scene, const Glyphs& glyphs, int line,
                 const CellPlan& plan) {
    std::array<std::size_t, kActivities> counts{};
    for (const std::uint32_t row : scene.order)
        ++counts[static_cast<std::size_t>(scene.picture.rows[row].activity)];
    int at = 1;
    if (plan.tasks_per_cell > 1)
        at = 2 + grid.put(line, at, fmt::format("{} tasks per cell:", plan.tasks_per_cell));
    for (std::size_t i = kActivities; i-- > 1;) {
        if (counts[i] == 0) continue;
        const auto activity = static_cast<Activity>(i);
        const Style style{Ink::kActivity, static_cast<std::uint8_t>(i), false};
        at = grid.put(line, at, glyphs.activity(activity), style);
        at = 2 + grid.put(line, at + 1, fmt::format("{} {}", counts[i], activity_word(activity)));
    }
}

}  // namespace

void draw_cells(Grid& grid, const Scene& scene, const Glyphs& glyphs, int from, int to) {
    const CellPlan plan = cell_plan(scene.order.size(), scene.view, grid.size(), scene.progress);
    // There are no headings, so their line is used too; the legend takes the last line.
    if (to - from > rows_that_fit(grid.size(), scene.progress)) ++from;
    draw_legend(grid, scene, glyphs, to - 1, plan);
    const std::size_t selected = position_of(scene.order, scene.view.selected);
    std::size_t cell = scene.view.top * plan.cells_per_line;
    for (int line = from; line < to - 1; ++line)
        for (std::size_t i = 0; i < plan.cells_per_line; ++i, ++cell) {
            const std::size_t first = cell * plan.tasks_per_cell;
            if (first >= scene.order.size()) return;
            const CellContent content = cell_at(scene.picture, scene.order, plan, first);
            const Activity worst = scene.picture.rows[scene.order[content.worst]].activity;
            const bool here = selected >= first && selected < content.last;
            grid.put(line, static_cast<int>(i) + 1, glyphs.activity(worst),
                     {Ink::kActivity, static_cast<std::uint8_t>(worst), here});
        }
}

}  // namespace poe::markers
