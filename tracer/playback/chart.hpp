// Chart: the layout of a view with tasks from top to bottom and time from left to right. Each task
// gets as many lines as fit. If there are more tasks than lines, each row represents several tasks.
// Pure.
#pragma once

#include <optional>

#include "tracer/playback/view_context.hpp"

namespace poe::trace {

struct Chart {
    int left = 0;  // the columns to the left of it have the labels of the rows
    int columns = 0;
    int top = 1;  // line of the first row
    int rows = 0;
    int height = 1;  // lines of a row
    int gap = 0;     // blank lines between rows
    int group = 1;   // tasks per row
    TaskId first = 0;
    Stretch window;

    int lines() const { return rows * (height + gap); }
    int line_of(int row) const { return top + row * (height + gap); }
    TaskId task_of(int row) const { return first + row * group; }
    // The number of tasks from `first` that it can show; the job may have fewer.
    int tasks() const { return rows * group; }
    // Returns the row of a line, including the gap below the row.
    std::optional<int> row_at(int line) const {
        if (line < top || line >= top + lines()) return std::nullopt;
        return (line - top) / (height + gap);
    }
    // Returns the row of a task; empty if the chart does not show it.
    std::optional<int> row_of(TaskId task) const {
        if (task < first || task >= first + tasks()) return std::nullopt;
        return (task - first) / group;
    }
    // Returns the column of a moment in the window.
    int column(Time moment) const;
};

// Divides lines among rows of tasks; sets no columns and no window.
Chart rows_of_tasks(int lines, const ViewState& look, int tasks);
// Returns the layout of a chart with rows of tasks in a view of that size.
Chart place_of_chart(terminal::Size size, const ViewState& look, int tasks);
// Returns "3", or "3-5" for a row of several tasks.
std::string row_words(const Chart& chart, int row, int tasks);

// Returns the chart of a view, and draws its time axis below it.
Chart chart_of(terminal::Grid& grid, const ViewState& look, const ViewContext& easel);
// Returns ", in steps of 12 ms" if a chart with `columns` columns is drawn from sums that are
// farther apart than its columns; otherwise an empty string.
std::string step_words(const ViewContext& easel, Stretch window, int columns);
// Draws the task numbers to the left of the rows, with the selected one marked.
void draw_labels(terminal::Grid& grid, const ViewState& look, const ViewContext& easel,
                 const Chart& chart);
// Draws a line in the column of the current moment.
void draw_now(terminal::Grid& grid, const ViewState& look, const ViewContext& easel,
              const Chart& chart);

}  // namespace poe::trace
