// Irregular all-to-all in stages (Liu, Wang, Prasanna: the irregular all-to-all paper). Each
// message from rank i to rank j is cut into slices. In each stage, every slice moves to another
// rank or stays. Between two stages, a rank always holds a product of sets: certain sources,
// certain slices, certain destinations. What one rank sends to another is a product too: the
// intersection of what the sender holds before the stage and the receiver after it. The algorithms
// A2, A3 and A4 are completely described by their holdings.
//
// To build the schedule of one rank costs as many steps as it has pieces: n^2 in each stage if
// there are n slices.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/schedule/algorithms/algorithms.hpp"

namespace poe::collectives {

// The lists are sorted.
struct Holding {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> slices;
    std::vector<std::uint32_t> destinations;
};

struct StagedPlan {
    int stages = 1;
    std::uint32_t slices = 1;
    // Returns what a rank holds after `stage` stages: at first all slices of its own messages; at
    // the end all slices for it.
    std::function<Holding(int stage, std::uint32_t rank)> holding;
    // The step of the stage (from 1) in which a rank sends to another rank, or to itself.
    std::function<int(int stage, std::uint32_t from, std::uint32_t to)> step;
    // The number of steps of the stage.
    std::function<int(int stage)> steps;
};

Generator staged_index(const Shape& shape, const StagedPlan& plan, StagedForm form);

// 0 .. n - 1.
std::vector<std::uint32_t> all_of(std::uint32_t n);

// The two-dimensional array of A4 for P ranks (3.2 of the paper), in row-major order: C columns and
// R rows. If r > 0, the last row has only r ranks, and only the first r columns are complete. If a
// rank of the last row has data for a column without a rank in that row, it gives them to the rank
// of that column in the row whose number is the sender's own column.
struct RankArray {
    explicit RankArray(std::uint32_t ranks);

    std::uint32_t row(std::uint32_t rank) const noexcept { return rank / columns; }
    std::uint32_t column(std::uint32_t rank) const noexcept { return rank % columns; }
    std::uint32_t height(std::uint32_t of_column) const noexcept {
        return rest == 0 || of_column < rest ? rows : rows - 1;
    }
    bool in_last_row(std::uint32_t rank) const noexcept {
        return rest > 0 && row(rank) == rows - 1;
    }
    // The rank in a column to which the row of `rank` sends.
    std::uint32_t via(std::uint32_t rank, std::uint32_t to_column) const noexcept {
        const bool pseudo = in_last_row(rank) && to_column >= rest;
        return (pseudo ? column(rank) : row(rank)) * columns + to_column;
    }
    // The step (1 .. columns + 1) in which `rank` sends to its row's rank in that column, by the
    // priority schedule: a row that also gets messages of the last row makes room for them.
    int step(std::uint32_t rank, std::uint32_t to_column) const noexcept;

    std::uint32_t columns;
    std::uint32_t rows;
    std::uint32_t rest;  // r
};

}  // namespace poe::collectives
