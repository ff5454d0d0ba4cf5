// All algorithms: the generator of each, and its counts according to the papers. Each has one .cpp
// file; the table of all algorithms, with their names, is catalogue.cpp.
//
// A function `x` returns the generator of all ranks' schedules for a shape. `x_counts` is the
// closed formula of C1, C2 and C3 (schedule.hpp); tests compare it with the counts of the
// schedules. If a vector is cut into parts, the formula is exact when the number of ranks divides
// the vector.
#pragma once

#include "collectives/schedule/algorithms/blocks.hpp"
#include "collectives/schedule/postal.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/shape.hpp"
#include "collectives/schedule/split_tree.hpp"

namespace poe::collectives {

// bcast
Generator bcast_tree(const Shape& shape, const SplitRule& split);
Counts bcast_tree_counts(const Shape& shape, const SplitRule& split);
Generator bcast_greedy(const Shape& shape, Lambda lambda);
Generator bcast_edst(const Shape& shape, std::uint32_t segments);
Counts bcast_edst_counts(const Shape& shape, std::uint32_t segments);
Generator bcast_circulant(const Shape& shape, std::uint32_t segments);
Counts bcast_circulant_counts(const Shape& shape, std::uint32_t segments);
// Precondition: at most FibonacciTrees::kMostMembers ranks.
Generator bcast_fibonacci(const Shape& shape, std::uint32_t segments);
Generator bcast_chain(const Shape& shape, std::uint32_t segments);
Counts bcast_chain_counts(const Shape& shape, std::uint32_t segments);
Generator bcast_scatter_concat(const Shape& shape);
Counts bcast_scatter_concat_counts(const Shape& shape);

// reduce
Generator reduce_tree(const Shape& shape, const SplitRule& split);
Counts reduce_tree_counts(const Shape& shape, const SplitRule& split);
Generator reduce_halving(const Shape& shape);
Counts reduce_halving_counts(const Shape& shape);
// Any broadcast of the same shape, reversed; its counts are those of the broadcast.
Generator reduce_reversed(const Shape& shape, Generator bcast, const Counts& counts);

// combine
Generator combine_hybrid(const Shape& shape, int k);
Counts combine_hybrid_counts(const Shape& shape, int k);
Generator combine_halving(const Shape& shape);
Counts combine_halving_counts(const Shape& shape);
Generator combine_ring(const Shape& shape);
Counts combine_ring_counts(const Shape& shape);
Generator combine_census(const Shape& shape, int lambda);
Counts combine_census_counts(const Shape& shape, int lambda);

// concat
// `ports` >= 1 messages of a rank are under way at the same time in each direction.
Generator concat_circulant(const Shape& shape, std::uint32_t ports);
Counts concat_circulant_counts(const Shape& shape, std::uint32_t ports);
Generator concat_exchange(const Shape& shape);
Counts concat_exchange_counts(const Shape& shape);
Generator concat_direct(const Shape& shape);
Counts concat_direct_counts(const Shape& shape);
Generator concat_ring(const Shape& shape);
Counts concat_ring_counts(const Shape& shape);
// `piece` > 0.
Generator concat_pieces(const Shape& shape, Bytes piece);
Counts concat_pieces_counts(const Shape& shape, Bytes piece);

// index
// `ports` >= 1 messages of a rank are under way at the same time in each direction.
Generator index_radix(const Shape& shape, std::uint32_t radix, std::uint32_t ports);
Counts index_radix_counts(const Shape& shape, std::uint32_t radix, std::uint32_t ports);
Generator index_pairwise(const Shape& shape, std::uint32_t window);
Counts index_pairwise_counts(const Shape& shape);
// `piece` > 0; see index_pieces.cpp.
Generator index_pieces(const Shape& shape, Bytes piece);
Counts index_pieces_counts(const Shape& shape, Bytes piece);
// How the phases of an index are separated; see index_phased.cpp. piece 0: blocks are not cut.
enum class Separation { kSignals, kBarriers };
Generator index_phased(const Shape& shape, Bytes piece, Separation separation);
Counts index_phased_counts(const Shape& shape, Bytes piece);
// In the phases of phases.hpp, with signals. The generator computes them once, for all ranks.
Generator index_greedy(const Shape& shape, Bytes threshold);
Generator index_all_to_all(const Shape& shape, Bytes threshold);
// How an algorithm in stages waits, and how many send buffers it has; see index_a4.cpp.
enum class StagedForm { kBlocking, kSingleBuffer, kDualBuffer };
Generator index_a2(const Shape& shape, StagedForm form);
Generator index_a3(const Shape& shape, StagedForm form);
Generator index_a4(const Shape& shape, StagedForm form);
// Blocks of all ranks in combined messages; see index_combined.cpp. radix >= 2.
Generator index_combined(const Shape& shape, std::uint32_t radix);

// prefix
Generator prefix_hybrid(const Shape& shape, int k);
Counts prefix_hybrid_counts(const Shape& shape, int k);
// The same, with groups of adjacent ranks that begin at these ranks, the first of which is 0; and
// the parts of its counts within the groups and among them.
Generator prefix_in_groups(const Shape& shape, std::vector<std::uint32_t> firsts);
Counts prefix_counts_within(const Shape& shape, const std::vector<std::uint32_t>& firsts);
Counts prefix_counts_between(const Shape& shape, const std::vector<std::uint32_t>& firsts);

// scatter, gather
Generator scatter_tree(const Shape& shape, const SplitRule& split);
Generator gather_tree(const Shape& shape, const SplitRule& split);
Counts scatter_tree_counts(const Shape& shape, const SplitRule& split);  // of both
Generator scatter_direct(const Shape& shape);
Generator gather_direct(const Shape& shape);
Counts scatter_direct_counts(const Shape& shape);  // of both

// shift, sync
Generator shift_direct(const Shape& shape);
Counts shift_direct_counts(const Shape& shape);
Generator sync_dissemination(const Shape& shape);
Counts sync_dissemination_counts(const Shape& shape);
Generator sync_tree(const Shape& shape, const SplitRule& split);
Counts sync_tree_counts(const Shape& shape, const SplitRule& split);

}  // namespace poe::collectives
