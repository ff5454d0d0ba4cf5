// Implementation of planned_calls.hpp.
#include "collectives/engine/planned_calls.hpp"

#include <algorithm>
#include <cstdio>

#include "comm/bootstrap/error_numbers.hpp"

namespace poe::collectives {
namespace {

std::string place_of(const PlannedCall& call) {
    return call.operation + (call.site.empty() ? "" : " in " + call.site) + " (group " +
           std::to_string(call.group) + ", tasks " + tasks_text(call.tasks) + ")";
}

}  // namespace

PlannedCalls::PlannedCalls(std::vector<PlannedCall> calls, TaskId own,
                           std::function<NodeIndex(TaskId)> node_of)
    : own_(own), node_of_(std::move(node_of)) {
    for (PlannedCall& each : calls)
        if (!each.lengths.empty()) lines_.emplace_back(std::move(each));
}

PlannedLine* PlannedCalls::next(std::string_view operation, const Group& group) {
    const std::uint64_t number = numbers_[{std::string(operation), group.gid}]++;
    PlannedLine* found = nullptr;
    for (PlannedLine& line : lines_) {
        const PlannedCall& call = line.call;
        if (call.group != group.gid || call.operation != operation || number < call.first ||
            (number - call.first) % call.every != 0)
            continue;
        if (found == nullptr || call.first > found->call.first) found = &line;
    }
    if (found == nullptr) return nullptr;
    if (found->members != group.members) prepare(*found, group);
    if (found->unused.empty() && !found->left()) return found;
    ++found->after;
    if (found->left() && !found->reported && group.me == 0) {
        found->reported = true;
        std::fprintf(stderr,
                     "ATTENTION: 0032-%d The plan for %s is left after %u calls, because the "
                     "lengths of task %d did not fit it in call %u. The calls go on without it; a "
                     "new trace and vt -plan make a new plan.\n",
                     static_cast<int>(comm::MplError::kPlanLeft), place_of(found->call).c_str(),
                     found->made, found->notice.task, found->notice.call + 1);
    }
    return nullptr;
}

// Depends on the line and on the group only, so all members prepare the same.
void PlannedCalls::prepare(PlannedLine& line, const Group& group) const {
    const PlannedCall& call = line.call;
    const std::uint32_t n = group.size();
    line.members = group.members;
    line.phases.clear();
    line.steps.clear();
    line.requests = nullptr;
    std::vector<TaskId> sorted = group.members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != call.tasks) {
        line.unused = "the group has other members in this run";
        return;
    }
    if (call.schedule == PhaseMethod::kSimple) {
        line.unused = "its schedule is simple, which is the same as without a plan";
        return;
    }
    if (call.schedule == PhaseMethod::kCombined) return prepare_combined(line);
    std::vector<std::uint32_t> place;  // in call.tasks, by rank
    for (const TaskId task : group.members)
        place.push_back(static_cast<std::uint32_t>(
            std::lower_bound(sorted.begin(), sorted.end(), task) - sorted.begin()));
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = n;
    for (std::uint32_t from = 0; from < n; ++from)
        for (std::uint32_t to = 0; to < n; ++to)
            shape.matrix.push_back(
                from == to ? 0 : call.lengths[std::size_t{place[from]} * n + place[to]]);
    const std::vector<PhasedMessage> messages = messages_between(shape);
    line.reach = calls_to_reach_all(n, messages);
    if (line.reach == 0) {
        line.unused = "its long messages do not connect all members";
        return;
    }
    const PhaseDecision decision = decide_phases(n, messages, call.schedule);
    if (decision.method == PhaseMethod::kSimple) {
        line.unused = "phases do not pay for its lengths";
        return;
    }
    line.unused.clear();
    const auto me = static_cast<std::uint32_t>(group.me);
    line.outgoing.clear();
    line.incoming.clear();
    for (std::uint32_t other = 0; other < n; ++other) {
        line.outgoing.push_back(shape.between(me, other));
        line.incoming.push_back(shape.between(other, me));
    }
    for (std::size_t k = 0; k < decision.phases.size(); ++k) {
        OwnPhase own;
        own.signals = k > 0 && decision.phases[k].front().bytes >= kShortBlock;
        for (const PhasedMessage& each : decision.phases[k]) {
            if (each.to == me) own.sources.push_back(each.from);
            if (each.from == me) own.destinations.push_back(each.to);
        }
        if (!own.sources.empty() || !own.destinations.empty())
            line.phases.push_back(std::move(own));
    }
}

void PlannedCalls::prepare_combined(PlannedLine& line) const {
    line.unused = "the group has one member";
    if (line.members.size() < 2) return;
    std::vector<std::uint32_t> nodes;  // of each rank, counted in the order of their first ranks
    std::map<NodeIndex, std::uint32_t> known;
    for (const TaskId task : line.members)
        nodes.push_back(
            known.emplace(node_of_(task), static_cast<std::uint32_t>(known.size())).first->second);
    line.layout = CombinedLayout(static_cast<std::uint32_t>(nodes.size()), nodes);
    line.steps = combined_steps(line.layout, line.call.radix);
    line.reach = 1;
    line.unused.clear();
}

std::vector<std::string> PlannedCalls::report(bool all) const {
    std::vector<std::string> sentences;
    for (const PlannedLine& line : lines_) {
        const std::vector<TaskId>& tasks = line.call.tasks;
        if (all ? !std::binary_search(tasks.begin(), tasks.end(), own_) : tasks.front() != own_)
            continue;
        const std::uint32_t calls = line.made + line.after;
        std::string sentence = (all ? "Task " + std::to_string(own_) + ": the" : "The") +
                               " plan for " + place_of(line.call);
        if (calls == 0) {
            sentence += " was not used, because no such call was made.";
        } else if (!line.unused.empty()) {
            sentence += " was not used, because " + line.unused + ".";
        } else {
            sentence += " was followed in " + std::to_string(line.made) + " of " +
                        std::to_string(calls) + " calls";
            if (line.notice.known())
                sentence += "; the lengths of task " + std::to_string(line.notice.task) +
                            " did not fit in call " + std::to_string(line.notice.call + 1);
            sentence += ".";
        }
        sentences.push_back(std::move(sentence));
    }
    return sentences;
}

}  // namespace poe::collectives
