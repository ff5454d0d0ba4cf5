// The rate of progress of tasks, and the time that they still need.
#pragma once

#include <string>

#include "markerarray/snapshot.hpp"

namespace poe::markers {

// The rate and the remaining time of a progress; 0 and -1 while unknown.
struct Pace {
    double per_second = 0;
    Moment left{-1};
};
Pace pace_of(const TaskRow& row, Moment now);
// The progress of all rows that report one: the sums, and the remaining time of the slowest row.
struct JobProgress {
    Progress progress;
    Pace pace;
};
JobProgress progress_of(const Picture& picture);
// Returns "63%  120/s  left 0:12".
std::string pace_words(const Progress& progress, const Pace& pace);
double share_of(const Progress& progress);

}  // namespace poe::markers
