// The shared memory of a group; see shm_group.hpp.
#include "collectives/shm/shm_group.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {
namespace {

void report_missing(const std::string& what) {
    std::fprintf(stderr,
                 "ATTENTION: 0032-%d %s. Such calls of this group go another way, which may "
                 "take longer.\n",
                 static_cast<int>(comm::MplError::kNoGroupMemory), what.c_str());
}

}  // namespace

ShmGroup::ShmGroup(comm::Runtime& runtime, Group& group, std::uint32_t index)
    : runtime_(&runtime),
      group_(&group),
      member_lost_([&runtime, &group] {
          const auto lost = [&](TaskId task) { return runtime.messages().lost(task); };
          const auto first = std::find_if(group.members.begin(), group.members.end(), lost);
          if (first != group.members.end()) group.lost_member = *first;
          return group.lost_member >= 0;
      }),
      index_(index),
      memory_(runtime.segment()->map_group_segment(index)),
      tools_{facts().tasks_per_core(), {}, {}} {
    const auto all = sizes_of(group.size());
    regions_.reserve(all.size());
    std::byte* next = memory_.data();
    for (const GroupSegment::Sizes& sizes : all) {
        regions_.emplace_back(next, group.size(), static_cast<std::uint32_t>(group.me), sizes,
                              *this);
        next += sizes.bytes_for(group.size());
    }
    for (const Region region : {kStartedPacked, kStartedShort, kStartedLong})
        started_.emplace_back(regions_[region], tools_);
    for (const TaskId task : group.members) {
        indices_.push_back(*runtime.segment()->local_index(task));
        slots_.push_back(&runtime.segment()->slot(indices_.back()));
    }
}

ShmGroup::~ShmGroup() {
    // Every member leaves the regions in the same order, so the last member to leave the last
    // region knows that all have left all of them. It sets all of the memory to zero, because the
    // next group may have another size, with words where this group had data.
    bool last = false;
    for (GroupSegment& region : regions_) last = region.leave();
    if (!last) return;
    const std::uint32_t members = group_->size();
    // All members have made the same calls, so all of them have this memory, or none has.
    if (staged_)
        std::memset(memory_.data() + facts().layout.staging_offset, 0,
                    GroupSegment::staged_of(members).bytes_for(members));
    std::memset(memory_.data(), 0, bytes_for(members));
    runtime_->segment()->release_group_segment(index_);
}

std::optional<std::uint32_t> ShmGroup::reserve_segment(comm::Runtime& runtime) {
    try {
        return runtime.segment()->reserve_group_segment();
    } catch (const Error& error) {
        report_missing(error.what());
        return std::nullopt;
    }
}

std::array<GroupSegment::Sizes, ShmGroup::kRegions> ShmGroup::sizes_of(
    std::uint32_t members) noexcept {
    return {GroupSegment::short_of(members),
            GroupSegment::packed_of(members),
            GroupSegment::kLong,
            GroupSegment::kStartedPacked,
            GroupSegment::started_short_of(members),
            GroupSegment::kStartedLong};
}

Bytes ShmGroup::bytes_for(std::uint32_t members) noexcept {
    Bytes sum = 0;
    for (const GroupSegment::Sizes& sizes : sizes_of(members)) sum += sizes.bytes_for(members);
    return sum;
}

bool ShmGroup::possible(comm::Runtime& runtime, const Group& group) noexcept {
    if (group.size() < 2 || runtime.shared_memory() == nullptr) return false;
    return std::all_of(group.members.begin(), group.members.end(),
                       [&](TaskId task) { return runtime.node_of(task) == runtime.node(); });
}

GroupSegment& ShmGroup::short_region(bool packed, Bytes each) noexcept {
    if (packed) return regions_[kPacked];
    return regions_[each <= regions_[kShort].sizes().room() ? kShort : kLong];
}

StartedCalls* ShmGroup::started_calls(const Shape& shape) noexcept {
    for (std::size_t i = 0; i < started_.size(); ++i)
        if (StartedCalls::fits(regions_[kStartedPacked + i].sizes(), shape)) return &started_[i];
    return nullptr;
}

GroupSegment* ShmGroup::staged() {
    if (!asked_for_staged_) {
        asked_for_staged_ = true;
        const std::uint32_t members = group_->size();
        const std::uint32_t me = exchange().me();
        const GroupSegment::Sizes sizes = GroupSegment::staged_of(members);
        std::string missing;
        try {
            runtime_->segment()->reserve_staging(index_, sizes.bytes_for(members));
        } catch (const Error& error) {
            missing = error.what();
        }
        const std::uint32_t without = first_without(missing.empty());
        if (without == me) report_missing(missing);
        if (without == members)
            staged_.emplace(memory_.data() + facts().layout.staging_offset, members, me, sizes,
                            *this);
    }
    return staged_ ? &*staged_ : nullptr;
}

// Returns the first member whose `has` is false; the number of members if there is none. All
// members call it. Blocks.
std::uint32_t ShmGroup::first_without(bool has) {
    GroupSegment& segment = exchange();
    const std::uint64_t call = segment.acquire(GroupSegment::kAll);
    *segment.slot_of(segment.me(), call) = std::byte{has};
    segment.publish(GroupSegment::kAll, call);
    std::uint32_t first = group_->size();
    for (std::uint32_t m = group_->size(); m-- > 0;) {
        segment.await(m, call);
        if (*segment.slot_of(m, call) == std::byte{0}) first = m;
    }
    segment.release(call);
    return first;
}

[[gnu::hot]] void ShmGroup::wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
                                 const GroupSegment::AwaitedMember& whom) {
    const auto over = [&word, call] { return word.load(std::memory_order_acquire) > call; };
    const auto awaited = [&]() -> Awaited {
        const std::uint32_t member = whom.find();
        if (member >= group_->size()) return {};
        return {Awaited::Kind::kMessage, group_->members[member], -1};
    };
    if (!runtime_->messages().wait_until(over, awaited, &member_lost_)) [[unlikely]]
        throw MemberLost(group_->lost_member);
}

[[gnu::hot]] void ShmGroup::wake(std::uint32_t member) noexcept {
    if (member != GroupSegment::kAll) return runtime_->shared_memory()->wake(indices_[member]);
    // Usually no member sleeps. This task itself is awake.
    for (std::uint32_t m = 0; m < slots_.size(); ++m) {
        if (slots_[m]->sleeping.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
            runtime_->shared_memory()->wake(indices_[m]);
    }
}

}  // namespace poe::collectives
