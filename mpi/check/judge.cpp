// The comparison of descriptions; see judge.hpp.
#include "mpi/check/judge.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/task_ranges.hpp"
#include "mpi/check/place_words.hpp"

namespace poe::mpi::check {
namespace {

using MemberList = std::vector<Member>;

struct Variant {
    const Member* first = nullptr;
    std::vector<TaskId> tasks;
};

// Divides the members by a property. The smallest variant, which is probably wrong, comes first.
template <typename Same>
std::vector<Variant> variants_of(const std::vector<const Member*>& members, Same&& same) {
    std::vector<Variant> variants;
    for (const Member* each : members) {
        auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& known) { return same(*known.first, *each); });
        if (found == variants.end()) found = variants.insert(found, {each, {}});
        found->tasks.push_back(each->task);
    }
    std::stable_sort(variants.begin(), variants.end(),
                     [](const Variant& one, const Variant& other) {
                         return one.tasks.size() < other.tasks.size();
                     });
    return variants;
}

// "task 1 calls MPI_Bcast at a.c:4 with root 2, tasks 0,2,3 call MPI_Bcast at a.c:9 with root 0".
std::string list(const std::vector<Variant>& variants,
                 const std::function<std::string(const Member&)>& detail) {
    constexpr std::size_t kShown = 4;
    std::string text;
    for (std::size_t i = 0; i < variants.size() && i < kShown; ++i) {
        const Variant& variant = variants[i];
        text += (i == 0 ? "" : ", ") + words_of_tasks(variant.tasks) +
                (variant.tasks.size() == 1 ? " calls " : " call ") +
                words_of_call(variant.first->description.place) + detail(*variant.first);
    }
    if (variants.size() > kShown)
        text +=
            ", and there are " + std::to_string(variants.size() - kShown) + " other kinds of calls";
    return text;
}

std::vector<const Member*> all_of(const MemberList& members) {
    std::vector<const Member*> all;
    for (const Member& each : members) all.push_back(&each);
    return all;
}

Fault find_failed(const MemberList& members) {
    const auto failed = std::find_if(members.begin(), members.end(), [](const Member& each) {
        return each.description.fault != MPI_SUCCESS;
    });
    if (failed == members.end()) return {};
    std::vector<const Member*> others;
    for (const Member& each : members)
        if (each.description.fault == MPI_SUCCESS) others.push_back(&each);
    const Description& its = failed->description;
    std::string text = "task " + std::to_string(failed->task) + " cannot make its call of " +
                       words_of_call(its.place) + ": " + its.reason;
    const auto variants = variants_of(others, [](const Member& one, const Member& other) {
        return one.description.place == other.description.place;
    });
    if (!variants.empty())
        text += "; " + list(variants, [](const Member&) { return std::string(); });
    return {its.fault, "", std::move(text), "correct the arguments of that task"};
}

Fault find_other_function(const MemberList& members) {
    const auto variants = variants_of(all_of(members), [](const Member& one, const Member& other) {
        return one.description.function == other.description.function;
    });
    if (variants.size() < 2) return {};
    return {MPI_ERR_OTHER, "", list(variants, [](const Member&) { return std::string(); }),
            "all members of a communicator must make the same collective calls in the same order"};
}

const Agreed* find_agreed(const Member& member, const std::string& name) {
    const auto& agreed = member.description.agreed;
    const auto found = std::find_if(agreed.begin(), agreed.end(),
                                    [&](const Agreed& each) { return each.name == name; });
    return found == agreed.end() ? nullptr : &*found;
}

Fault find_other_argument(const MemberList& members) {
    for (const Member& member : members) {
        for (const Agreed& argument : member.description.agreed) {
            std::vector<const Member*> having;
            for (const Member& each : members)
                if (find_agreed(each, argument.name) != nullptr) having.push_back(&each);
            const auto variants = variants_of(having, [&](const Member& one, const Member& other) {
                if (argument.within_group != 0 && one.group != other.group) return true;
                return *find_agreed(one, argument.name) == *find_agreed(other, argument.name);
            });
            if (variants.size() < 2) continue;
            const auto detail = [&](const Member& each) {
                return " with " + argument.name + " " + find_agreed(each, argument.name)->value;
            };
            return {argument.code, "", list(variants, detail),
                    "give the same " + argument.name + " at all members"};
        }
    }
    return {};
}

