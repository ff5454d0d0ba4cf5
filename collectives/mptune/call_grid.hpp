// What mptune measures of whole calls: all ways to make one call, and the best of a grid of calls.
// Apart from what it measures of messages (experiments.hpp). All tasks of the job call these;
// blocking; task 0 prints.
#pragma once

#include <vector>

#include "collectives/schedule/shape.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

// The grid: all operations, 8 bytes, 1 KB, 64 KB and 1 MB, 2, 4, 8 and 16 tasks.
inline constexpr int kMostTasksOfGrid = 16;

// Each candidate for that call of the first n tasks, predicted and measured. An exit status.
int explain(Operation operation, Bytes bytes, std::uint32_t n, int me, int tasks);

// How often a call takes an algorithm at most 10 % slower than the best. An exit status.
int check_grid(int me, int tasks);

// The points of the grid where the model alone takes something 5 % slower than the best or more,
// twice, some time apart.
struct GridBests {
    std::vector<MeasuredBest> bests;
    bool on_network = false;  // else within a node
};
GridBests bests_of_grid(int me, int tasks);
// Whether that is a point of the grid, with so many tasks. Pure.
bool is_of_grid(const MeasuredBest& best, int tasks);

}  // namespace poe::collectives
