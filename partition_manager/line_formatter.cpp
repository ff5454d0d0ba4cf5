// Labels and line integrity; see line_formatter.hpp.
#include "partition_manager/line_formatter.hpp"

#include <algorithm>
#include <cstring>

namespace poe::pm {

namespace {

constexpr std::size_t kMinimumWidth = 4;

// One past the first line end in `data`: a line feed, or a carriage return that is not followed by
// one. The end of `data` when there is none.
std::size_t line_length(std::string_view data, bool& has_carriage_returns) {
    const void* feed = std::memchr(data.data(), '\n', data.size());
    const std::size_t end =
        feed == nullptr
            ? data.size()
            : static_cast<std::size_t>(static_cast<const char*>(feed) - data.data()) + 1;
    if (!has_carriage_returns) return end;
    for (std::size_t at = 0; at + 1 < end; ++at)
        if (data[at] == '\r' && data[at + 1] != '\n') return at + 1;
    return end;
}

}  // namespace

std::string task_label(TaskId task, TaskId tasks) {
    const std::size_t width = std::max(kMinimumWidth, std::to_string(tasks - 1).size());
    std::string number = std::to_string(task);
    return std::string(width - std::min(width, number.size()), ' ') + number + ":";
}

LineFormatter::LineFormatter(bool labels, TaskId tasks) : labels_(labels), tasks_(tasks) {}

void LineFormatter::append(std::string& out, TaskId task, std::string_view data, bool open) {
    if (data.empty()) return;
    bool at_line_start = true;
    if (open_task_ == task)
        at_line_start = open_at_start_ && data.front() != '\n';  // CR and LF came apart
    else if (open_task_ >= 0)
        out += '\n';
    if (labels_)
        append_labelled(out, task, data, at_line_start);
    else
        out.append(data);
    open_task_ = open || data.back() != '\n' ? task : -1;
    open_at_start_ = data.back() == '\r';
}

void LineFormatter::append_labelled(std::string& out, TaskId task, std::string_view data,
                                    bool at_line_start) {
    if (label_task_ != task) {
        label_ = task_label(task, tasks_);
        label_task_ = task;
    }
    bool carriage_returns = std::memchr(data.data(), '\r', data.size()) != nullptr;
    while (!data.empty()) {
        const std::size_t length = line_length(data, carriage_returns);
        if (at_line_start) out.append(label_);
        out.append(data.substr(0, length));
        data.remove_prefix(length);
        at_line_start = true;
    }
}

void LineFormatter::finish(std::string& out) {
    if (labels_ && open_task_ >= 0) out += '\n';
    open_task_ = -1;
}

}  // namespace poe::pm
