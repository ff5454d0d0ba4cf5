// The measurements of whole calls: all methods for one call, and the best method for each call of a
// grid. They are separate from the measurements of messages (experiments.hpp). All tasks of the job
// call these functions, which block; task 0 prints.
#pragma once

#include <vector>

#include "collectives/schedule/shape.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// The grid: all operations; 8 bytes, 1 KB, 64 KB and 1 MB; 2, 4, 8 and 16 tasks.
inline constexpr int kMostTasksOfGrid = 16;

// Predicts and measures each candidate for this call of the first n tasks. Returns an exit status.
int explain(Operation operation, Bytes bytes, std::uint32_t n, int me, int tasks);

// Counts how many calls use a method that is at most 10 % slower than the best. Returns an exit
// status.
int check_grid(int me, int tasks);

// Returns the points of the grid where the model's choice is more than 5 % slower than the best, in
// two measurements with some time between them.
struct GridBests {
    std::vector<MeasuredBest> bests;
    bool on_network = false;  // otherwise within a node
};
GridBests bests_of_grid(int me, int tasks);
// True if this is a point of the grid for this number of tasks. Pure.
bool is_of_grid(const MeasuredBest& best, int tasks);

}  // namespace poe::collectives
