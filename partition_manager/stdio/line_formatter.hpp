// LineFormatter: turns frames of many tasks into the bytes of one output. It puts labels before
// lines and ensures that lines of different tasks are never mixed. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.hpp"

namespace poe::pm {

// "   0:", as wide as the largest task id needs, but at least four columns. Source: the historical
// -labelio (task id right-justified, a colon, the text).
std::string task_label(TaskId task, TaskId tasks);

class LineFormatter {
  public:
    // Returns the text before each line of a task.
    using Label = std::function<std::string(TaskId)>;

    LineFormatter(bool labels, TaskId tasks);
    // An empty function: no labels.
    explicit LineFormatter(Label label) : make_label_(std::move(label)) {}

    // Appends `data` of `task` to `out`, with labels. `open`: the data ends within a line. If
    // another task's line is still open, it is ended first; the rest of that line becomes a
    // separate line.
    void append(std::string& out, TaskId task, std::string_view data, bool open);

    // To be called when the labels have changed.
    void relabel() { label_task_ = -1; }

    // To be called at the very end. With labels, it ends an open line, so that the shell's prompt
    // is on a line of its own.
    void finish(std::string& out);

  private:
    void append_labelled(std::string& out, TaskId task, std::string_view data, bool at_line_start);

    Label make_label_;
    TaskId open_task_ = -1;       // the task whose line is open; -1: none
    bool open_at_start_ = false;  // it ended with a carriage return: its next piece gets a label
    TaskId label_task_ = -1;      // the task of label_; -1: none
    std::string label_;
};

}  // namespace poe::pm
