// The making of groups; see group_making.hpp.
#include "collectives/engine/group_making.hpp"

#include <algorithm>
#include <tuple>

namespace poe::collectives {
namespace {

// Returns the members of the new group for `label`, as ranks of the parent, in the order of the new
// group.
std::vector<Rank> with_label(const SplitPlan& colouring, std::int32_t label) {
    std::vector<Rank> ranks;
    for (std::size_t r = 0; r < colouring.labels.size(); ++r) {
        if (colouring.labels[r] == label) ranks.push_back(static_cast<Rank>(r));
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](Rank one, Rank other) {
        return colouring.keys[static_cast<std::size_t>(one)] <
               colouring.keys[static_cast<std::size_t>(other)];
    });
    return ranks;
}

// True if `rank` has rank 0 in its new group.
bool leads(const SplitPlan& colouring, Rank rank) {
    const auto own = static_cast<std::size_t>(rank);
    for (std::size_t r = 0; r < colouring.labels.size(); ++r) {
        if (colouring.labels[r] != colouring.labels[own]) continue;
        if (std::tuple(colouring.keys[r], r) < std::tuple(colouring.keys[own], own)) return false;
    }
    return true;
}

// The counter of this task, with numbers for `groups` groups reserved while the members exchange
// their counters. Numbers that are not used are given back.
class Numbers {
  public:
    Numbers(Groups& groups, std::uint32_t reserved) noexcept
        : groups_(groups), first_(groups.counter()), reserved_(reserved) {
        groups_.count(reserved_);
    }
    ~Numbers() { groups_.uncount(first_, reserved_, used_); }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;

    std::uint32_t first() const noexcept { return first_; }
    void use() noexcept { ++used_; }

  private:
    Groups& groups_;
    const std::uint32_t first_;
    const std::uint32_t reserved_;
    std::uint32_t used_ = 0;
};

// Numbers the new groups from the counters of all members of the parent. If a task leads groups of
// several plans, it counts them one after the other.
Numbered from_counters(CollectiveContext& library, Group& parent,
                       const std::vector<SplitPlan>& colourings,
                       const std::vector<std::uint32_t>& counters, Numbers& own) {
    Groups& groups = library.groups();
    Numbered numbered;
    for (std::size_t i = 0; i < colourings.size(); ++i) {
        const SplitPlan& colouring = colourings[i];
        const std::int32_t label = colouring.labels[static_cast<std::size_t>(parent.me)];
        const std::vector<Rank> ranks = with_label(colouring, label);
        std::uint32_t counter = counters[static_cast<std::size_t>(ranks.front())];
        for (std::size_t before = 0; before < i; ++before)
            counter += leads(colourings[before], ranks.front()) ? 1 : 0;
        std::vector<TaskId> members;
        members.reserve(ranks.size());
        for (const Rank rank : ranks)
            members.push_back(parent.members[static_cast<std::size_t>(rank)]);
        const auto number = groups.number(members.front(), counter);
        if (!number) return {};
        if (ranks.front() == parent.me) own.use();
        numbered.groups.push_back({*number, label, std::move(members)});
    }
    return numbered;
}

Made made_of(CollectiveContext& library, Numbered numbered) {
    Made made{{}, numbered.wrong};
    for (NewGroup& each : numbered.groups)
        made.groups.push_back(&library.groups().add(each.gid, each.label, std::move(each.members)));
    return made;
}

}  // namespace

Made make_group(CollectiveContext& library, std::vector<TaskId> list, int label) {
    Groups& groups = library.groups();
    Numbers own(groups, 1);
    std::uint32_t counter = own.first();
    // A temporary group without a number, for the broadcast of the leader's counter.
    Group unnamed(-1, label, list, groups.task());
    if (Plan* wrong = library.bcast_internal(unnamed, counter, kMakingGroups)) return {{}, wrong};
    const auto number = groups.number(list.front(), counter);
    if (!number) return {};
    if (unnamed.me == 0) own.use();
    return {{&groups.add(*number, label, std::move(list))}, nullptr};
}

Made partition(CollectiveContext& library, Group& parent, int key, int label) {
    struct Membership {
        std::int32_t label;
        std::int32_t key;
        std::uint32_t counter;
    };
    Numbers own(library.groups(), 1);
    const Membership own_choice{label, key, own.first()};
    std::vector<Membership> all(parent.size());
    if (Plan* wrong = library.allgather_internal(parent, &own_choice, all.data(), sizeof own_choice,
                                                 library.next_type(parent)))
        return {{}, wrong};
    SplitPlan colouring;
    std::vector<std::uint32_t> counters;
    for (const Membership& choice : all) {
        colouring.labels.push_back(choice.label);
        colouring.keys.push_back(choice.key);
        counters.push_back(choice.counter);
    }
    return made_of(library, from_counters(library, parent, {colouring}, counters, own));
}

Made split_group(CollectiveContext& library, Group& parent,
                 const std::vector<SplitPlan>& colourings) {
    return made_of(library, number_coloured(library, parent, colourings));
}

Numbered number_coloured(CollectiveContext& library, Group& parent,
                         const std::vector<SplitPlan>& colourings) {
    Numbers own(library.groups(), static_cast<std::uint32_t>(colourings.size()));
    const std::uint32_t first = own.first();
    std::vector<std::uint32_t> counters(parent.size());
    if (Plan* wrong = library.allgather_internal(parent, &first, counters.data(), sizeof first,
                                                 library.next_type(parent)))
        return {{}, wrong};
    return from_counters(library, parent, colourings, counters, own);
}

}  // namespace poe::collectives
