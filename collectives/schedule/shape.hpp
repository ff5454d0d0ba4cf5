// Shape: all properties of a collective call on which its schedule depends. Two calls of equal
// shape have the same schedule. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace poe::collectives {

// The result of each rank, as a function of the inputs of the ranks.
enum class Operation : std::uint8_t {
    kBcast,    // the root's result buffer
    kReduce,   // root: the inputs of all ranks, reduced in rank order
    kCombine,  // the same at all ranks
    kPrefix,   // rank r: the inputs of the ranks 0..r, reduced
    kScatter,  // block r of the root's input
    kGather,   // root: the blocks of all ranks, in rank order
    kConcat,   // the same at all ranks
    kIndex,    // block j of the result = block r of rank j's input
    kShift,    // the input of the rank `step` before
    kSync,     // no rank ends before all have begun
};
inline constexpr std::size_t kOperations = 10;

// Returns "bcast" and so on.
const char* name_of(Operation operation) noexcept;

struct Shape {
    Operation operation = Operation::kSync;
    std::uint32_t n = 1;
    Rank root = 0;
    // The bytes of the vector, or of one block (scatter, gather, concat, index).
    Bytes bytes = 0;
    // Reductions: the bytes of one element; the vector may be cut between elements. 0: it must not
    // be cut, because only the user's function knows its elements.
    Bytes element = 0;
    // Reductions: true if contributions may be reordered.
    bool commutative = false;
    // Reductions: true if every order of reduction gives the same bits. If not (floating-point
    // numbers), all ranks that get a result must reduce in the same order, because programs rely on
    // identical results.
    bool exact = false;
    // Shift: the distance in ranks, upwards; and whether it continues around the end.
    int step = 0;
    bool circular = false;
    // Blocks of unequal length (gatherv, scatterv, concatv): the positions of the blocks of ranks
    // 0..n-1 in the buffer that contains all blocks, and the end of the last one. Empty: all have
    // `bytes` bytes.
    std::vector<Bytes> offsets;
    // An index with unequal blocks (indexv): the bytes from rank i to rank j are at [i * n + j].
    // Some algorithms use the own row and column only; their descriptions say so. Empty: all
    // blocks have `bytes` bytes.
    std::vector<Bytes> matrix;
    // True if all ranks have the whole matrix; otherwise each has its own row and column only.
    bool whole_matrix = false;

    // The node of each rank if ranks are on several nodes. Nodes are numbered from 0 in the order
    // of their first ranks. Empty: all ranks are on one node. Only the code that chooses and makes
    // schedules uses it.
    std::vector<std::uint32_t> nodes;

    bool operator==(const Shape&) const = default;

    // True if all blocks have the same length.
    bool is_regular() const noexcept { return offsets.empty() && matrix.empty(); }

    // Positions and lengths, in bytes: of the block of a rank, and of `many` blocks from `first`
    // on, counted around the end.
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
    // The bytes of the vector, or of the longest block of a scatter, gather or concat.
    Bytes longest_block() const noexcept {
        if (offsets.empty()) return bytes;
        Bytes most = 0;
        for (std::uint32_t rank = 0; rank < n; ++rank) most = std::max(most, length(rank));
        return most;
    }
    // The longest block of an index, also of those that a rank keeps.
    Bytes longest() const noexcept {
        return matrix.empty() ? bytes : *std::max_element(matrix.begin(), matrix.end());
    }
    // The bytes from one rank to another in an index.
    Bytes between(std::uint32_t from, std::uint32_t to) const noexcept {
        return matrix.empty() ? bytes : matrix[std::size_t{from} * n + to];
    }
};

// The bytes that a rank gives to the operation and gets from it.
struct Transfer {
    Bytes given = 0;
    Bytes gotten = 0;
    bool operator==(const Transfer&) const = default;
};
Transfer transfer_of(const Shape& shape, std::uint32_t rank) noexcept;

// In a shift: the rank that is `step` after `rank`; n if there is none.
std::uint32_t shifted(const Shape& shape, std::uint32_t rank, std::int64_t step) noexcept;

// ceil(log2(n)) and floor(log2(n)), for n >= 1.
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
