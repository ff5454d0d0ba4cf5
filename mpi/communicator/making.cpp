// Communicators by colour and by group; see making.hpp.
#include "mpi/communicator/making.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hardware_resources.hpp"
#include "base/hash.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/process/process_sets.hpp"

namespace poe::mpi {
namespace {

collectives::Groups& groups_of(comm::Runtime& runtime) {
    return collectives::the_collectives(runtime).groups();
}

// What a member contributes to a split.
struct Choosing {
    std::int32_t color;
    std::int32_t key;
    std::int32_t counter;
    std::int32_t type;  // of MPI_Comm_split_type; otherwise 0
};
constexpr std::size_t kChoosingWords = sizeof(Choosing) / sizeof(std::int32_t);

Choosing choosing_at(const Words& words, std::size_t rank) noexcept {
    const std::int32_t* at = words.data() + rank * kChoosingWords;
    return {at[0], at[1], at[2], at[3]};
}

// The members of a group that have chosen a color, in their new order, and their group's number.
struct Chosen {
    MembersPtr members;
    std::int32_t number = Reservation::kNoNumber;
};

Chosen with_color(comm::Runtime& runtime, const Members& group, const Words& words, int color) {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank * kChoosingWords < words.size(); ++rank) {
        if (choosing_at(words, rank).color == color) ranks.push_back(rank);
    }
    if (ranks.empty()) return {};
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t one, std::size_t other) {
        return choosing_at(words, one).key < choosing_at(words, other).key;
    });
    std::vector<TaskId> tasks;
    tasks.reserve(ranks.size());
    for (const std::size_t rank : ranks) tasks.push_back(group.tasks()[rank]);
    const std::int32_t number =
        number_from(groups_of(runtime), tasks.front(), choosing_at(words, ranks.front()).counter);
    return {std::make_shared<const Members>(std::move(tasks), group.session()), number};
}

// The first member whose choice `is_wrong`, as a text; empty if there is none.
template <typename Wrong>
std::string first_wrong(const Contributions& all, Wrong&& is_wrong) {
    for (const Words* words : {&all.local, &all.remote}) {
        for (std::size_t rank = 0; rank * kChoosingWords < words->size(); ++rank) {
            if (is_wrong(choosing_at(*words, rank)))
                return "rank " + std::to_string(rank) +
                       (words == &all.remote ? " of the remote group" : "");
        }
    }
    return {};
}

// The communicator of the members that have chosen the own color.
MadeComm made_of_color(comm::Runtime& runtime, Comm& parent, const Contributions& all, int color,
                       Reservation& reserved) {
    if (color == MPI_UNDEFINED) return {};
    Chosen local = with_color(runtime, *parent.local, all.local, color);
    NewComm made{local.members, nullptr, local.number};
    if (parent.is_inter()) {
        Chosen remote = with_color(runtime, *parent.remote, all.remote, color);
        if (remote.members == nullptr) return {};
        made.remote = std::move(remote.members);
        made.remote_number = remote.number;
    }
    if (local.members->task(0) == environment().task) reserved.use();
    return make_comm(parent, std::move(made));
}

}  // namespace

MadeComm split(comm::Runtime& runtime, Comm& parent, int color, int key) {
    Reservation reserved(groups_of(runtime));
    Contributions all;
    if (Fault fault = gather_words(runtime, parent, {color, key, reserved.counter(), 0}, all))
        return {nullptr, std::move(fault)};
    const std::string wrong = first_wrong(all, [](const Choosing& choosing) {
        return choosing.color < 0 && choosing.color != MPI_UNDEFINED;
    });
    if (!wrong.empty())
        return {nullptr,
                {MPI_ERR_ARG, "color", "the color of " + wrong + " is negative",
                 "give a color from 0 on, or MPI_UNDEFINED"}};
    return made_of_color(runtime, parent, all, color, reserved);
}

MadeComm take_part(comm::Runtime& runtime, Comm& parent, bool takes_part, const Fault& fault) {
    Reservation reserved(groups_of(runtime));
    const std::int32_t color = takes_part ? 0 : MPI_UNDEFINED;
    Contributions all;
    if (Fault failed =
            gather_words(runtime, parent, {color, 0, reserved.counter(), fault.code}, all))
        return {nullptr, std::move(failed)};
    if (fault) return {nullptr, fault};
    std::int32_t code = MPI_SUCCESS;
    const std::string wrong = first_wrong(all, [&](const Choosing& choosing) {
        code = choosing.type;
        return code != MPI_SUCCESS;
    });
    if (!wrong.empty())
        return {
            nullptr,
            {code, "", wrong + " has given wrong arguments", "look for the message of that task"}};
    return made_of_color(runtime, parent, all, color, reserved);
}

