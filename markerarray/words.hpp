// Numbers as a display shows them: short, of a width that does not jump.
#pragma once

#include <chrono>
#include <string>

#include "markerarray/snapshot.hpp"

namespace poe::markers {

// "9.9 s", "59 s", "12:34", "3:25:45", "2d 03h"
std::string time_words(Moment time);
// "812K", "1.2M", "34M", "5.0G"
std::string size_words(Bytes bytes);
// "0.25", "3.4", "1234", "1.2M"
std::string rate_words(double per_second);
// "1 task", "2 tasks"
std::string count_words(std::size_t count, const std::string& thing);

// How fast a progress goes and how long it will take; 0 and -1 when that cannot be told yet.
struct Pace {
    double per_second = 0;
    Moment left{-1};
};
Pace pace_of(const TaskRow& row, Moment now);
// Of all rows that have told their progress, together: the sums, and the time that the slowest of
// them needs.
struct JobProgress {
    Progress progress;
    Pace pace;
};
JobProgress progress_of(const Picture& picture);
// "63%  120/s  left 0:12"
std::string pace_words(const Progress& progress, const Pace& pace);
double share_of(const Progress& progress);

}  // namespace poe::markers
