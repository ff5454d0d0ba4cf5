// See words.hpp.
#include "markerarray/words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace poe::markers {

std::string time_words(Moment time) {
    const long long tenths = std::max<long long>(time.count(), 0) / 100;
    const long long seconds = tenths / 10;
    if (seconds < 10) return fmt::format("{}.{} s", seconds, tenths % 10);
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
    if (seconds < 86400)
        return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    return fmt::format("{}d {:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::string size_words(Bytes bytes) {
    constexpr std::array<const char*, 5> kUnits{"K", "M", "G", "T", "P"};
    double amount = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (amount >= 999.5 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f}{}", amount, unit > 0 && amount < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string rate_words(double per_second) {
    if (per_second >= 999'500) return fmt::format("{:.1f}M", per_second / 1e6);
    return fmt::format("{:.{}f}", per_second, per_second < 0.995 ? 2 : per_second < 9.95 ? 1 : 0);
}

std::string count_words(std::size_t count, const std::string& thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

Pace pace_of(const TaskRow& row, Moment now) {
    Pace pace;
    const Progress& progress = row.progress;
    if (progress.total == 0 || progress.done >= progress.total) return pace;
    const double seconds = std::chrono::duration<double>(now - row.progress_since).count();
    const auto gone =
        static_cast<double>(progress.done - std::min(progress.done, row.progress_from));
    if (seconds <= 0 || gone <= 0) return pace;
    pace.per_second = gone / seconds;
    const double left = static_cast<double>(progress.total - progress.done) / pace.per_second;
    pace.left = Moment(static_cast<std::int64_t>(std::min(left * 1000, 1e15)));
    return pace;
}

JobProgress progress_of(const Picture& picture) {
    JobProgress sum;
    for (const TaskRow& row : picture.rows) {
        if (row.progress.total == 0) continue;
        sum.progress.total += row.progress.total;
        sum.progress.done += row.progress.done;
        const Pace pace = pace_of(row, picture.at);
        sum.pace.per_second += pace.per_second;
        sum.pace.left = std::max(sum.pace.left, pace.left);
    }
    return sum;
}

double share_of(const Progress& progress) {
    return progress.total == 0
               ? 0
               : static_cast<double>(progress.done) / static_cast<double>(progress.total);
}

std::string pace_words(const Progress& progress, const Pace& pace) {
    std::string text = fmt::format("{:.0f}%", 100 * share_of(progress));
    if (pace.per_second > 0) text += fmt::format("  {}/s", rate_words(pace.per_second));
    if (pace.left >= Moment{0}) text += "  " + time_words(pace.left) + " left";
    return text;
}

}  // namespace poe::markers
