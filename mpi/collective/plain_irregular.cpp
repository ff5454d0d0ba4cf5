// Plain calls with blocks of unequal length; see plain_irregular.hpp.
#include "mpi/collective/plain_irregular.hpp"

#include "collectives/engine/irregular_calls.hpp"
#include "collectives/engine/process_collectives.hpp"
#include "mpi/collective/plain_call.hpp"
#include "mpi/collective/sequence.hpp"

namespace poe::mpi {
namespace {

using collectives::CollectiveContext;
using collectives::ExchangeEnd;
using collectives::kLongestRootedBlock;
using collectives::RootedBlock;

// The block of a member. False: its arguments are wrong.
bool find_block(const PlainVector& all, int rank, PlainBlock& block) noexcept {
    const std::int64_t count = all.counts[rank];
    if (count < 0 || __builtin_mul_overflow(static_cast<Bytes>(count), all.element, &block.bytes))
        return false;
    const auto distance = static_cast<Bytes>(all.displacements[rank]) * all.element;
    block.memory = all.memory + static_cast<std::ptrdiff_t>(distance);
    return true;
}

bool is_plain(const PlainVector& all) noexcept {
    return all.element > 0 && !all.counts.is_null() && !all.displacements.is_null();
}

// Calls make(context, state), which returns true if the call is complete. The communicator must be
// within one node, which the general way has found out.
template <typename Make>
bool make_in_memory(comm::Runtime& runtime, Comm& comm, const Make& make) noexcept {
    try {
        CollectiveState& state = collective_state(comm);
        if (comm.is_inter() || comm.size() < 2 || state.over_network.value_or(true)) return false;
        if (!make(collectives::the_collectives(runtime), state)) return false;
        // A call that is not complete is counted by the general way.
        ++state.calls;
        ++comm.operations;
        return true;
    } catch (...) {
        // See make_plain_call().
        return false;
    }
}

}  // namespace

[[gnu::hot]] bool make_plain_alltoallv(comm::Runtime& runtime, Comm& comm, const PlainVector& out,
                                       const PlainVector& in, const ShownAs& shown) noexcept {
    if (!is_plain(out) || !is_plain(in)) return false;
    return make_in_memory(runtime, comm, [&](CollectiveContext& context, CollectiveState& state) {
        if (context.planned() != nullptr) return false;
        auto& blocks = collectives::state_of(*comm.group).blocks;
        blocks.clear();
        for (int r = 0; r < comm.size(); ++r) {
            PlainBlock sent, received;
            if (!find_block(out, r, sent) || !find_block(in, r, received)) return false;
            if (r == comm.rank && sent.memory == received.memory && sent.bytes > 0) return false;
            blocks.push_back({sent.memory, sent.bytes, received.memory, received.bytes});
        }
        const ShownCall visible(runtime, comm, shown);
        const EndInMemory end = collectives::exchange_in_memory(context, *comm.group, blocks);
        if (end && end->ok()) return true;
        state.begun.emplace(end);
        return false;
    });
}

[[gnu::hot]] bool make_plain_rooted(comm::Runtime& runtime, Comm& comm, bool gathers, int root,
                                    const PlainBlock& own, const PlainVector& all,
                                    const ShownAs& shown) noexcept {
    const bool is_root = root == comm.rank;
    if (is_root && !is_plain(all)) return false;
    return make_in_memory(runtime, comm, [&](CollectiveContext& context, CollectiveState& state) {
        std::vector<RootedBlock>& blocks = state.rooted;
        blocks.clear();
        PlainBlock in_all;
        for (int r = 0; r < comm.size() && is_root; ++r) {
            PlainBlock block;
            if (!find_block(all, r, block) || block.bytes > kLongestRootedBlock) return false;
            if (r == root) in_all = block;
            blocks.push_back({block.memory, block.bytes});
        }
        if (is_root && (own.bytes != in_all.bytes || own.memory == in_all.memory)) return false;
        if (!is_root) {
            if (own.bytes > kLongestRootedBlock) return false;
            blocks.push_back({own.memory, own.bytes});
        }
        const ShownCall visible(runtime, comm, shown);
        const ExchangeEnd end = collectives::exchange_with_root(
            context, *comm.group,
            gathers ? collectives::Operation::kGather : collectives::Operation::kScatter, root,
            blocks);
        bool complete = end.ok();
        for (int r = 0; r < static_cast<int>(blocks.size()); ++r)
            complete = complete &&
                       ((is_root && r == root) || blocks[static_cast<std::size_t>(r)].follows == 0);
        if (!complete) {
            state.begun.emplace(end);
            return false;
        }
        if (is_root)
            collectives::put(gathers ? in_all.memory : own.memory,
                             gathers ? own.memory : in_all.memory, own.bytes);
        return true;
    });
}

[[gnu::hot]] bool make_plain_allgatherv(comm::Runtime& runtime, Comm& comm, const PlainBlock& own,
                                        const PlainVector& all, const ShownAs& shown) noexcept {
    if (!is_plain(all)) return false;
    try {
        std::vector<Bytes>& offsets = collective_state(comm).offsets;
        offsets.assign(1, 0);
        PlainBlock first, mine;
        bool equal = true;
        for (int r = 0; r < comm.size(); ++r) {
            PlainBlock block;
            if (!find_block(all, r, block)) return false;
            if (r == 0) first = block;
            if (r == comm.rank) mine = block;
            if (block.memory != first.memory + offsets.back()) return false;
            equal = equal && block.bytes == first.bytes;
            offsets.push_back(offsets.back() + block.bytes);
        }
        const bool in_place = own.memory == nullptr;
        if (!in_place && (own.bytes == 0 || own.bytes != mine.bytes || own.memory == mine.memory))
            return false;
        if (offsets.back() == 0) return false;
        return make_plain_call(runtime, comm,
                               {.operation = collectives::Operation::kConcat,
                                .what = ::poe::Call::kConcat,
                                .bytes = offsets.back() / static_cast<Bytes>(comm.size()),
                                .given = in_place ? mine.memory : own.memory,
                                .result = first.memory,
                                .in_place = in_place,
                                .irregular = !equal,
                                .shown = shown});
    } catch (...) {
        return false;  // memory is short
    }
}

}  // namespace poe::mpi
