// LineFormatter: from frames of many tasks to the bytes of one output. Puts labels before lines and
// sees to it that a line of one task never gets into a line of another. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.hpp"

namespace poe::pm {

// "   0:", as wide as the largest task id needs, four columns at least (facts of the historical
// -labelio: task id right-justified, a colon, the text).
std::string task_label(TaskId task, TaskId tasks);

class LineFormatter {
  public:
    // What stands before each line of a task.
    using Label = std::function<std::string(TaskId)>;

    LineFormatter(bool labels, TaskId tasks);
    // Without a function: no labels.
    explicit LineFormatter(Label label) : make_label_(std::move(label)) {}

    // Appends what `data` of `task` becomes to `out`. `open`: it stops in mid-line. When another
    // task's line is still open, it is ended first; its rest comes on a line of its own.
    void append(std::string& out, TaskId task, std::string_view data, bool open);

    // What stands before lines is no longer what it was.
    void relabel() { label_task_ = -1; }

    // At the very end: with labels, ends an open line, so that the shell's prompt stands alone.
    void finish(std::string& out);

  private:
    void append_labelled(std::string& out, TaskId task, std::string_view data, bool at_line_start);

    Label make_label_;
    TaskId open_task_ = -1;       // whose line is open, -1 none
    bool open_at_start_ = false;  // it ended in a carriage return: its next piece gets a label
    TaskId label_task_ = -1;      // label_ is this task's
    std::string label_;
};

}  // namespace poe::pm
