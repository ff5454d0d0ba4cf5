// The two-stage algorithms with which the irregular all-to-all paper (Liu, Wang, Prasanna) compares
// (3.1.2, 3.1.3). Both have the three forms of index_a4.cpp; A3-n1 of the paper is A3 with one send
// buffer.
//   - A2: every message is cut into P slices; slice s is sent to rank s, and from there to its
//     destination. 2 P messages per rank of nearly equal length, twice the traffic.
//   - A3, for perfect squares: in a square array of ranks, data from (i1, j1) to (i2, j2) go along
//     the row to (i1, j2), and from there along the column. 2 sqrt(P) messages, twice the traffic,
//     but nothing makes their lengths equal.
#include <cmath>

#include "collectives/schedule/algorithms/staged_index.hpp"

namespace poe::collectives {

Generator index_a2(const Shape& shape, StagedForm form) {
    const std::uint32_t n = shape.n;
    StagedPlan plan;
    plan.stages = 2;
    plan.slices = n;
    plan.holding = [n](int stage, std::uint32_t rank) {
        Holding held{all_of(n), all_of(n), all_of(n)};
        (stage == 0 ? held.sources : stage == 1 ? held.slices : held.destinations) = {rank};
        return held;
    };
    plan.step = [n](int, std::uint32_t from, std::uint32_t to) {
        return static_cast<int>(to == from ? n : (to + n - from) % n);
    };
    plan.steps = [n](int) { return static_cast<int>(n); };
    return staged_index(shape, plan, form);
}

Generator index_a3(const Shape& shape, StagedForm form) {
    const auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(shape.n)));
    StagedPlan plan;
    plan.stages = 2;
    plan.slices = 1;
    plan.holding = [n = shape.n, side](int stage, std::uint32_t rank) {
        Holding held{all_of(n), {0}, all_of(n)};
        if (stage == 0) held.sources = {rank};
        if (stage == 2) held.destinations = {rank};
        if (stage == 1) {
            std::erase_if(held.sources, [&](std::uint32_t i) { return i / side != rank / side; });
            std::erase_if(held.destinations,
                          [&](std::uint32_t j) { return j % side != rank % side; });
        }
        return held;
    };
    plan.step = [side](int stage, std::uint32_t from, std::uint32_t to) {
        const std::uint32_t a = stage == 0 ? from % side : from / side;
        const std::uint32_t b = stage == 0 ? to % side : to / side;
        return static_cast<int>(a == b ? side : (b + side - a) % side);
    };
    plan.steps = [side](int) { return static_cast<int>(side); };
    return staged_index(shape, plan, form);
}

}  // namespace poe::collectives
