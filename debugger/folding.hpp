// Folding: the answers of many tasks in few lines. Equal answers appear once, with the tasks that
// gave them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debugger/task_set.hpp"

namespace poe::debugger {

using Answers = std::vector<std::pair<TaskId, std::string>>;

struct Folded {
    TaskSet tasks;
    std::string text;

    bool operator==(const Folded&) const = default;
};

// Equal answers become one. The order is that of the lowest task of each.
std::vector<Folded> fold(const Answers& answers);

// Returns the lines of folded answers. A text of one line follows its tasks ("0-6,8: 5"), and these
// texts are aligned. A text of several lines is indented below a line of its tasks.
std::vector<std::string> lines_of(const std::vector<Folded>& answers);

// The numbers of many tasks.
struct NumberSummary {
    std::size_t count = 0;  // of finite numbers; min to mean are valid if it is not 0
    double min = 0;
    double max = 0;
    double mean = 0;
    TaskSet at_min;
    TaskSet at_max;
    TaskSet not_finite;   // tasks whose number is NaN or infinite
    TaskSet not_numbers;  // tasks whose answer is no number
    Answers outliers;     // answers far from the median, in the order of tasks
};

// Parses a number at the beginning of gdb's answer, as "5", "-1.5e3", "nan(0x8000000000000)" or
// "97 'a'". Empty: there is none.
std::optional<double> number_in(std::string_view answer);

// An outlier is further from the median than five times the median distance from it. If most
// numbers are equal, this distance is 0, so each other number is an outlier.
NumberSummary summarize(const Answers& answers);
std::vector<std::string> lines_of(const NumberSummary& summary);

}  // namespace poe::debugger
