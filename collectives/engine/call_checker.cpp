// The comparison of calls; see call_checker.hpp.
#include "collectives/engine/call_checker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <dlfcn.h>
#include <iterator>

#include "base/hash.hpp"
#include "base/task_ranges.hpp"
#include "collectives/engine/list_agreement.hpp"

namespace poe::collectives {
namespace {

constexpr ListRoute kListRoute{kCclContext, kListChecking};

bool is_task(const comm::Runtime& runtime, int task) {
    return task >= 0 && static_cast<std::uint32_t>(task) < runtime.tasks();
}

// The facts about its call that a member sends to the others: only those that must be the same at
// all members.
struct CallFacts {
    char name[24] = {};
    char function[40] = {};  // "" if there is none
    char detail[40] = {};    // likewise
    std::int32_t gid = 0;
    TaskId root = -1;  // -1: the call has no root
    std::int32_t step = 0;
    std::int32_t circular = 0;
    std::int32_t refused = 0;  // 1: the arguments were refused, so the rest is not known
    std::int32_t unused = 0;
    Bytes bytes = 0;
    std::uint64_t lengths = 0;  // a hash of the blocks' offsets if blocks are unequal

    bool operator==(const CallFacts&) const = default;
};

void write(char* to, std::size_t room, const std::string& text) {
    text.copy(to, room - 1);
}

// Without std::ostream, which would make libmpl three times as large.
std::string in_hex(std::uint64_t number) {
    std::array<char, 16> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return {digits.data(), end.ptr};
}

// Names a user's function by its place in the program, because addresses differ between tasks.
std::string name_of(const Reduction& reduction) {
    if (reduction.name != nullptr) return reduction.name;
    Dl_info info;
    void* address = reinterpret_cast<void*>(reduction.function);
    if (::dladdr(address, &info) == 0) return "a function of the program";
    if (info.dli_sname != nullptr && info.dli_saddr == address) return info.dli_sname;
    // The form that addr2line accepts.
    const auto offset =
        static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
    return "the function at 0x" + in_hex(static_cast<std::uint64_t>(offset));
}

bool has_root(Operation operation) {
    return operation == Operation::kBcast || operation == Operation::kReduce ||
           operation == Operation::kScatter || operation == Operation::kGather;
}

// mpc_x and mp_x are the same call.
void write_name(CallFacts& facts, const CollectiveCall& call) {
    std::string name = call.name;
    if (name.starts_with("mp_")) name = "mpc_" + name.substr(3);
    write(facts.name, sizeof facts.name, name);
}

CallFacts tell(const Group& group, const CollectiveCall& call, const std::string& detail) {
    CallFacts facts;
    write_name(facts, call);
    facts.gid = group.gid;
    if (has_root(call.shape.operation))
        facts.root = group.members[static_cast<std::size_t>(call.shape.root)];
    facts.step = call.shape.step;
    facts.circular = call.shape.circular ? 1 : 0;
    facts.bytes = call.shape.bytes;
    if (!call.shape.is_regular()) facts.bytes = 0;
    if (!call.shape.offsets.empty()) {
        Hash64 lengths;
        for (const Bytes offset : call.shape.offsets) lengths.add(offset);
        facts.lengths = lengths.value();
    }
    write(facts.detail, sizeof facts.detail, detail);
    if (call.run.reduction.function != nullptr)
        write(facts.function, sizeof facts.function, name_of(call.run.reduction));
    return facts;
}

// Describes the first of two calls by what differs between them.
std::string words(const CallFacts& facts, const CallFacts& other, bool whole) {
    if (facts.refused != 0)
        return std::string(facts.name) + " with wrong arguments, which its own message explains";
    if (other.refused != 0) return facts.name;
    std::string text;
    if (whole || std::strcmp(facts.name, other.name) != 0) text = facts.name;
    const auto add = [&](bool differs, const std::string& what) {
        if (differs) text += (text.empty() ? "" : " ") + what;
    };
    add(facts.gid != other.gid, "on group " + std::to_string(facts.gid));
    add(facts.root != other.root,
        facts.root < 0 ? "without a root" : "with root " + std::to_string(facts.root));
    add(facts.step != other.step, "with step " + std::to_string(facts.step));
    add(facts.circular != other.circular, facts.circular != 0 ? "circular" : "end-off");
    add(facts.bytes != other.bytes, "with " + std::to_string(facts.bytes) + " bytes");
    add(facts.lengths != other.lengths, "with other lengths of blocks");
    add(std::strcmp(facts.detail, other.detail) != 0, facts.detail);
    add(std::strcmp(facts.function, other.function) != 0,
        facts.function[0] == '\0' ? "without a function" : "with " + std::string(facts.function));
    return text;
}

// Names the smallest set of tasks first.
std::string describe(const Group& group, const std::vector<CallFacts>& all) {
    std::vector<std::pair<CallFacts, std::vector<TaskId>>> kinds;
    for (std::size_t r = 0; r < all.size(); ++r) {
        auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const auto& each) { return each.first == all[r]; });
        if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {all[r], {}});
        kind->second.push_back(group.members[r]);
    }
    if (kinds.size() == 1) return {};
    std::stable_sort(kinds.begin(), kinds.end(), [](const auto& one, const auto& other) {
        return one.second.size() < other.second.size();
    });
    std::string text;
    const CallFacts& most = kinds.back().first;
    for (auto& [facts, tasks] : kinds) {
        std::sort(tasks.begin(), tasks.end());
        const bool last = &facts == &most;
        const CallFacts& other = last ? kinds.front().first : most;
        if (!text.empty()) text += ", ";
        text += tasks_in_words(tasks) + " ";
        if (text.size() == tasks_in_words(tasks).size() + 1)
            text += tasks.size() == 1 ? "calls " : "call ";
        text += words(facts, other, &facts == &kinds.front().first);
    }
    return text;
}

