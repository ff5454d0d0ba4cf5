// Shape: everything about a collective call that its schedule depends on. Two calls of equal shape
// have the same schedule. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// Of each rank: what it gives, and what it gets.
enum class Operation : std::uint8_t {
    kBcast,    // result = root's result
    kReduce,   // root: result = given of all ranks, reduced in rank order
    kCombine,  // the same at all ranks
    kPrefix,   // rank r: given of the ranks 0..r reduced
    kScatter,  // block r of what the root gives
    kGather,   // root: the blocks of all ranks, in rank order
    kConcat,   // the same at all ranks
    kIndex,    // block j of the result = block r of what rank j gives
    kShift,    // given of the rank `step` before
    kSync,     // nobody ends before all have begun
};
inline constexpr std::size_t kOperations = 10;

// "bcast" and so on.
const char* name_of(Operation operation) noexcept;

struct Shape {
    Operation operation = Operation::kSync;
    std::uint32_t n = 1;
    Rank root = 0;
    // Of the vector, or of one block (scatter, gather, concat, index).
    Bytes bytes = 0;
    // Reductions: bytes of one element; the vector may be cut between elements. 0: it must not be
    // cut, since nobody but the user's function knows its elements.
    Bytes element = 0;
    // Reductions: whether contributions may change places.
    bool commutative = false;
    // Reductions: whether they give the same bits in whatever order they are added up. Where not
    // (floating-point numbers), all ranks that get a result have to add up in one order: programs
    // rely on it that all get the same.
    bool exact = false;
    // Shift: by how many ranks upwards, and whether around the end.
    int step = 0;
    bool circular = false;
    // Blocks of unequal length (gatherv, scatterv, concatv): where the blocks of ranks 0..n-1 start
    // in the buffer that has them all, and where the last one ends. Empty: all have `bytes`.
    std::vector<Bytes> offsets;
    // Index with unequal blocks (indexv): bytes from rank i to rank j at [i * n + j]. Algorithms
    // that look at their own row and column only say so. Empty: all have `bytes`.
    std::vector<Bytes> matrix;

    // The node of each rank, where ranks are on several; nodes are numbered from 0 on in the order
    // of their first ranks. Empty: all are on one. Only what chooses and makes schedules looks at
    // it.
    std::vector<std::uint32_t> nodes;

    bool operator==(const Shape&) const = default;

    // All blocks have one length.
    bool is_regular() const noexcept { return offsets.empty() && matrix.empty(); }

    // The blocks of the ranks first .. first + count - 1, counted around the end.
    Bytes offset(std::uint32_t rank) const noexcept {
        return offsets.empty() ? bytes * rank : offsets[rank];
    }
    Bytes length(std::uint32_t rank) const noexcept { return span(rank, 1); }
    Bytes span(std::uint32_t first, std::uint32_t many) const noexcept {
        if (offsets.empty()) return bytes * many;
        const std::uint32_t end = first + many;
        if (end <= n) return offsets[end] - offsets[first];
        return offsets[n] - offsets[first] + offsets[end - n];
    }
    // Bytes from one rank to another in an index.
    Bytes between(std::uint32_t from, std::uint32_t to) const noexcept {
        return matrix.empty() ? bytes : matrix[std::size_t{from} * n + to];
    }
};

// In a shift: the rank that is `step` after another one; n: there is none.
std::uint32_t shifted(const Shape& shape, std::uint32_t rank, std::int64_t step) noexcept;

// ceil(log2(n)) and floor(log2(n)) for n >= 1.
constexpr int log2_up(std::uint64_t n) noexcept {
    int log = 0;
    while ((std::uint64_t{1} << log) < n) ++log;
    return log;
}
constexpr int log2_down(std::uint64_t n) noexcept {
    int log = 0;
    while ((std::uint64_t{2} << log) <= n) ++log;
    return log;
}
constexpr bool is_power_of_two(std::uint64_t n) noexcept {
    return n > 0 && (n & (n - 1)) == 0;
}

}  // namespace poe::collectives
