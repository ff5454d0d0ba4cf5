// Labels and whole lines; see line_formatter.hpp.
#include "partition_manager/stdio/line_formatter.hpp"

#include <algorithm>

namespace poe::pm {

namespace {

constexpr std::size_t kMinimumWidth = 4;

// Finds in one pass where the lines in some bytes end: after a line feed, after a carriage return
// that no line feed follows, and at the end of the bytes.
class LineEnds {
  public:
    explicit LineEnds(std::string_view data)
        : data_(data), feed_(data.find('\n')), carriage_return_(data.find('\r')) {}

    // One past the end of the line that begins at `begin`. `begin` must not decrease.
    std::size_t next(std::size_t begin) {
        if (feed_ < begin) feed_ = data_.find('\n', begin);
        if (carriage_return_ < begin) carriage_return_ = data_.find('\r', begin);
        // The sequence CR LF is one line end.
        const std::size_t end =
            std::min(carriage_return_ + 1 == feed_ ? feed_ : carriage_return_, feed_);
        return end == std::string_view::npos ? data_.size() : end + 1;
    }

  private:
    std::string_view data_;
    std::size_t feed_;  // the next one of its kind; npos if there is none
    std::size_t carriage_return_;
};

}  // namespace

std::string task_label(TaskId task, TaskId tasks) {
    const std::size_t width = std::max(kMinimumWidth, std::to_string(tasks - 1).size());
    std::string number = std::to_string(task);
    return std::string(width - std::min(width, number.size()), ' ') + number + ":";
}

LineFormatter::LineFormatter(bool labels, TaskId tasks) {
    if (labels) make_label_ = [tasks](TaskId task) { return task_label(task, tasks); };
}

void LineFormatter::append(std::string& out, TaskId task, std::string_view data, bool open) {
    if (data.empty()) return;
    bool at_line_start = true;
    if (open_task_ == task)
        // CR and LF arrived in separate pieces.
        at_line_start = open_at_start_ && data.front() != '\n';
    else if (open_task_ >= 0)
        out += '\n';
    if (make_label_)
        append_labelled(out, task, data, at_line_start);
    else
        out.append(data);
    open_task_ = open || data.back() != '\n' ? task : -1;
    open_at_start_ = data.back() == '\r';
}

void LineFormatter::append_labelled(std::string& out, TaskId task, std::string_view data,
                                    bool at_line_start) {
    if (label_task_ != task) {
        label_ = make_label_(task);
        label_task_ = task;
    }
    LineEnds ends(data);
    for (std::size_t begin = 0; begin < data.size();) {
        const std::size_t end = ends.next(begin);
        if (at_line_start) out.append(label_);
        out.append(data.substr(begin, end - begin));
        begin = end;
        at_line_start = true;
    }
}

void LineFormatter::finish(std::string& out) {
    if (make_label_ && open_task_ >= 0) out += '\n';
    open_task_ = -1;
}

}  // namespace poe::pm
