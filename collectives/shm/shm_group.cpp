// The shared memory of a group; see shm_group.hpp.
#include "collectives/shm/shm_group.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {
namespace {

// A cache line arrives from another core within this number of polls. If tasks share cores, there
// are no such polls, because the giver often waits for this member's core.
constexpr int kSpinsBeforeYield = 4;

void report_missing(const std::string& what) {
    std::fprintf(stderr,
                 "ATTENTION: 0032-%d %s. Such calls of this group go another way, which may "
                 "take longer.\n",
                 static_cast<int>(comm::MplError::kNoGroupMemory), what.c_str());
}

}  // namespace

ShmGroup::ShmGroup(comm::Runtime& runtime, Group& group, std::uint32_t piece)
    : runtime_(&runtime),
      group_(&group),
      member_lost_([&runtime, &group] {
          const auto lost = [&](TaskId task) { return runtime.messages().lost(task); };
          const auto first = std::find_if(group.members.begin(), group.members.end(), lost);
          if (first != group.members.end()) group.lost_member = *first;
          return group.lost_member >= 0;
      }),
      piece_(piece),
      me_(static_cast<std::uint32_t>(group.me)),
      spins_(runtime.segment()->facts().oversubscribed() ? 0 : kSpinsBeforeYield),
      memory_(runtime.segment()->map_common(piece)),
      scratch_(GroupSegment::kLong.slot) {
    const GroupSegment::Sizes few = GroupSegment::short_of(group.size());
    short_.emplace(memory_.data(), group.size(), me_, few);
    std::byte* next = memory_.data() + GroupSegment::bytes_for(group.size(), few);
    long_.emplace(next, group.size(), me_, GroupSegment::kLong);
    next += GroupSegment::bytes_for(group.size(), GroupSegment::kLong);
    lines_.emplace(next, group.size(), me_);
    next += CacheLineExchange::bytes_for(group.size());
    packed_.emplace(next, group.size(), me_, GroupSegment::packed_of(group.size()));
    for (const TaskId task : group.members) {
        indices_.push_back(*runtime.segment()->local_index(task));
        slots_.push_back(&runtime.segment()->slot(indices_.back()));
    }
}

ShmGroup::~ShmGroup() {
    if (!long_) return;
    // Members leave the three segments in this order, so the last to leave `long_` knows that all
    // have left the others. All of the memory is set to zero, because in the next group, which may
    // have another size, words lie where data were.
    short_->leave();
    packed_->leave();
    if (!long_->leave()) return;
    const std::uint32_t members = group_->size();
    // All members have made the same calls, so either all have this memory or none.
    if (staged_) std::memset(memory_.data() + facts().layout.staging_offset, 0, staged_bytes());
    std::memset(memory_.data(), 0, bytes_for(members));
    runtime_->segment()->give_back_common(piece_);
}

std::optional<std::uint32_t> ShmGroup::reserve_piece(comm::Runtime& runtime) {
    try {
        return runtime.segment()->take_common();
    } catch (const Error& error) {
        report_missing(error.what());
        return std::nullopt;
    }
}

Bytes ShmGroup::bytes_for(std::uint32_t members) noexcept {
    return GroupSegment::bytes_for(members, GroupSegment::short_of(members)) +
           GroupSegment::bytes_for(members, GroupSegment::kLong) +
           CacheLineExchange::bytes_for(members) +
           GroupSegment::bytes_for(members, GroupSegment::packed_of(members));
}

bool ShmGroup::possible(comm::Runtime& runtime, const Group& group) noexcept {
    if (group.size() < 2 || runtime.shared_memory() == nullptr) return false;
    return std::all_of(group.members.begin(), group.members.end(),
                       [&](TaskId task) { return runtime.node_of(task) == runtime.node(); });
}

GroupSegment& ShmGroup::both_ways(Bytes contribution) noexcept {
    return contribution <= short_->room() ? *short_ : *long_;
}

GroupSegment& ShmGroup::one_way(Bytes contribution) noexcept {
    return contribution <= packed_->room() ? *packed_ : both_ways(contribution);
}

GroupSegment& ShmGroup::from_root(Bytes published, Bytes each) noexcept {
    return published <= packed_->published_room() ? *packed_ : both_ways(each);
}

Bytes ShmGroup::staged_bytes() const noexcept {
    return GroupSegment::bytes_for(group_->size(), GroupSegment::staged_of(group_->size()));
}

GroupSegment* ShmGroup::staged() {
    if (!asked_for_staged_) {
        asked_for_staged_ = true;
        std::string missing;
        try {
            runtime_->segment()->reserve_staging(piece_, staged_bytes());
        } catch (const Error& error) {
            missing = error.what();
        }
        const std::uint32_t without = first_without(missing.empty());
        if (without == me_) report_missing(missing);
        if (without == group_->size())
            staged_.emplace(memory_.data() + facts().layout.staging_offset, group_->size(), me_,
                            GroupSegment::staged_of(group_->size()));
    }
    return staged_ ? &*staged_ : nullptr;
}

// Returns the first member whose `has` is false; their number if there is none. Called by all
// members. Blocks.
std::uint32_t ShmGroup::first_without(bool has) {
    const std::uint64_t call = short_->acquire(*this);
    std::memcpy(short_->slot_of(me_, call), &has, sizeof has);
    short_->publish(call, *this);
    std::uint32_t first = group_->size();
    for (std::uint32_t m = group_->size(); m-- > 0;) {
        bool its = false;
        short_->await_published(m, call, *this);
        std::memcpy(&its, short_->slot_of(m, call), sizeof its);
        if (!its) first = m;
    }
    short_->release(call, *this);
    return first;
}

[[gnu::hot]] void ShmGroup::wait(const std::function<bool()>& over,
                                 const std::function<std::uint32_t()>& whom) {
    const auto awaited = [&]() -> Awaited {
        const std::uint32_t member = whom();
        if (member >= group_->size()) return {};
        return {Awaited::Kind::kMessage, group_->members[member], -1};
    };
    if (!runtime_->messages().wait_until(over, std::cref(awaited), &member_lost_)) [[unlikely]]
        throw MemberLost(group_->lost_member);
}

[[gnu::hot]] void ShmGroup::wake_others() noexcept {
    // Almost always no member sleeps. This task itself is awake.
    for (std::uint32_t m = 0; m < slots_.size(); ++m) {
        if (slots_[m]->sleeping.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
            wake(m);
    }
}

void ShmGroup::wake(std::uint32_t member) noexcept {
    runtime_->shared_memory()->wake(indices_[member]);
}

}  // namespace poe::collectives
