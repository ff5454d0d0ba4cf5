// PlannedCalls: the communication plan of a run (collectives/schedule/plan_file.hpp) in one task:
// which line of it the next irregular call follows, what was prepared for that line, and whether
// the members still follow it. planned_exchange.hpp moves the data.
//
// The members find the line without messages: they count the calls of an operation on a group
// alike. The lengths of a call are always those of its arguments. A line of one kind has phases:
// the plan decides the order of the messages and the phases that separate them. Both ends of a
// message know its length, so they decide alike whether it fits the plan (fits_plan); a message
// that does not fit is sent after all phases. A line of the other kind combines short blocks
// (combined_exchange.hpp), of any lengths up to its limit.
//
// Leaving a line that combines blocks. A member with a block over the limit in call c says so in
// each of its messages. After this call all members know it, so no member follows the line from
// call c + 1 on.
//
// Leaving a line with phases. A member whose lengths do not fit in call c is the first to know.
// From call c on it sends a notice before each long message, which says c; a receiver recognizes
// the notice by its length. Every member that knows of c does the same in its later calls. After
// `reach` calls, all members know the smallest c (calls_to_reach_all), so all of them leave the
// line at call c + reach. If all lengths fit, no notice is sent. A line whose long messages do not
// connect all members is not used.
//
// For one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/call/groups.hpp"
#include "collectives/schedule/combined_steps.hpp"
#include "collectives/schedule/plan_file.hpp"

namespace poe::collectives {

// A phase as one member sees it; ranks in the group.
struct OwnPhase {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> destinations;
    bool signals = false;  // a member sends after its receiver's signal
};

// The call in which the plan did not fit for the first time, and the task that noticed it.
struct PlanNotice {
    static constexpr std::uint32_t kNone = 0xffffffff;
    std::uint32_t call = kNone;  // of the line, counted from 0
    TaskId task = -1;

    bool known() const noexcept { return call != kNone; }
    // Keeps the notice of the earlier call; of two for the same call, that of the lower task.
    void merge(const PlanNotice& other) noexcept {
        if (std::pair(other.call, other.task) < std::pair(call, task)) *this = other;
    }
};

// A line of the plan in use.
struct PlannedLine {
    explicit PlannedLine(PlannedCall its_call) : call(std::move(its_call)) {}

    PlannedCall call;
    // Why the line is not used; empty if it is.
    std::string unused;
    std::uint32_t reach = 0;
    // Prepared for these members, by rank:
    std::vector<TaskId> members;
    std::vector<OwnPhase> phases;
    std::vector<Bytes> outgoing;  // planned bytes to and from each rank
    std::vector<Bytes> incoming;
    CombinedLayout layout;            // of a line that combines blocks
    std::vector<CombinedStep> steps;  // likewise; empty: the line has phases
    // Counts of this task's calls.
    std::uint32_t made = 0;        // by the plan
    std::uint32_t mismatched = 0;  // of these: own lengths did not fit
    std::uint32_t after = 0;       // since the line was left, or without it
    PlanNotice notice;
    bool reported = false;
    std::unique_ptr<GroupOwned> requests;  // of exchange_planned() or exchange_combined()

    bool left() const noexcept { return notice.known() && made >= notice.call + reach; }
};

class PlannedCalls {
  public:
    // `node_of` returns the node of a task, the same at all tasks.
    PlannedCalls(std::vector<PlannedCall> calls, TaskId own,
                 std::function<NodeIndex(TaskId)> node_of);

    // Counts a blocking call of this operation on this group; returns the line that it follows;
    // null if it follows none. All members get the same answer. Reports on standard error, at the
    // lowest rank, when a line is left. The line stays valid.
    PlannedLine* next(std::string_view operation, const Group& group);
    // Returns a sentence for each line of which this task is a member: how often the line was used,
    // or why not. The lowest member of a line reports it; `all`: the other members report it, too.
    std::vector<std::string> report(bool all) const;

  private:
    void prepare(PlannedLine& line, const Group& group) const;
    void prepare_combined(PlannedLine& line) const;

    TaskId own_;
    std::function<NodeIndex(TaskId)> node_of_;
    std::deque<PlannedLine> lines_;
    // Numbers of the next calls, by operation and group.
    std::map<std::pair<std::string, int>, std::uint64_t, std::less<>> numbers_;
};

}  // namespace poe::collectives
