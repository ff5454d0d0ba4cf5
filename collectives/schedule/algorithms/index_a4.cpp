// The four-stage algorithm of the irregular all-to-all paper (Liu, Wang, Prasanna; 3.2) for any
// number of ranks P. The ranks form an array (RankArray). Two stages spread every message evenly
// over all ranks, first along rows, then along columns. Two stages collect, along rows to the
// column of the destination, then along columns. With c = ceil(sqrt P) and L the largest traffic of
// a rank, the paper proves these limits for each rank:
//
//   messages     4 c + 2
//   length       (c + 1) L / P bytes                              (Lemma 3)
//   buffers      2 c^2 L / P bytes                                (Theorem 1)
//   time         (4 c + 2) T + 4 (c + 1) c L / P times the time
//                of a byte, where T is the start-up time          (Theorem 2)
//
// There are three forms (3.4):
//   - Wait for each step.
//   - Start all messages of a stage at once, with one send buffer.
//   - The same with two send buffers, so that data that have arrived are distributed for the next
//     stage while others are still under way.
#include <cmath>

#include "collectives/schedule/algorithms/staged_index.hpp"

namespace poe::collectives {

RankArray::RankArray(std::uint32_t ranks) {
    const auto set = [&](std::uint32_t c) {
        columns = c;
        rows = (ranks + c - 1) / c;
        rest = ranks % c;
    };
    std::uint32_t root = 1;
    while (root * root < ranks) ++root;
    set(root);
    // There must be a row for each rank of the last row, to which that rank gives its messages.
    if (rest > 0 && rows - 1 < rest) set(root - 1);
}

// Row m gets messages of the last row in the columns from r on, in the steps r - m, r - m + 1, and
// so on. Rank m of the row waits in the first of these steps, the rank before it in the next one,
// and so on, until there is no conflict any more (figure 10 of the paper; its text numbers the
// steps from one later on).
int RankArray::step(std::uint32_t rank, std::uint32_t to_column) const noexcept {
    const std::uint32_t from = column(rank);
    const std::uint32_t plain =
        to_column == from ? columns : (to_column + columns - from) % columns;
    const std::uint32_t m = row(rank);
    if (rest == 0 || m >= rest) return static_cast<int>(plain);
    const std::uint32_t k = (m + columns - from) % columns;
    if (k > columns - rest + m) return static_cast<int>(plain);
    const std::uint32_t stalled = rest - m + k;
    return static_cast<int>(plain < stalled ? plain : plain + 1);
}

Generator index_a4(const Shape& shape, StagedForm form) {
    const std::uint32_t n = shape.n;
    const RankArray array(n);
    // Slices are numbered column by column, so that those of a column are adjacent.
    std::vector<std::uint32_t> rank_of_slice;
    for (std::uint32_t c = 0; c < array.columns; ++c) {
        for (std::uint32_t rank = c; rank < n; rank += array.columns) rank_of_slice.push_back(rank);
    }
    StagedPlan plan;
    plan.stages = 4;
    plan.slices = n;
    plan.holding = [n, array, rank_of_slice](int stage, std::uint32_t rank) {
        Holding held{all_of(n), all_of(n), all_of(n)};
        const std::uint32_t column = array.column(rank);
        const auto comes_by = [&](std::uint32_t other) { return array.via(other, column) == rank; };
        switch (stage) {
            case 0:
                held.sources = {rank};
                break;
            case 1:
                std::erase_if(held.sources, [&](std::uint32_t i) { return !comes_by(i); });
                std::erase_if(held.slices, [&](std::uint32_t s) {
                    return array.column(rank_of_slice[s]) != column;
                });
                break;
            case 2:
                std::erase_if(held.slices,
                              [&](std::uint32_t s) { return rank_of_slice[s] != rank; });
                break;
            case 3:
                std::erase_if(held.slices,
                              [&](std::uint32_t s) { return !comes_by(rank_of_slice[s]); });
                std::erase_if(held.destinations,
                              [&](std::uint32_t j) { return array.column(j) != column; });
                break;
            default:
                held.destinations = {rank};
        }
        return held;
    };
    plan.step = [array](int stage, std::uint32_t from, std::uint32_t to) {
        if (stage % 2 == 0) return array.step(from, array.column(to));
        const std::uint32_t height = array.height(array.column(from));
        const std::uint32_t a = array.row(from);
        const std::uint32_t b = array.row(to);
        return static_cast<int>(a == b ? height : (b + height - a) % height);
    };
    plan.steps = [array](int stage) {
        return static_cast<int>(stage % 2 == 0 ? array.columns + 1 : array.rows);
    };
    return staged_index(shape, plan, form);
}

}  // namespace poe::collectives