namespace {

// The keys of resources are compared as numbers, so that members can contribute them.
std::int32_t hash_of(const std::string& text) noexcept {
    return static_cast<std::int32_t>(Hash32().add(text).value() & 0x7fffffffu);
}

constexpr const char* kNodeResource = "mpi_shared_memory";

// Equal for members that can have shared memory in common: tasks of one job on one node.
int node_of(comm::Runtime& runtime, const Comm& parent) {
    if (spans_jobs(runtime, parent))
        return hash_of(std::string(runtime.segment()->facts().job_id) + " " +
                       std::to_string(runtime.node()));
    return static_cast<int>(runtime.node());
}

// A type of resource, and the color of this member: that of its instance, or MPI_UNDEFINED if the
// member is not restricted to one.
struct ColorOfResource {
    const char* type;
    std::int32_t color;
};

// From large resources to small ones; the same types at all members.
std::vector<ColorOfResource> colors_of_resources(comm::Runtime& runtime, const Comm& parent) {
    const int node = node_of(runtime, parent);
    const bool is_hash = spans_jobs(runtime, parent);
    std::vector<ColorOfResource> all{{kNodeResource, node}};
    for (const HardwareResource& each : resources_of_this_thread()) {
        std::int32_t color = MPI_UNDEFINED;
        if (each.instance)
            color = is_hash ? hash_of(std::to_string(node) + " " + std::to_string(*each.instance))
                            : node * CPU_SETSIZE + *each.instance;
        all.push_back({each.type, color});
    }
    return all;
}

bool is_in_set(comm::Runtime& runtime, const std::string& name) {
    const ProcessSet* const set = find_process_set(process_sets(runtime.tasks()), name);
    return set != nullptr && std::ranges::find(set->tasks, runtime.task()) != set->tasks.end();
}

// The color of this member for a split by type; MPI_UNDEFINED if it gets no communicator.
int color_of_type(comm::Runtime& runtime, const Comm& parent, int type,
                  const std::string& resource) {
    switch (type) {
        case MPI_COMM_TYPE_SHARED:
            return node_of(runtime, parent);
        case MPI_COMM_TYPE_HW_UNGUIDED:
            return 0;  // until the members know the resource
        case MPI_COMM_TYPE_HW_GUIDED:
        case MPI_COMM_TYPE_RESOURCE_GUIDED:
            for (const ColorOfResource& each : colors_of_resources(runtime, parent))
                if (resource == each.type) return each.color;
            if (type == MPI_COMM_TYPE_HW_GUIDED) return MPI_UNDEFINED;
            if (resource == "mpi://WORLD") return 0;
            if (resource == "mpi://SELF") return parent.rank;
            return is_in_set(runtime, resource) ? 0 : MPI_UNDEFINED;
        default:
            return MPI_UNDEFINED;
    }
}

bool is_split_type(int type) noexcept {
    return type == MPI_COMM_TYPE_SHARED || type == MPI_COMM_TYPE_HW_UNGUIDED ||
           type == MPI_COMM_TYPE_HW_GUIDED || type == MPI_COMM_TYPE_RESOURCE_GUIDED ||
           type == MPI_UNDEFINED;
}

// What the members must agree on.
std::int32_t digest_of_type(int type, const std::string& resource) noexcept {
    // The resource is a result then.
    const bool is_result = type == MPI_COMM_TYPE_HW_UNGUIDED;
    return hash_of(std::to_string(type) + " " + (is_result ? "" : resource));
}

// Calls visit(the color that a member has chosen, its colors by resource) for each member that
// takes part.
template <typename Visit>
void visit_parts(Contributions& all, const Contributions& colors, std::size_t types,
                 Visit&& visit) {
    for (const auto& [choices, theirs] :
         {std::pair(&all.local, &colors.local), std::pair(&all.remote, &colors.remote)}) {
        for (std::size_t rank = 0; rank * kChoosingWords < choices->size(); ++rank) {
            if (choosing_at(*choices, rank).type == MPI_UNDEFINED) continue;
            visit((*choices)[rank * kChoosingWords],
                  std::span(*theirs).subspan(rank * types, types));
        }
    }
}

// Finds the largest resource that divides the members, and makes their instances of it the colors
// that they have chosen. Null: there is none. All members of the communicator call it, also those
// that take no part.
const char* choose_resource(comm::Runtime& runtime, Comm& parent, Contributions& all,
                            Fault& fault) {
    const std::vector<ColorOfResource> own = colors_of_resources(runtime, parent);
    Words words;
    for (const ColorOfResource& each : own) words.push_back(each.color);
    Contributions colors;
    fault = gather_words(runtime, parent, words, colors);
    if (fault) return nullptr;
    for (std::size_t type = 0; type < own.size(); ++type) {
        std::optional<std::int32_t> first;
        bool defined = true;
        bool differ = false;
        visit_parts(all, colors, own.size(), [&](std::int32_t&, std::span<const std::int32_t> its) {
            defined = defined && its[type] != MPI_UNDEFINED;
            differ = differ || its[type] != first.value_or(its[type]);
            first = its[type];
        });
        if (!defined || !differ) continue;
        visit_parts(
            all, colors, own.size(),
            [&](std::int32_t& color, std::span<const std::int32_t> its) { color = its[type]; });
        return own[type].type;
    }
    return nullptr;
}

}  // namespace

