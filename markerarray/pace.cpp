// Implementation of pace.hpp.
#include "markerarray/pace.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "terminal/words.hpp"

namespace poe::markers {

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
