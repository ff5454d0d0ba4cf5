// The table of algorithms; see catalogue.hpp.
#include "collectives/selection/catalogue.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/fibonacci_trees.hpp"
#include "collectives/selection/cost_model.hpp"
#include "collectives/selection/two_level.hpp"

namespace poe::collectives {
namespace {

using Op = Operation;

// The maximum of most parameters: the number of ranks of the largest groups. A call with fewer
// bytes than segments has segments of one byte.
constexpr double kMany = 1 << 20;
constexpr NumberRange kNoNumber{};
constexpr NumberRange kSegments{1, kMany, true, Compared::kPowersOfTwo};
constexpr NumberRange kRadixes{2, kMany, true, Compared::kRadixes};
constexpr NumberRange kStepsAtOnce{0, kMany};
constexpr NumberRange kLogs{0, 31};
constexpr NumberRange kPorts{1, 1024, true, Compared::kModelPorts};
constexpr NumberRange kStagedForms{0, 2};
constexpr NumberRange kBlockBytes{0, kMany};
constexpr NumberRange kPieceBytes{1, kMany};
constexpr NumberRange kLambdas{1, 1000, false, Compared::kMeasuredLambda};
constexpr NumberRange kShares{0.5, 0.999, false};

double none(const Shape&) {
    return 0;
}
// The default lambda if it has not been measured.
double usual_lambda(const Shape&) {
    return 2;
}
// Segments of 32 KB, the length that a pipe takes in one piece.
double usual_segments(const Shape& shape) {
    constexpr double kSegment = 32 << 10;
    return std::clamp(std::ceil(static_cast<double>(shape.bytes) / kSegment), 1.0, kMany);
}
double half_of_log(const Shape& shape) {
    const int half_of_them = log2_up(shape.n) / 2;
    return half_of_them;
}
double root_of_n(const Shape& shape) {
    return std::clamp(std::round(std::sqrt(shape.n)), 2.0, std::max(2.0, double(shape.n)));
}
// The number of steps under way at the same time. On several nodes, if all ranks sent blocks of
// several packets to one node at the same time, the queue of its cable would overflow. Two steps
// keep the cable busy, because blocks that are not short arrive more slowly than they are
// requested.
double steps_at_once(const Shape& shape) {
    constexpr Bytes kShort = Bytes{32} << 10;
    constexpr Bytes kLong = Bytes{128} << 10;
    const bool some_packets = shape.bytes >= kShort && shape.bytes <= kLong;
    return !shape.nodes.empty() && some_packets ? 2 : 0;
}

// With one port these algorithms would be the same as others.
double usual_ports(const Shape&) {
    return 2;
}
double one_buffer(const Shape&) {
    return 1;
}
double two_buffers(const Shape&) {
    return 2;
}

double usual_piece(const Shape&) {
    return kNetworkPiece;
}

bool always(const Shape&, double) {
    return true;
}
bool cuttable(const Shape& shape, double) {
    return shape.element > 0;
}
// For algorithms in which each rank reduces in a different order.
bool exact(const Shape& shape, double) {
    return shape.commutative && shape.exact;
}
bool ring_fits(const Shape& shape, double) {
    return shape.element > 0 && shape.commutative;
}
bool power_of_two(const Shape& shape, double) {
    return is_power_of_two(shape.n);
}
bool some(const Shape&, double parameter) {
    return kSegments.has(parameter);
}
bool some_power(const Shape& shape, double parameter) {
    return some(shape, parameter) && is_power_of_two(shape.n);
}
bool lambda_fits(const Shape&, double parameter) {
    return kLambdas.has(parameter);
}
bool alpha_fits(const Shape&, double parameter) {
    return kShares.has(parameter);
}
bool k_fits(const Shape&, double parameter) {
    return kLogs.has(parameter);
}
bool radix_fits(const Shape& shape, double parameter) {
    return shape.matrix.empty() && kRadixes.has(parameter);
}
bool combined_fits(const Shape&, double parameter) {
    return kRadixes.has(parameter);
}
bool ports_fit(const Shape&, double parameter) {
    return kPorts.has(parameter);
}
bool multiport_fits(const Shape& shape, double parameter) {
    return shape.matrix.empty() && kPorts.has(parameter);
}
bool fibonacci_fits(const Shape& shape, double parameter) {
    return some(shape, parameter) && shape.n <= FibonacciTrees::kMostMembers;
}
bool limit_fits(const Shape&, double parameter) {
    return kBlockBytes.has(parameter);
}
bool piece_fits(const Shape&, double parameter) {
    return kPieceBytes.has(parameter);
}
// The time to divide the messages into phases is proportional to n^3.
bool phases_fit(const Shape& shape, double parameter) {
    constexpr std::uint32_t kMostRanks = 256;
    return shape.n <= kMostRanks && kBlockBytes.has(parameter);
}
bool staged_fits(const Shape&, double form) {
    return kStagedForms.has(form);
}
bool square_fits(const Shape& shape, double form) {
    const auto side = static_cast<std::uint32_t>(std::lround(std::sqrt(shape.n)));
    return side * side == shape.n && staged_fits(shape, form);
}
bool census_fits(const Shape& shape, double parameter) {
    return exact(shape, 0) && lambda_fits(shape, parameter);
}
bool reversed_fits(const Shape& shape, double parameter) {
    return ring_fits(shape, 0) && some(shape, parameter);
}
bool reversed_power_fits(const Shape& shape, double parameter) {
    return reversed_fits(shape, parameter) && is_power_of_two(shape.n);
}

SplitRule half() {
    return split_in_half();
}
SplitRule by_lambda(const Shape& shape, double lambda) {
    return split_by_table(alpha_table(Lambda::nearest(lambda), shape.n));
}
// Precondition: the parameter is supported.
std::uint32_t whole(double parameter) {
    POE_CHECK(parameter >= 0 && parameter <= kMany, parameter);
    return static_cast<std::uint32_t>(parameter);
}
int integer(double parameter) {
    return static_cast<int>(whole(parameter));
}
constexpr int kAll = 31;  // more than log n: one group

constexpr const char* kPortsParameter = "ports of a rank";
constexpr const char* kStagedParameter = "send buffers: 1 or 2, 0 for blocking";
StagedForm staged_form(double parameter) {
    return static_cast<StagedForm>(integer(parameter));
}

using S = const Shape&;

constexpr bool at_once(double) {
    return true;
}
constexpr bool at_once_if_0(double parameter) {
    return parameter == 0;
}
constexpr Algorithm all_at_once(Algorithm row, bool (*when)(double) = at_once) {
    row.starts_all_at_once = when;
    return row;
}
constexpr Algorithm for_ports(Algorithm row) {
    row.sends_by_ports = true;
    return row;
}
constexpr Algorithm in_postal_time(Algorithm row, double (*time)(S, double lambda)) {
    row.postal_time = time;
    return row;
}
// T_lambda(n): a tree that is made for lambda reaches the last rank as early as possible.
constexpr Algorithm lambda_tree(Algorithm row) {
    return in_postal_time(row, [](S s, double lambda) {
        const Lambda nearest = Lambda::nearest(lambda);
        return static_cast<double>(PostalTimes(nearest, s.n).time(s.n)) / nearest.latency;
    });
}

constexpr Algorithm both_ways(Algorithm row) {
    row.both_ways_along_tree = true;
    return row;
}
constexpr Algorithm own_lengths_suffice(Algorithm row) {
    row.own_lengths_suffice = true;
    return row;
}

constexpr Algorithm blocks_compete(Algorithm row) {
    row.blocks_compete = true;
    return row;
}
constexpr Algorithm signals_precede(Algorithm row) {
    row.signals_precede = true;
    return row;
}

constexpr Algorithm in_two_levels(Op operation, Bytes (*copied)(S) = nullptr) {
    return {operation,
            "two-level",
            nullptr,
            kNoNumber,
            none,
            [](S s, double) { return two_level_fits(s); },
            [](S s, double) { return two_level(s, catalogue()); },
            [](S s, double) { return two_level_counts(s, catalogue()); },
            copied,
            two_level_within};
}

constexpr Algorithm kCatalogue[] = {
    {Op::kBcast, "binomial", nullptr, kNoNumber, none, always,
     [](S s, double) { return bcast_tree(s, half()); },
     [](S s, double) { return bcast_tree_counts(s, half()); }},
    {Op::kBcast, "alpha", "share that stays with the sender", kShares, [](S) { return 0.618; },
     alpha_fits, [](S s, double a) { return bcast_tree(s, split_by(a)); },
     [](S s, double a) { return bcast_tree_counts(s, split_by(a)); }},
    lambda_tree({Op::kBcast, "lambda", "lambda", kLambdas, usual_lambda, lambda_fits,
                 [](S s, double l) { return bcast_tree(s, by_lambda(s, l)); },
                 [](S s, double l) { return bcast_tree_counts(s, by_lambda(s, l)); }}),
    {Op::kBcast, "greedy", "lambda", kLambdas, usual_lambda, lambda_fits,
     [](S s, double l) { return bcast_greedy(s, Lambda::nearest(l)); }, nullptr},
    {Op::kBcast, "edst", "segments", kSegments, usual_segments, some_power,
     [](S s, double p) { return bcast_edst(s, whole(p)); },
     [](S s, double p) { return bcast_edst_counts(s, whole(p)); }},
    {Op::kBcast, "circulant", "segments", kSegments, usual_segments, some,
     [](S s, double p) { return bcast_circulant(s, whole(p)); },
     [](S s, double p) { return bcast_circulant_counts(s, whole(p)); }},
    {Op::kBcast, "fibonacci", "segments", kSegments, usual_segments, fibonacci_fits,
     [](S s, double p) { return bcast_fibonacci(s, whole(p)); }, nullptr},
    {Op::kBcast, "chain", "segments", kSegments, usual_segments, some,
     [](S s, double p) { return bcast_chain(s, whole(p)); },
     [](S s, double p) { return bcast_chain_counts(s, whole(p)); }},
    {Op::kBcast, "scatter-concat", nullptr, kNoNumber, none, always,
     [](S s, double) { return bcast_scatter_concat(s); },
     [](S s, double) { return bcast_scatter_concat_counts(s); }},
    in_two_levels(Op::kBcast),

    {Op::kReduce, "binomial", nullptr, kNoNumber, none, always,
     [](S s, double) { return reduce_tree(s, half()); },
     [](S s, double) { return reduce_tree_counts(s, half()); }},
    lambda_tree({Op::kReduce, "lambda", "lambda", kLambdas, usual_lambda, lambda_fits,
                 [](S s, double l) { return reduce_tree(s, by_lambda(s, l)); },
                 [](S s, double l) { return reduce_tree_counts(s, by_lambda(s, l)); }}),
    {Op::kReduce, "halving", nullptr, kNoNumber, none, cuttable,
     [](S s, double) { return reduce_halving(s); },
     [](S s, double) { return reduce_halving_counts(s); }},
    {Op::kReduce, "edst", "segments", kSegments, usual_segments, reversed_power_fits,
     [](S s, double p) {
         return reduce_reversed(s, bcast_edst(s, whole(p)), bcast_edst_counts(s, whole(p)));
     },
     [](S s, double p) { return bcast_edst_counts(s, whole(p)); }},
    {Op::kReduce, "circulant", "segments", kSegments, usual_segments, reversed_fits,
     [](S s, double p) {
         return reduce_reversed(s, bcast_circulant(s, whole(p)),
                                bcast_circulant_counts(s, whole(p)));
     },
     [](S s, double p) { return bcast_circulant_counts(s, whole(p)); }},
    {Op::kReduce, "chain", "segments", kSegments, usual_segments, reversed_fits,
     [](S s, double p) {
         return reduce_reversed(s, bcast_chain(s, whole(p)), bcast_chain_counts(s, whole(p)));
     },
     [](S s, double p) { return bcast_chain_counts(s, whole(p)); }},
    in_two_levels(Op::kReduce),

    {Op::kCombine, "tree", nullptr, kNoNumber, none, always,
     [](S s, double) { return combine_hybrid(s, kAll); },
     [](S s, double) { return combine_hybrid_counts(s, kAll); }},
    {Op::kCombine, "butterfly", nullptr, kNoNumber, none, always,
     [](S s, double) { return combine_hybrid(s, 0); },
     [](S s, double) { return combine_hybrid_counts(s, 0); }},
    {Op::kCombine, "hybrid", "k: trees within groups of 2^k", kLogs, half_of_log, k_fits,
     [](S s, double k) { return combine_hybrid(s, integer(k)); },
     [](S s, double k) { return combine_hybrid_counts(s, integer(k)); }},
    {Op::kCombine, "circulant", nullptr, kNoNumber, none, exact,
     [](S s, double) { return combine_census(s, 1); },
     [](S s, double) { return combine_census_counts(s, 1); }},
    in_postal_time({Op::kCombine, "census", "lambda", kLambdas, usual_lambda, census_fits,
                    [](S s, double l) { return combine_census(s, combine_lambda(l)); },
                    [](S s, double l) { return combine_census_counts(s, combine_lambda(l)); }},
                   [](S s, double l) { return combine_time(l, s.n) / l; }),
    {Op::kCombine, "halving", nullptr, kNoNumber, none, cuttable,
     [](S s, double) { return combine_halving(s); },
     [](S s, double) { return combine_halving_counts(s); }},
    {Op::kCombine, "ring", nullptr, kNoNumber, none, ring_fits,
     [](S s, double) { return combine_ring(s); },
     [](S s, double) { return combine_ring_counts(s); }},
    in_two_levels(Op::kCombine),

    {Op::kPrefix, "tree", nullptr, kNoNumber, none, always,
     [](S s, double) { return prefix_hybrid(s, kAll); },
     [](S s, double) { return prefix_hybrid_counts(s, kAll); }},
    {Op::kPrefix, "butterfly", nullptr, kNoNumber, none, always,
     [](S s, double) { return prefix_hybrid(s, 0); },
     [](S s, double) { return prefix_hybrid_counts(s, 0); }},
    {Op::kPrefix, "hybrid", "k: trees within groups of 2^k", kLogs, half_of_log, k_fits,
     [](S s, double k) { return prefix_hybrid(s, integer(k)); },
     [](S s, double k) { return prefix_hybrid_counts(s, integer(k)); }},
    in_two_levels(Op::kPrefix),

    {Op::kScatter, "binomial", nullptr, kNoNumber, none, always,
     [](S s, double) { return scatter_tree(s, half()); },
     [](S s, double) { return scatter_tree_counts(s, half()); }},
    lambda_tree({Op::kScatter, "lambda", "lambda", kLambdas, usual_lambda, lambda_fits,
                 [](S s, double l) { return scatter_tree(s, by_lambda(s, l)); },
                 [](S s, double l) { return scatter_tree_counts(s, by_lambda(s, l)); }}),
    all_at_once({Op::kScatter, "direct", nullptr, kNoNumber, none, always,
                 [](S s, double) { return scatter_direct(s); },
                 [](S s, double) { return scatter_direct_counts(s); }}),
    in_two_levels(Op::kScatter),

    {Op::kGather, "binomial", nullptr, kNoNumber, none, always,
     [](S s, double) { return gather_tree(s, half()); },
     [](S s, double) { return scatter_tree_counts(s, half()); }},
    lambda_tree({Op::kGather, "lambda", "lambda", kLambdas, usual_lambda, lambda_fits,
                 [](S s, double l) { return gather_tree(s, by_lambda(s, l)); },
                 [](S s, double l) { return scatter_tree_counts(s, by_lambda(s, l)); }}),
    all_at_once({Op::kGather, "direct", nullptr, kNoNumber, none, always,
                 [](S s, double) { return gather_direct(s); },
                 [](S s, double) { return scatter_direct_counts(s); }}),
    in_two_levels(Op::kGather),

    blocks_compete({Op::kConcat, "circulant", nullptr, kNoNumber, none, always,
                    [](S s, double) { return concat_circulant(s, 1); },
                    [](S s, double) { return concat_circulant_counts(s, 1); },
                    [](S s) { return s.bytes * s.n; }}),
    blocks_compete(
        for_ports({Op::kConcat, "multiport", kPortsParameter, kPorts, usual_ports, ports_fit,
                   [](S s, double k) { return concat_circulant(s, whole(k)); },
                   [](S s, double k) { return concat_circulant_counts(s, whole(k)); },
                   [](S s) { return s.bytes * s.n; }})),
    blocks_compete({Op::kConcat, "exchange", nullptr, kNoNumber, none, power_of_two,
                    [](S s, double) { return concat_exchange(s); },
                    [](S s, double) { return concat_exchange_counts(s); }}),
    blocks_compete(all_at_once({Op::kConcat, "direct", nullptr, kNoNumber, none, always,
                                [](S s, double) { return concat_direct(s); },
                                [](S s, double) { return concat_direct_counts(s); }})),
    blocks_compete({Op::kConcat, "ring", nullptr, kNoNumber, none, always,
                    [](S s, double) { return concat_ring(s); },
                    [](S s, double) { return concat_ring_counts(s); }}),
    all_at_once({Op::kConcat, "pieces", "bytes of a piece", kPieceBytes, usual_piece, piece_fits,
                 [](S s, double b) { return concat_pieces(s, whole(b)); },
                 [](S s, double b) { return concat_pieces_counts(s, whole(b)); }}),
    in_two_levels(Op::kConcat),

    // Must precede radix n, which sends the same messages and also copies.
    own_lengths_suffice(blocks_compete(
        all_at_once({Op::kIndex, "pairwise", "steps under way at once, 0 for all", kStepsAtOnce,
                     steps_at_once, [](S, double w) { return kStepsAtOnce.has(w); },
                     [](S s, double w) { return index_pairwise(s, whole(w)); },
                     [](S s, double) { return index_pairwise_counts(s); }},
                    at_once_if_0))),
    blocks_compete({Op::kIndex, "radix", "radix", kRadixes, root_of_n, radix_fits,
                    [](S s, double r) { return index_radix(s, whole(r), 1); },
                    [](S s, double r) { return index_radix_counts(s, whole(r), 1); },
                    [](S s) { return 2 * s.bytes * s.n; }}),
    blocks_compete(
        for_ports({Op::kIndex, "multiport", kPortsParameter, kPorts, usual_ports, multiport_fits,
                   [](S s, double k) { return index_radix(s, whole(k) + 1, whole(k)); },
                   [](S s, double k) { return index_radix_counts(s, whole(k) + 1, whole(k)); },
                   [](S s) { return 2 * s.bytes * s.n; }})),
    own_lengths_suffice(
        all_at_once({Op::kIndex, "pieces", "bytes of a piece", kPieceBytes, usual_piece, piece_fits,
                     [](S s, double b) { return index_pieces(s, whole(b)); },
                     [](S s, double b) { return index_pieces_counts(s, whole(b)); }})),
    own_lengths_suffice(signals_precede(
        {Op::kIndex, "phased", "bytes of a piece, 0 for whole blocks", kBlockBytes, usual_piece,
         limit_fits, [](S s, double b) { return index_phased(s, whole(b), Separation::kSignals); },
         [](S s, double b) { return index_phased_counts(s, whole(b)); }})),
    {Op::kIndex, "phased-barrier", "bytes of a piece, 0 for whole blocks", kBlockBytes, none,
     limit_fits, [](S s, double b) { return index_phased(s, whole(b), Separation::kBarriers); },
     nullptr},
    {Op::kIndex, "greedy", "bytes of the shortest block in a phase", kBlockBytes, none, phases_fit,
     [](S s, double b) { return index_greedy(s, whole(b)); }, nullptr},
    {Op::kIndex, "all-to-all", "bytes of the shortest block in a phase", kBlockBytes, none,
     phases_fit, [](S s, double b) { return index_all_to_all(s, whole(b)); }, nullptr},
    {Op::kIndex, "a2", kStagedParameter, kStagedForms, one_buffer, staged_fits,
     [](S s, double form) { return index_a2(s, staged_form(form)); }, nullptr},
    {Op::kIndex, "a3", kStagedParameter, kStagedForms, one_buffer, square_fits,
     [](S s, double form) { return index_a3(s, staged_form(form)); }, nullptr},
    {Op::kIndex, "a4", kStagedParameter, kStagedForms, two_buffers, staged_fits,
     [](S s, double form) { return index_a4(s, staged_form(form)); }, nullptr},
    {Op::kIndex, "combined", "radix of the distances between nodes", kRadixes, root_of_n,
     combined_fits, [](S s, double r) { return index_combined(s, whole(r)); }, nullptr},
    in_two_levels(Op::kIndex, [](S s) { return 2 * s.bytes * s.n; }),

    all_at_once({Op::kShift, "direct", nullptr, kNoNumber, none, always,
                 [](S s, double) { return shift_direct(s); },
                 [](S s, double) { return shift_direct_counts(s); }}),

    {Op::kSync, "dissemination", nullptr, kNoNumber, none, always,
     [](S s, double) { return sync_dissemination(s); },
     [](S s, double) { return sync_dissemination_counts(s); }},
    both_ways({Op::kSync, "tree", nullptr, kNoNumber, none, always,
               [](S s, double) { return sync_tree(s, half()); },
               [](S s, double) { return sync_tree_counts(s, half()); }}),
    in_two_levels(Op::kSync),
};

}  // namespace

std::span<const Algorithm> catalogue() noexcept {
    return kCatalogue;
}

const Algorithm* find_algorithm(Operation operation, std::string_view name) noexcept {
    for (const Algorithm& each : kCatalogue) {
        if (each.operation == operation && name == each.name) return &each;
    }
    return nullptr;
}

}  // namespace poe::collectives