MadeComm split_by_type(comm::Runtime& runtime, Comm& parent, int type, int key,
                       const std::string& resource, std::string* found) {
    Reservation reserved(groups_of(runtime));
    int color = color_of_type(runtime, parent, type, resource);
    const std::int32_t agreed = type == MPI_UNDEFINED ? MPI_UNDEFINED
                                : is_split_type(type) ? digest_of_type(type, resource)
                                                      : -1;
    Contributions all;
    if (Fault fault = gather_words(runtime, parent, {color, key, reserved.counter(), agreed}, all))
        return {nullptr, std::move(fault)};
    std::string wrong =
        first_wrong(all, [](const Choosing& choosing) { return choosing.type == -1; });
    if (!wrong.empty())
        return {nullptr,
                {MPI_ERR_ARG, "split_type", "the type of " + wrong + " is no type of a split",
                 "give one of MPI_COMM_TYPE_SHARED and the others"}};
    std::int32_t first = MPI_UNDEFINED;
    wrong = first_wrong(all, [&](const Choosing& choosing) {
        if (first == MPI_UNDEFINED) first = choosing.type;
        return choosing.type != MPI_UNDEFINED && choosing.type != first;
    });
    if (!wrong.empty())
        return {nullptr,
                {MPI_ERR_ARG, "split_type",
                 "the type or resource of " + wrong + " is not that of the other members",
                 "give the same arguments at all members, or MPI_UNDEFINED"}};
    if (first == digest_of_type(MPI_COMM_TYPE_HW_UNGUIDED, {})) {
        Fault fault;
        const char* const chosen = choose_resource(runtime, parent, all, fault);
        if (fault) return {nullptr, std::move(fault)};
        if (type == MPI_UNDEFINED || chosen == nullptr) return {};
        color = choosing_at(all.local, static_cast<std::size_t>(parent.rank)).color;
        if (found != nullptr) *found = chosen;
    }
    return made_of_color(runtime, parent, all, color, reserved);
}

