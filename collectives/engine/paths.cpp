// The table of paths; see paths.hpp. Each row says what a path supports, which memory it needs, and
// how it makes a call. What the rows share is at the top, the table is at the end.
#include "collectives/engine/paths.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/hierarchical_calls.hpp"
#include "collectives/engine/multicast_calls.hpp"
#include "collectives/selection/multicast_cost.hpp"
#include "collectives/shm/pipelined_reduce.hpp"
#include "collectives/shm/short_calls.hpp"
#include "collectives/shm/single_copy_calls.hpp"
#include "collectives/shm/staged_call.hpp"

namespace poe::collectives {
namespace {

// The minimum block, in bytes, for which an index of more than two members is exchanged in pairs.
// Shorter blocks are exchanged with all members at once.
constexpr Bytes kMinPairwiseBlock = Bytes{32} << 10;

ShmGroup& memory_of(const PathCall& call) {
    return *state_of(call.group).memory;
}

// The sum over all members of the bytes that they contribute and get.
Bytes data_of(const Shape& shape) {
    const Bytes blocks = shape.span(0, shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return blocks;
        case Operation::kConcat:
            return (Bytes{shape.n} + 1) * blocks;
        case Operation::kIndex:
            return 2 * Bytes{shape.n} * blocks;
        default:
            return 2 * blocks;
    }
}

bool passes_sums_on(const Shape& shape) {
    return shape.operation == Operation::kReduce || shape.operation == Operation::kPrefix;
}

// Which paths work in place (Path::in_place).

bool always(const Shape&) {
    return true;
}

bool never(const Shape&) {
    return false;
}

// If more than two members exchange their blocks in pairs, a block that comes from a member may be
// written before the one for that member has been sent.
bool unless_partners_change(const Shape& shape) {
    return shape.operation != Operation::kIndex || shape.n == 2;
}

// Short calls (short_calls.hpp).

bool is_short_shift(const Shape& shape, bool) {
    return shape.operation == Operation::kShift && fits_short(shape);
}

bool is_short_gather(const Shape& shape, bool barrier) {
    return shape.operation == Operation::kGather && !barrier && fits_short(shape);
}

bool is_short_from_root(const Shape& shape, bool barrier) {
    return is_from_root(shape) && !barrier && fits_short(shape);
}

bool is_short_swap(const Shape& shape, bool) {
    return shape.n == 2 &&
           (shape.operation == Operation::kCombine || shape.operation == Operation::kConcat) &&
           fits_short(shape);
}

// Supports barrier mode, too, because every member waits for all others.
bool is_short_for_all(const Shape& shape, bool) {
    return !is_from_root(shape) && !passes_sums_on(shape) && shape.operation != Operation::kShift &&
           fits_short(shape);
}

// `packed`: several calls share a cache line, because their data are short enough for it and no
// member waits for data that depend on its own contribution.
bool prepare_short(CollectiveContext& context, Group& group, bool packed, Bytes each,
                   SelectedPath& selected) {
    ShmGroup* memory = context.memory_of(group);
    if (memory == nullptr) return false;
    selected.segment = &memory->short_region(packed, each);
    return true;
}

bool prepare_one_way(CollectiveContext& context, Group& group, const Shape& shape,
                     SelectedPath& selected) {
    selected.sync_first = context.barrier();
    const Bytes each = shape.longest_block();
    const bool packed = each <= GroupSegment::packed_of(shape.n).room();
    return prepare_short(context, group, packed, each, selected);
}

bool prepare_both_ways(CollectiveContext& context, Group& group, const Shape& shape,
                       SelectedPath& selected) {
    return prepare_short(context, group, false, contribution_to(shape), selected);
}

bool prepare_from_root(CollectiveContext& context, Group& group, const Shape& shape,
                       SelectedPath& selected) {
    const bool packed = published_in(shape) <= GroupSegment::packed_of(shape.n).published_room();
    return prepare_short(context, group, packed, shape.bytes, selected);
}

template <void (*kMake)(CallTools&, GroupSegment&, const Shape&, const Run&)>
[[gnu::hot]] Plan* run_in_memory(const PathCall& call) {
    kMake(memory_of(call).tools(), *call.selected.segment, call.call.shape, call.call.run);
    return nullptr;
}

// Long calls, piece by piece.

bool prepare_staged(CollectiveContext& context, Group& group, const Shape& shape,
                    SelectedPath& selected) {
    ShmGroup* memory = context.memory_of(group);
    if (memory == nullptr) return false;
    selected.segment = memory->staged();
    selected.sync_first = context.barrier();
    const Bytes cache = memory->facts().cache_bytes;
    selected.non_temporal = cache > 0 && data_of(shape) >= cache / 2;
    return selected.segment != nullptr;
}

bool is_pipelined_reduce(const Shape& shape, bool) {
    return passes_sums_on(shape) && (fits_short(shape) || fits_pipelined_reduce(shape));
}

// A short reduction is a pipeline of one piece, for which short memory is enough.
bool prepare_pipelined_reduce(CollectiveContext& context, Group& group, const Shape& shape,
                              SelectedPath& selected) {
    return fits_short(shape) ? prepare_one_way(context, group, shape, selected)
                             : prepare_staged(context, group, shape, selected);
}

bool is_copied_in_and_out(const Shape& shape, bool barrier) {
    return !fits_short(shape) && fits_staged(shape, Partners::kAll) &&
           !(barrier && is_from_root(shape));
}

bool is_exchanged_by_pairs(const Shape& shape, bool) {
    return !fits_short(shape) && fits_staged(shape, Partners::kOne) &&
           (shape.n == 2 || shape.bytes >= kMinPairwiseBlock ||
            !fits_staged(shape, Partners::kAll));
}

template <Partners kPartners>
Plan* run_piece_by_piece(const PathCall& call) {
    run_staged(kPartners, memory_of(call).tools(), *call.selected.segment, call.call.shape,
               call.call.run, call.selected.non_temporal);
    return nullptr;
}

// Single copy.

bool is_single_copy(const Shape& shape, bool) {
    return SingleCopyCalls::fits(shape);
}

bool prepare_single_copy(CollectiveContext& context, Group& group, const Shape&, SelectedPath&) {
    SingleCopyCalls* single_copy = context.single_copy_of(group);
    return single_copy != nullptr && single_copy->allowed();
}

Plan* run_single_copy(const PathCall& call) {
    state_of(call.group).single_copy->run(call.call.shape, call.call.run, call.context.barrier());
    return nullptr;
}

// Multicast. A group that cannot use it, or does not know yet whether it can, takes messages
// instead.

bool is_multicast(const Shape& shape, bool barrier) {
    return !barrier && has_multicast(shape.operation);
}

bool prepare_multicast(CollectiveContext& context, Group& group, const Shape& shape,
                       SelectedPath&) {
    if (!fits_multicast(shape, context.nodes_of(group))) return false;
    std::unique_ptr<GroupOwned>& calls = state_of(group).multicast;
    if (calls == nullptr) calls = std::make_unique<MulticastCalls>(context, group);
    return !static_cast<MulticastCalls&>(*calls).refused();
}

Plan* run_multicast(const PathCall& call) {
    auto& calls = static_cast<MulticastCalls&>(*state_of(call.group).multicast);
    CollectiveContext& context = call.context;
    const Shape& shape = call.call.shape;
    const bool was_settled = calls.settled();
    const bool ready = calls.ready(context.insists_on_multicast(shape));
    if (!was_settled && calls.settled()) context.forget_paths(call.group);
    // Until it is settled, this path also has calls for which multicast would be faster on a slow
    // network only.
    if (ready &&
        (was_settled || context.wants_multicast(shape, context.nodes_of(call.group),
                                                state_of(call.group).time_of_byte.value_or(0))))
        return calls.run(call.call);
    const auto messages = context.path_by(Transport::kMessages, call.group, shape);
    return context.run_on(*messages, call.group, call.call);
}

// Messages.

bool is_any(const Shape&, bool) {
    return true;
}

// In barrier mode calls use schedules, to which barriers are added. A call for which the user names
// an algorithm uses its schedule.
bool is_hierarchical(const Shape& shape, bool barrier) {
    return !barrier && HierarchicalCalls::supports(shape);
}

bool prepare_hierarchical(CollectiveContext& context, Group& group, const Shape& shape,
                          SelectedPath&) {
    if (context.nodes_of(group).empty() || context.names_algorithm(group, shape)) return false;
    std::unique_ptr<GroupOwned>& calls = state_of(group).hierarchical;
    if (calls == nullptr)
        calls = std::make_unique<HierarchicalCalls>(context, group, context.nodes_of(group));
    return static_cast<HierarchicalCalls&>(*calls).fits(shape);
}

Plan* run_hierarchical(const PathCall& call) {
    return static_cast<HierarchicalCalls&>(*state_of(call.group).hierarchical).run(call.call);
}

bool prepare_nothing(CollectiveContext&, Group&, const Shape&, SelectedPath&) {
    return true;
}

Plan* run_schedule(const PathCall& call) {
    return &call.context.run_schedule(call.group, call.call);
}

constexpr Transport kShared = Transport::kShared;
constexpr Transport kDirect = Transport::kDirect;
constexpr Transport kMulticast = Transport::kMulticast;
constexpr Transport kMessages = Transport::kMessages;

constexpr Path kPaths[] = {
    {"cache-line", kShared, fits_cache_lines, prepare_both_ways, always,
     run_in_memory<exchange_slots>, CollectivePath::kCacheLine},
    {"pipelined-reduce", kShared, is_pipelined_reduce, prepare_pipelined_reduce, always,
     run_in_memory<pipelined_reduce>, CollectivePath::kPipelinedReduce},
    {"shift", kShared, is_short_shift, prepare_one_way, always, run_in_memory<give_to_one>,
     CollectivePath::kShift},
    {"gather", kShared, is_short_gather, prepare_one_way, always, run_in_memory<give_to_one>,
     CollectivePath::kGather},
    {"from-root", kShared, is_short_from_root, prepare_from_root, always,
     run_in_memory<publish_from_root>, CollectivePath::kFromRoot},
    {"swap", kShared, is_short_swap, prepare_both_ways, always, run_in_memory<exchange_slots>,
     CollectivePath::kSwap},
    {"arrive-and-publish", kShared, is_short_for_all, prepare_both_ways, always,
     run_in_memory<arrive_and_publish>, CollectivePath::kArriveAndPublish},
    {"pairwise", kShared, is_exchanged_by_pairs, prepare_staged, unless_partners_change,
     run_piece_by_piece<Partners::kOne>, CollectivePath::kPairwise},
    {"copy-in-out", kShared, is_copied_in_and_out, prepare_staged, always,
     run_piece_by_piece<Partners::kAll>, CollectivePath::kCopyInOut},
    {"single-copy", kDirect, is_single_copy, prepare_single_copy, never, run_single_copy,
     CollectivePath::kSingleCopy},
    {"multicast", kMulticast, is_multicast, prepare_multicast, never, run_multicast,
     CollectivePath::kMulticast},
    {"hierarchical", kMessages, is_hierarchical, prepare_hierarchical, never, run_hierarchical,
     CollectivePath::kHierarchical},
    {"schedule", kMessages, is_any, prepare_nothing, never, run_schedule,
     CollectivePath::kSchedule},
};

static_assert(std::size(kPaths) <= kMostPaths);
static_assert(std::all_of(std::begin(kPaths), std::end(kPaths), [](const Path& path) {
    return collective_path_name(path.kind) == path.name;
}));

}  // namespace

std::span<const Path> paths() noexcept {
    return kPaths;
}

}  // namespace poe::collectives
