// See name_pattern.hpp.
#include "partition_manager/job/name_pattern.hpp"

#include <cstdio>
#include <ctime>

namespace poe::pm {

namespace {

std::string time_of_day(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        time - std::chrono::system_clock::from_time_t(seconds));
    std::tm parts = {};
    ::localtime_r(&seconds, &parts);
    char text[32];
    std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min,
                  parts.tm_sec, static_cast<int>(rest.count()));
    return text;
}

std::string seconds_between(const LineTime& time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f",
                  std::chrono::duration<double>(time.written - time.job_began).count());
    return text;
}

}  // namespace

std::optional<std::string> pattern_trouble(std::string_view pattern, bool is_label) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') continue;
        if (++i == pattern.size()) return "a % at its end";
        if (std::string_view(is_label ? "rRhjts%" : "rRhj%").find(pattern[i]) ==
            std::string_view::npos)
            return "%" + std::string(1, pattern[i]) + " means nothing";
    }
    return std::nullopt;
}

bool tells_time(std::string_view pattern) {
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i)
        if (pattern[i] == '%')
            if (const char letter = pattern[++i]; letter == 't' || letter == 's') return true;
    return false;
}

std::string expand_pattern(std::string_view pattern, const JobSpec& job, TaskId task,
                           const LineTime& time) {
    const std::string number = std::to_string(task);
    const std::size_t width = std::to_string(job.tasks.size() - 1).size();
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            text += pattern[i];
            continue;
        }
        switch (pattern[++i]) {
            case 'r':
                text += number;
                break;
            case 'R':
                text += std::string(width - number.size(), '0') + number;
                break;
            case 'h':
                text += job.nodes[static_cast<std::size_t>(
                    job.tasks[static_cast<std::size_t>(task)].node)];
                break;
            case 'j':
                text += job.id;
                break;
            case 't':
                text += time_of_day(time.written);
                break;
            case 's':
                text += seconds_between(time);
                break;
            default:
                text += pattern[i];
        }
    }
    return text;
}

}  // namespace poe::pm
