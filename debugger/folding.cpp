// See folding.hpp.
#include "debugger/folding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace poe::debugger {

namespace {

constexpr double kOutlierDistance = 5;
constexpr std::size_t kShownOutliers = 20;
constexpr std::size_t kFewestForOutliers = 4;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string number_in_words(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", value);
    return text;
}

}  // namespace

std::vector<Folded> fold(const Answers& answers) {
    std::map<std::string_view, TaskSet> by_text;
    for (const auto& [task, text] : answers) by_text[text].insert(task);
    std::vector<Folded> folded;
    folded.reserve(by_text.size());
    for (const auto& [text, tasks] : by_text) folded.push_back({tasks, std::string(text)});
    std::sort(folded.begin(), folded.end(),
              [](const Folded& a, const Folded& b) { return *a.tasks.begin() < *b.tasks.begin(); });
    return folded;
}

std::vector<std::string> lines_of(const std::vector<Folded>& answers) {
    constexpr std::size_t kWidestAligned = 20;
    std::size_t width = 0;
    for (const Folded& answer : answers) {
        const std::size_t length = in_ranges(answer.tasks).size();
        if (length <= kWidestAligned) width = std::max(width, length);
    }
    std::vector<std::string> lines;
    for (const Folded& answer : answers) {
        std::string label = in_ranges(answer.tasks) + ":";
        std::string_view rest = answer.text;
        while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
        if (rest.find('\n') == std::string_view::npos) {
            label.resize(std::max(label.size(), width + 1), ' ');
            lines.push_back(label + " " + std::string(rest));
            continue;
        }
        lines.push_back(label);
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            lines.push_back("  " + std::string(rest.substr(0, end)));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
    }
    return lines;
}

std::optional<double> number_in(std::string_view answer) {
    const std::string text(answer);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) return std::nullopt;
    // A number is the whole answer, or a blank and a character follow, or "(" after NaN.
    const bool complete = *end == '\0' || *end == ' ' || std::isnan(value);
    return complete ? std::optional(value) : std::nullopt;
}

NumberSummary summarize(const Answers& answers) {
    NumberSummary summary;
    std::vector<std::pair<TaskId, double>> numbers;
    for (const auto& [task, text] : answers) {
        const std::optional<double> value = number_in(text);
        if (!value)
            summary.not_numbers.insert(task);
        else if (!std::isfinite(*value))
            summary.not_finite.insert(task);
        else
            numbers.emplace_back(task, *value);
    }
    summary.count = numbers.size();
    if (numbers.empty()) return summary;
    std::vector<double> values;
    for (const auto& [task, value] : numbers) values.push_back(value);
    summary.min = *std::min_element(values.begin(), values.end());
    summary.max = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += value / static_cast<double>(values.size());
    summary.mean = sum;
    for (const auto& [task, value] : numbers) {
        if (value == summary.min) summary.at_min.insert(task);
        if (value == summary.max) summary.at_max.insert(task);
    }
    if (values.size() < kFewestForOutliers) return summary;
    const double middle = median(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - middle));
    const double limit = kOutlierDistance * median(distances);
    for (const auto& [task, value] : numbers)
        if (std::abs(value - middle) > limit)
            summary.outliers.emplace_back(task, number_in_words(value));
    return summary;
}

std::vector<std::string> lines_of(const NumberSummary& summary) {
    std::vector<std::string> lines;
    if (summary.count > 0) {
        lines.push_back("min   " + number_in_words(summary.min) + "  (" + in_words(summary.at_min) +
                        ")");
        lines.push_back("max   " + number_in_words(summary.max) + "  (" + in_words(summary.at_max) +
                        ")");
        lines.push_back("mean  " + number_in_words(summary.mean) + "  of " +
                        std::to_string(summary.count) +
                        (summary.count == 1 ? " number" : " numbers"));
    }
    if (!summary.not_finite.empty())
        lines.push_back("NaN or infinite: " + in_words(summary.not_finite));
    if (!summary.not_numbers.empty())
        lines.push_back("no number: " + in_words(summary.not_numbers));
    if (summary.outliers.empty()) return lines;
    lines.push_back("far from the median:");
    const std::vector<Folded> folded = fold(summary.outliers);
    const std::size_t shown = std::min(folded.size(), kShownOutliers);
    for (const std::string& line : lines_of(std::vector<Folded>(
             folded.begin(), folded.begin() + static_cast<std::ptrdiff_t>(shown))))
        lines.push_back("  " + line);
    if (shown < folded.size())
        lines.push_back("  and " + std::to_string(folded.size() - shown) + " more values");
    return lines;
}

}  // namespace poe::debugger
