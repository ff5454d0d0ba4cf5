// Implementation of view.hpp.
#include "markerarray/view.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace poe::markers {
namespace {

// A table with more screens than this is shown as cells.
constexpr std::size_t kScreenfuls = 4;

double share_of(const TaskRow& row) {
    return row.progress.total == 0
               ? -1.0
               : static_cast<double>(row.progress.done) / static_cast<double>(row.progress.total);
}

// Puts the most interesting rows first.
bool before(const TaskRow& a, const TaskRow& b, SortBy sort) {
    switch (sort) {
        case SortBy::kState:
            return a.activity > b.activity;
        case SortBy::kCpu:
            return a.cpu_percent > b.cpu_percent;
        case SortBy::kMemory:
            return a.memory > b.memory;
        case SortBy::kTraffic:
            return a.sent_per_second + a.received_per_second >
                   b.sent_per_second + b.received_per_second;
        case SortBy::kWait:
            return a.waits_ms > b.waits_ms;
        case SortBy::kProgress:
            return share_of(a) < share_of(b);
        case SortBy::kText:
            return a.text < b.text;
        case SortBy::kTask:
            break;
    }
    return a.task < b.task;
}

std::size_t sum_lines(std::size_t things, std::size_t per_line) {
    return (things + per_line - 1) / per_line;
}

}  // namespace

std::string_view sort_word(SortBy sort) {
    constexpr std::array<std::string_view, kSortKeys> kWords{
        "task", "state", "cpu", "memory", "traffic", "wait", "progress", "text"};
    return kWords[static_cast<std::size_t>(sort)];
}

Order order_of(const Picture& picture, const View& view) {
    Order order;
    order.reserve(picture.rows.size());
    for (std::uint32_t i = 0; i < picture.rows.size(); ++i)
        if (view.filter.empty() || view.filter.passes(picture.rows[i], picture.job) ||
            view.pinned.contains(picture.rows[i].task))
            order.push_back(i);
    const auto& rows = picture.rows;
    if (view.sort != SortBy::kTask)
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return before(rows[a], rows[b], view.sort);
        });
    if (view.backwards) std::reverse(order.begin(), order.end());
    if (!view.pinned.empty())
        std::stable_partition(order.begin(), order.end(), [&](std::uint32_t row) {
            return view.pinned.contains(rows[row].task);
        });
    return order;
}

// Title, job's progress and headings are above the rows, a line for hints and prompts below. Small
// screens omit some of these.
int rows_that_fit(Size size, bool progress) {
    if (size.lines < 3) return std::max(0, size.lines - 1);
    const int heads = size.lines < 8 ? 0 : 1;
    const int bar = progress && size.lines >= 6 ? 1 : 0;
    return size.lines - 2 - heads - bar;
}

Display display_of(const View& view, std::size_t tasks, Size size, bool progress) {
    if (view.display != Display::kAuto) return view.display;
    const auto fit = static_cast<std::size_t>(std::max(1, rows_that_fit(size, progress)));
    return tasks > kScreenfuls * fit ? Display::kCells : Display::kRows;
}

CellPlan cell_plan(std::size_t tasks, const View& view, Size size, bool progress) {
    CellPlan plan;
    // One line of the room for rows is the legend.
    plan.lines = static_cast<std::size_t>(std::max(1, rows_that_fit(size, progress) - 1));
    plan.cells_per_line = static_cast<std::size_t>(std::max(1, size.columns - 2));
    while (plan.tasks_per_cell * plan.cells_per_line * plan.lines < tasks) plan.tasks_per_cell *= 2;
    for (int step = 0; step < view.zoom && plan.tasks_per_cell > 1; ++step)
        plan.tasks_per_cell /= 2;
    return plan;
}

CellContent cell_at(const Picture& picture, const Order& order, const CellPlan& plan,
                    std::size_t position) {
    CellContent cell;
    cell.first = cell.worst = position / plan.tasks_per_cell * plan.tasks_per_cell;
    cell.last = std::min(cell.first + plan.tasks_per_cell, order.size());
    for (std::size_t at = cell.first; at < cell.last; ++at)
        if (picture.rows[order[at]].activity > picture.rows[order[cell.worst]].activity)
            cell.worst = at;
    return cell;
}

std::size_t position_of(const Order& order, TaskId task) {
    const auto found = std::find(order.begin(), order.end(), static_cast<std::uint32_t>(task));
    return found == order.end() ? 0 : static_cast<std::size_t>(found - order.begin());
}

void settle(View& view, const Order& order, Size size, bool progress) {
    const Display display = display_of(view, order.size(), size, progress);
    if (display != Display::kRows && display != Display::kCells) return;
    if (order.empty()) {
        view.top = 0;
        return;
    }
    const std::size_t position = position_of(order, view.selected);
    view.selected = static_cast<TaskId>(order[position]);
    std::size_t line = position;
    std::size_t lines = order.size();
    auto fit = static_cast<std::size_t>(std::max(1, rows_that_fit(size, progress)));
    if (display == Display::kCells) {
        const CellPlan plan = cell_plan(order.size(), view, size, progress);
        line = position / plan.tasks_per_cell / plan.cells_per_line;
        lines = sum_lines(sum_lines(order.size(), plan.tasks_per_cell), plan.cells_per_line);
        fit = plan.lines;
    }
    if (view.top > line) view.top = line;
    if (line >= view.top + fit) view.top = line - fit + 1;
    if (view.top + fit > lines) view.top = lines > fit ? lines - fit : 0;
}

}  // namespace poe::markers
