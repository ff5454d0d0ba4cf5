// How fast tasks make progress, and how long they will still need.
#pragma once

#include <string>

#include "markerarray/snapshot.hpp"

namespace poe::markers {

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
