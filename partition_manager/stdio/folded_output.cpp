// See folded_output.hpp.
#include "partition_manager/stdio/folded_output.hpp"

#include <algorithm>

#include "base/task_ranges.hpp"

namespace poe::pm {

void FoldedOutput::append(TaskId task, std::string_view data) {
    bytes_ += data.size();
    while (!data.empty()) {
        const std::size_t feed = data.find('\n');
        const std::string_view line = data.substr(0, feed);
        data.remove_prefix(feed == std::string_view::npos ? data.size() : feed + 1);
        std::string& open = open_[task];
        open.append(line);
        if (feed == std::string_view::npos) return;
        waiting_[task].push_back(std::move(open));
        open_.erase(task);
    }
}

// Returns the tasks whose next line is `line`. `awaited` is set if one of the next lines of another
// task is equal.
std::vector<TaskId> FoldedOutput::who_is_at(const std::string& line, bool& awaited) const {
    constexpr std::size_t kAhead = 8;
    std::vector<TaskId> tasks;
    awaited = false;
    for (const auto& [task, lines] : waiting_) {
        if (lines.front() == line) {
            tasks.push_back(task);
            continue;
        }
        const auto end =
            lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kAhead));
        awaited = awaited || std::find(lines.begin(), end, line) != end;
    }
    return tasks;
}

// Returns the next line of the lowest task whose next line is not also one of the coming lines of
// another task; if there is none, the next line of the lowest task.
std::string FoldedOutput::next_line() const {
    for (const auto& [task, lines] : waiting_) {
        bool awaited = false;
        who_is_at(lines.front(), awaited);
        if (!awaited) return lines.front();
    }
    return waiting_.begin()->second.front();
}

std::string FoldedOutput::give_out() {
    for (auto& [task, open] : open_) waiting_[task].push_back(std::move(open));
    open_.clear();
    std::string out;
    while (!waiting_.empty()) {
        const std::string line = next_line();
        bool awaited = false;
        const std::vector<TaskId> tasks = who_is_at(line, awaited);
        for (const TaskId task : tasks) {
            const auto entry = waiting_.find(task);
            entry->second.pop_front();
            if (entry->second.empty()) waiting_.erase(entry);
        }
        out += task_ranges(tasks) + ": " + line + "\n";
    }
    bytes_ = 0;
    return out;
}

}  // namespace poe::pm