namespace {

// What a member contributes to MPI_Comm_create.
struct Membership {
    std::int32_t position;  // in its group; kOutside, or kWrong if the argument is wrong
    std::int32_t leader;    // the rank in the communicator of rank 0 of its group
    std::int32_t digest;    // of the ranks in the communicator of the members of its group
    std::int32_t counter;
};
constexpr std::size_t kMembershipWords = sizeof(Membership) / sizeof(std::int32_t);
constexpr std::int32_t kOutside = -1;
constexpr std::int32_t kWrong = -2;

Membership membership_at(const Words& words, std::size_t rank) noexcept {
    const std::int32_t* at = words.data() + rank * kMembershipWords;
    return {at[0], at[1], at[2], at[3]};
}

// Ranks, because jobs number the tasks of each other differently.
std::int32_t digest_of(const Comm& parent, const Members& members) noexcept {
    Hash32 digest;
    for (const TaskId task : members.tasks())
        digest.add(static_cast<std::uint32_t>(parent.local->rank_of(task)));
    return static_cast<std::int32_t>(digest.value() & 0x7fffffffu);
}

Membership own_membership(const Comm& parent, const MembersPtr& group, std::int32_t counter) {
    Membership own{kOutside, 0, 0, counter};
    if (group == nullptr) {
        own.position = kWrong;
        return own;
    }
    for (const TaskId task : group->tasks()) {
        if (parent.local->rank_of(task) == MPI_UNDEFINED) own.position = kWrong;
    }
    const int rank = group->rank_of(environment().task);
    if (own.position == kWrong || rank == MPI_UNDEFINED) return own;
    own.position = rank;
    own.leader = parent.local->rank_of(group->task(0));
    own.digest = digest_of(parent, *group);
    return own;
}

Fault wrong_group(const std::string& whose) {
    return {MPI_ERR_GROUP, "group", "the group of " + whose,
            "give a group of members of the communicator, the same at all its members"};
}

// Refuses groups that are no parts of the communicator or differ between their members.
Fault check_memberships(const Comm& parent, const Contributions& all, const MembersPtr& group) {
    const int leader = group != nullptr ? parent.local->rank_of(group->task(0)) : -1;
    const std::int32_t digest = group != nullptr ? digest_of(parent, *group) : 0;
    for (const Words* words : {&all.local, &all.remote}) {
        for (std::size_t rank = 0; rank * kMembershipWords < words->size(); ++rank) {
            const Membership each = membership_at(*words, rank);
            if (each.position == kWrong)
                return wrong_group("rank " + std::to_string(rank) +
                                   " contains tasks that are no members, or is no group");
            if (words == &all.local && each.position >= 0 && group != nullptr &&
                each.leader == leader && each.digest != digest)
                return wrong_group("rank " + std::to_string(rank) + " differs from the own one");
        }
    }
    return {};
}

// The members of the other side that take part, and their number.
Chosen remote_members(comm::Runtime& runtime, const Comm& parent, const Words& words) {
    std::vector<TaskId> tasks;
    std::int32_t counter = 0;
    for (std::size_t rank = 0; rank * kMembershipWords < words.size(); ++rank) {
        const Membership each = membership_at(words, rank);
        if (each.position < 0) continue;
        const auto position = static_cast<std::size_t>(each.position);
        if (tasks.size() <= position) tasks.resize(position + 1, 0);
        tasks[position] = parent.remote->tasks()[rank];
        if (position == 0) counter = each.counter;
    }
    if (tasks.empty()) return {};
    const std::int32_t number = number_from(groups_of(runtime), tasks.front(), counter);
    return {std::make_shared<const Members>(std::move(tasks), parent.remote->session()), number};
}

}  // namespace

MadeComm create(comm::Runtime& runtime, Comm& parent, const MembersPtr& group) {
    Reservation reserved(groups_of(runtime));
    const Membership own = own_membership(parent, group, reserved.counter());
    Contributions all;
    if (Fault fault =
            gather_words(runtime, parent, {own.position, own.leader, own.digest, own.counter}, all))
        return {nullptr, std::move(fault)};
    if (Fault fault = check_memberships(parent, all, own.position >= 0 ? group : nullptr))
        return {nullptr, std::move(fault)};
    if (own.position < 0) return {};
    const std::int32_t counter =
        membership_at(all.local, static_cast<std::size_t>(own.leader)).counter;
    NewComm made{group, nullptr, number_from(groups_of(runtime), group->task(0), counter)};
    if (parent.is_inter()) {
        Chosen remote = remote_members(runtime, parent, all.remote);
        if (remote.members == nullptr) return {};
        made.remote = std::move(remote.members);
        made.remote_number = remote.number;
    }
    if (own.position == 0) reserved.use();
    return make_comm(parent, std::move(made));
}

MadeComm create_group(comm::Runtime& runtime, Comm& parent, const MembersPtr& group, int tag) {
    const int rank = group->rank_of(environment().task);
    Words number{Reservation::kNoNumber};
    if (rank == 0) {
        Reservation reserved(groups_of(runtime));
        reserved.use();
        number[0] = reserved.number();
    }
    const Route route{making_context(parent, Making::kGroup), tag};
    if (Fault fault = bcast_words(runtime, group->tasks(), rank, 0, route, number))
        return {nullptr, std::move(fault)};
    NewComm made{group, nullptr, number[0]};
    made.agreement = route;
    return make_comm(parent, std::move(made));
}

}  // namespace poe::mpi
