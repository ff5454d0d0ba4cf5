// Chart: where a view puts tasks from top to bottom and time from left to right. Tasks get as many
// lines as there is room for; if there are more tasks than lines, each row stands for several of
// them. Pure.
#pragma once

#include <optional>

#include "tracer/playback/easel.hpp"

namespace poe::trace {

struct Chart {
    int left = 0;  // the columns before it have the labels of the rows
    int columns = 0;
    int top = 1;  // line of the first row
    int rows = 0;
    int height = 1;  // lines of a row
    int gap = 0;     // blank lines between rows
    int group = 1;   // tasks in a row
    TaskId first = 0;
    Stretch window;

    int lines() const { return rows * (height + gap); }
    int line_of(int row) const { return top + row * (height + gap); }
    TaskId task_of(int row) const { return first + row * group; }
    // Tasks from `first` on that it shows, as far as there are so many.
    int tasks() const { return rows * group; }
    // The row that a line belongs to, the gap below it included.
    std::optional<int> row_at(int line) const {
        if (line < top || line >= top + lines()) return std::nullopt;
        return (line - top) / (height + gap);
    }
    // The row of a task; nothing if the chart does not show it.
    std::optional<int> row_of(TaskId task) const {
        if (task < first || task >= first + tasks()) return std::nullopt;
        return (task - first) / group;
    }
    // Of a moment in the window.
    int column(Time moment) const;
};

// How rows of tasks share lines below each other: no columns, no window.
Chart rows_of_tasks(int lines, const Look& look, int tasks);
// Where a chart with rows of tasks goes in a view of that size.
Chart place_of_chart(terminal::Size size, const Look& look, int tasks);
// "3", or "3-5" for a row of several tasks.
std::string row_words(const Chart& chart, int row, int tasks);

// The chart of a view, with its time axis drawn below it.
Chart chart_of(terminal::Grid& grid, const Look& look, const Easel& easel);
// ", in steps of 12 ms" where a chart of so many columns is drawn by sums that are farther apart
// than its columns; else nothing.
std::string step_words(const Easel& easel, Stretch window, int columns);
// The tasks before each row, the selected one marked.
void draw_labels(terminal::Grid& grid, const Look& look, const Easel& easel, const Chart& chart);
// The column of the moment.
void draw_now(terminal::Grid& grid, const Look& look, const Easel& easel, const Chart& chart);

}  // namespace poe::trace
