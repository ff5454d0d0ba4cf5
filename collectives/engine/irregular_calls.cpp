// Irregular calls in shared memory; see irregular_calls.hpp.
#include "collectives/engine/irregular_calls.hpp"

#include <algorithm>
#include <bit>

#include "collectives/shm/irregular_index.hpp"
#include "collectives/shm/shm_group.hpp"
#include "collectives/shm/staged_call.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {
namespace {

// The regular call whose path such a call takes. Lengths are rounded up to a power of two, so that
// a program whose lengths change needs few decisions.
Shape regular_call(std::uint32_t members, Bytes longest) {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = members;
    shape.bytes = std::bit_ceil(std::max(longest, kLine));
    return shape;
}

// The segment for the exchange of lengths: the one for short calls, unless the blocks of the last
// call would fit into the longer slots only. All members choose alike.
GroupSegment& segment_for(ShmGroup& memory, std::uint32_t members, Bytes last_longest) {
    GroupSegment& shorter = memory.short_region(false, GroupSegment::kLong.room());
    const auto carries = [&](const GroupSegment& segment) {
        return last_longest <= longest_carried(segment.sizes(), members);
    };
    if (carries(shorter)) return shorter;
    GroupSegment* const longer = memory.staged();
    return longer != nullptr && carries(*longer) ? *longer : shorter;
}

// Counts the traffic of a call that no messages have carried, and records its blocks.
void tell(CollectiveContext& context, const Group& group, std::span<const ExchangeBlock> blocks) {
    trace::Tracer& tracer = process_context().tracer;
    Transfer moved;
    for (std::size_t r = 0; r < blocks.size(); ++r) {
        moved.given += blocks[r].out_bytes;
        moved.gotten += blocks[r].in_bytes;
        const bool own = r == static_cast<std::size_t>(group.me);
        if (tracer.on() && (own || blocks[r].out_bytes > 0)) [[unlikely]]
            tracer.block(group.members[r], blocks[r].out_bytes);
    }
    context.count_traffic(moved);
}

ExchangeEnd end_of(const Group& group, const WrongBlock& wrong) {
    if (wrong.ok()) return {};
    return {comm::Outcome::kDone, group.members[wrong.giver], wrong.came, wrong.expected};
}

// The shared memory of a group; null: it has none.
ShmGroup* memory_for(CollectiveContext& context, Group& group) {
    ShmGroup* const memory = context.spans_jobs(group) ? nullptr : context.memory_of(group);
    if (memory != nullptr && group.lost_member >= 0) [[unlikely]]
        throw MemberLost(group.lost_member);
    return memory;
}

}  // namespace

std::optional<ExchangeEnd> exchange_in_memory(CollectiveContext& context, Group& group,
                                              std::span<ExchangeBlock> blocks) {
    const std::uint32_t n = group.size();
    ShmGroup* const memory = n > kMostIndexMembers ? nullptr : memory_for(context, group);
    if (memory == nullptr) return std::nullopt;
    const CallProgress::Scope told(context.progress(), CollectivePath::kCopyInOut);
    Bytes& longest = state_of(group).longest_block;
    const IndexLengths lengths =
        exchange_lengths(memory->tools(), segment_for(*memory, n, longest), blocks);
    longest = lengths.longest;
    if (!lengths.moved) {
        if (!are_balanced(lengths, n)) return std::nullopt;
        const SelectedPath selected = context.path_for(group, regular_call(n, lengths.longest));
        const CollectivePath kind = selected.path->kind;
        if (kind != CollectivePath::kPairwise && kind != CollectivePath::kCopyInOut)
            return std::nullopt;
        run_staged_index(kind == CollectivePath::kPairwise ? Partners::kOne : Partners::kAll,
                         memory->tools(), *selected.segment, lengths.longest, blocks,
                         selected.non_temporal);
    }
    tell(context, group, blocks);
    context.poll_sometimes();
    return end_of(group, lengths.wrong);
}

[[gnu::hot]] ExchangeEnd exchange_with_root(CollectiveContext& context, Group& group,
                                            Operation operation, Rank root,
                                            std::span<RootedBlock> blocks) {
    ShmGroup* const memory = memory_for(context, group);
    if (memory == nullptr) {
        for (RootedBlock& block : blocks) block.follows = block.bytes;
        return {};
    }
    const bool gather = operation == Operation::kGather;
    const CallProgress::Scope told(context.progress(),
                                   gather ? CollectivePath::kGather : CollectivePath::kFromRoot);
    const RootedSegments segments{memory->short_region(false, 0),
                                  memory->short_region(false, GroupSegment::kLong.room())};
    const WrongBlock wrong = (gather ? gather_blocks : scatter_blocks)(
        memory->tools(), segments, static_cast<std::uint32_t>(root), blocks);
    const bool is_root = group.me == root;
    Bytes moved = 0;
    bool messages_follow = false;
    for (std::size_t r = 0; r < blocks.size(); ++r) {
        if (is_root && r == static_cast<std::size_t>(root)) continue;
        messages_follow = messages_follow || blocks[r].follows > 0;
        if (blocks[r].follows == 0) moved += blocks[r].bytes;
    }
    context.count_traffic(gather == is_root ? Transfer{0, moved} : Transfer{moved, 0});
    // If messages follow, the caller polls; here, those of the next call would come before their
    // receives.
    if (!messages_follow) context.poll_sometimes();
    return end_of(group, wrong);
}

}  // namespace poe::collectives