// In an irregular index, compares what each rank sends with what the receiver expects. Returns a
// description of the difference; empty if there is none.
std::string other_lengths(CollectiveContext& library, Group& group, const Shape& shape) {
    const std::size_t n = shape.n;
    const auto me = static_cast<std::uint32_t>(group.me);
    // First the bytes sent to each rank, then the bytes expected from each rank.
    std::vector<Bytes> own;
    for (std::uint32_t r = 0; r < n; ++r) own.push_back(shape.between(me, r));
    for (std::uint32_t r = 0; r < n; ++r) own.push_back(shape.between(r, me));
    std::vector<Bytes> all(own.size() * n);
    if (library.allgather_internal(group, own.data(), all.data(), own.size() * sizeof(Bytes),
                                   kChecking))
        return "members make calls on groups of other sizes";
    for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
            const Bytes sent = all[from * own.size() + to];
            const Bytes expected = all[to * own.size() + n + from];
            if (sent == expected) continue;
            return "task " + std::to_string(group.members[from]) + " sends " +
                   std::to_string(sent) + " bytes to task " + std::to_string(group.members[to]) +
                   ", which expects " + std::to_string(expected);
        }
    }
    return {};
}

// A text that fits into CallFacts::detail. Long lists that differ get different texts.
std::string list_in_words(const std::vector<TaskId>& list) {
    constexpr std::size_t kRoom = sizeof(CallFacts::detail) - 1;
    std::string text = "of tasks " + task_ranges(list);
    if (text.size() <= kRoom) return text;
    Hash32 sum;
    for (const TaskId task : list) sum.add(static_cast<std::uint32_t>(task));
    const std::string end = "... (" + in_hex(sum.value()) + ")";
    return text.substr(0, kRoom - end.size()) + end;
}

}  // namespace

int check_same_call(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                    const CollectiveCall& call, const std::string& detail) {
    const CallFacts own = tell(group, call, detail);
    std::vector<CallFacts> all(group.size());
    const Plan* wrong = library.allgather_internal(group, &own, all.data(), sizeof own, kChecking);
    std::string who = wrong == nullptr ? describe(group, all)
                                       : "task " + std::to_string(wrong->culprit()) +
                                             " makes a call on a group of another size";
    if (who.empty() && !call.shape.matrix.empty()) who = other_lengths(library, group, call.shape);
    if (who.empty()) return 0;
    return api.refuse(comm::MplError::kDisagreement, who,
                      "all members of a group must make the same call");
}

void tell_of_refusal(CollectiveContext& library, Group& group, const CollectiveCall& call) {
    CallFacts own;
    write_name(own, call);
    own.gid = group.gid;
    own.refused = 1;
    std::vector<CallFacts> all(group.size());
    library.allgather_internal(group, &own, all.data(), sizeof own, kChecking);
}

int refuse_other_making(const comm::ApiCall& api, CollectiveContext& library, Group& group,
                        const comm::Caller& name, const std::string& detail) {
    if (!library.develop()) return 0;
    CollectiveCall call;
    call.name = name.name;
    return check_same_call(api, library, group, call, detail);
}

int tell_of_refused_making(CollectiveContext& library, Group& group, const comm::Caller& name,
                           int refused) {
    if (!library.develop()) return refused;
    CollectiveCall call;
    call.name = name.name;
    tell_of_refusal(library, group, call);
    return refused;
}

int tell_of_refused_list(CollectiveContext& library, int gsize, const int* glist, int refused) {
    const comm::Runtime& runtime = library.runtime();
    // If gsize is wrong, the length of the list is not known.
    if (!library.develop() || glist == nullptr || gsize < 1 || !is_task(runtime, gsize - 1))
        return refused;
    std::vector<TaskId> named;
    std::copy_if(glist, glist + gsize, std::back_inserter(named),
                 [&](int task) { return is_task(runtime, task); });
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    ListAgreement agreement(library.messages(), kListRoute, library.lists(), runtime.task(), named);
    agreement.refuse();
    agreement.finish();
    return refused;
}

int refuse_other_list(const comm::ApiCall& api, CollectiveContext& library,
                      const comm::Caller& name, const std::vector<TaskId>& list) {
    if (!library.develop()) return 0;
    std::vector<TaskId> sorted = list;
    std::sort(sorted.begin(), sorted.end());
    ListAgreement agreement(library.messages(), kListRoute, library.lists(),
                            library.groups().task(), sorted);
    agreement.start();
    agreement.finish();
    if (agreement.lost() >= 0) return api.refuse(comm::Outcome::kPeerBroken, agreement.lost());
    if (agreement.difference())
        return api.refuse(comm::MplError::kDisagreement, agreement.difference()->words("mpc_group"),
                          "all tasks of a list must give the same list");
    Group same_for_all(-1, 0, std::move(sorted), library.groups().task());
    return refuse_other_making(api, library, same_for_all, name, list_in_words(list));
}

}  // namespace poe::collectives