std::string words_of_root(int root) {
    return root == MPI_ROOT        ? "MPI_ROOT"
           : root == MPI_PROC_NULL ? "MPI_PROC_NULL"
                                   : std::to_string(root);
}

// On an intercommunicator, the root passes MPI_ROOT. The other members of its group pass
// MPI_PROC_NULL. The members of the remote group pass the rank of the root.
Fault find_other_root(const MemberList& members) {
    if (members.front().description.root == MPI_UNDEFINED) return {};
    const Member* root = nullptr;
    bool good = true;
    for (const Member& each : members) {
        if (each.description.root != MPI_ROOT) continue;
        good = good && root == nullptr;
        root = &each;
    }
    for (const Member& each : members) {
        const int given = each.description.root;
        good = good && root != nullptr &&
               (&each == root || given == (each.group == root->group ? MPI_PROC_NULL : root->rank));
    }
    if (good) return {};
    const auto variants = variants_of(all_of(members), [](const Member& one, const Member& other) {
        return one.description.root == other.description.root && one.group == other.group;
    });
    const auto detail = [](const Member& each) {
        return " with root " + words_of_root(each.description.root);
    };
    return {MPI_ERR_ROOT, "", list(variants, detail),
            "one member must give MPI_ROOT, the others of its group MPI_PROC_NULL, and all of the "
            "other group the rank of that member"};
}

Fault mismatch(const Member& from, const Member& to, const Part& sent, const Part& received) {
    const bool longer = sent.bytes > received.bytes;
    const int code = sent.bytes == received.bytes ? MPI_ERR_TYPE
                     : longer                     ? MPI_ERR_TRUNCATE
                                                  : MPI_ERR_COUNT;
    return {code, "",
            words_of_tasks({from.task}) + " sends " + words_of_part(sent) + " to task " +
                std::to_string(to.task) + " (" + words_of_call(from.description.place) +
                "), but task " + std::to_string(to.task) + " expects " + words_of_part(received) +
                " from it (" + words_of_call(to.description.place) + ")",
            "give counts and datatypes with the same type signature at both"};
}

Fault compare_flows(const Member& from, const Member& to) {
    const auto sent = from.description.sent.parts_for(to.rank);
    const auto received = to.description.received.parts_for(from.rank);
    if (from.description.sent.kind == Flow::Kind::kNothing ||
        to.description.received.kind == Flow::Kind::kNothing)
        return {};
    for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
        const Part one = i < sent.size() ? sent[i] : Part{};
        const Part other = i < received.size() ? received[i] : Part{};
        if (!one.matches(other)) return mismatch(from, to, one, other);
    }
    return {};
}

Fault find_other_data(const MemberList& members) {
    const bool two_groups = members.back().group == 1;
    for (const Member& from : members) {
        for (const Member& to : members) {
            if (two_groups && from.group == to.group) continue;
            if (Fault fault = compare_flows(from, to)) return fault;
        }
    }
    return {};
}

// Every member of a group must have given this group.
Fault find_other_group(const MemberList& members) {
    for (const Member& each : members) {
        const Description& own = each.description;
        if (!own.has_group) continue;
        for (const Member& other : members) {
            const Description& its = other.description;
            if (each.group != other.group || its.group == own.group ||
                std::find(own.group.begin(), own.group.end(), other.task) == own.group.end())
                continue;
            return {MPI_ERR_GROUP, "",
                    "task " + std::to_string(each.task) + " gives a group of " +
                        words_of_tasks(own.group) + " (" + words_of_call(own.place) +
                        "), but its member task " + std::to_string(other.task) + " gives one of " +
                        words_of_tasks(its.group) + " (" + words_of_call(its.place) + ")",
                    "all members of a group must give the same group, in the same order"};
        }
    }
    return {};
}

}  // namespace

// Tasks in ascending order are joined to ranges; the order of others stays.
std::string words_of_tasks(const std::vector<TaskId>& tasks) {
    if (tasks.empty()) return "no tasks";
    return tasks_in_words(tasks);
}

Fault judge(const std::vector<Member>& members) {
    using Rule = Fault (*)(const MemberList&);
    constexpr std::array<Rule, 6> kRules = {find_failed,         find_other_function,
                                            find_other_argument, find_other_root,
                                            find_other_group,    find_other_data};
    for (const Rule rule : kRules)
        if (Fault fault = rule(members)) return fault;
    return {};
}

}  // namespace poe::mpi::check
