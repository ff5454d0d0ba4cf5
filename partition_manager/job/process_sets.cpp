// See process_sets.hpp.
#include "partition_manager/job/process_sets.hpp"

#include <algorithm>

#include "base/task_ranges.hpp"

namespace poe::pm {
namespace {

// Linux limits a variable to 128 KB.
constexpr std::size_t kLongestText = 100'000;

// The same as add_to_set() for many sets, of which the number is known.
std::vector<NamedTasks> sets_by_number(const JobSpec& job, std::size_t count, auto&& name_of,
                                       auto&& number_of) {
    std::vector<NamedTasks> sets(count);
    for (std::size_t number = 0; number < count; ++number) sets[number].name = name_of(number);
    for (std::size_t task = 0; task < job.tasks.size(); ++task) {
        const auto number = static_cast<std::size_t>(number_of(job.tasks[task]));
        if (number < count) sets[number].tasks.push_back(static_cast<TaskId>(task));
    }
    return sets;
}

void append(std::string& text, const std::vector<NamedTasks>& sets) {
    for (const NamedTasks& set : sets) {
        if (set.tasks.empty() || set.name.find_first_of(" =\t\n") != std::string::npos) continue;
        const std::string entry = set.name + "=" + task_ranges(set.tasks);
        if (text.size() + 1 + entry.size() > kLongestText) return;
        if (!text.empty()) text += ' ';
        text += entry;
    }
}

}  // namespace

void add_to_set(std::vector<NamedTasks>& sets, const std::string& name, TaskId task) {
    auto found = std::ranges::find(sets, name, &NamedTasks::name);
    if (found == sets.end()) found = sets.insert(sets.end(), {name, {}});
    if (found->tasks.empty() || found->tasks.back() != task) found->tasks.push_back(task);
}

std::string process_sets_text(const JobSpec& job, const std::vector<NamedTasks>& others) {
    std::string text;
    append(text,
           sets_by_number(
               job, job.nodes.size(), [&](std::size_t node) { return kNodeSet + job.nodes[node]; },
               [](const TaskSpec& task) { return task.node; }));
    append(text, sets_by_number(
                     job, job.commands.size(),
                     [](std::size_t program) { return kProgramSet + std::to_string(program); },
                     [](const TaskSpec& task) { return task.command; }));
    append(text, others);
    return text;
}

}  // namespace poe::pm
