// Implementation of ideal_replay.hpp.
#include "tracer/diagnosis/ideal_replay.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace poe::trace {
namespace {

// Messages or members by the calls in which they are received, start or end. The calls of a task
// are asked for in their order.
template <typename Item, TaskId Item::*kTask, std::uint32_t Item::*kCall>
class ByCall {
  public:
    ByCall(const LongVector<Item>& items, TaskId tasks) : items_(items), tasks_(tasks) {
        for (std::uint32_t i = 0; i < items.size(); ++i)
            if (items[i].*kCall != kNoActivity) tasks_[items[i].*kTask].items.push_back(i);
        const auto earlier = [&items](std::uint32_t a, std::uint32_t b) {
            return items[a].*kCall < items[b].*kCall;
        };
        // Most are in their order already.
        for (TaskId task = 0; task < tasks; ++task) {
            LongVector<std::uint32_t>& mine = tasks_[task].items;
            if (!std::is_sorted(mine.begin(), mine.end(), earlier))
                std::sort(mine.begin(), mine.end(), earlier);
        }
    }
    // Calls visit(number of the item) for each item of the call.
    template <typename Visit>
    void of_call(TaskId task, std::uint32_t call, Visit visit) {
        OfTask& mine = tasks_[task];
        for (; mine.next < mine.items.size() && items_[mine.items[mine.next]].*kCall <= call;
             ++mine.next)
            if (items_[mine.items[mine.next]].*kCall == call) visit(mine.items[mine.next]);
    }

  private:
    struct OfTask {
        LongVector<std::uint32_t> items;
        std::size_t next = 0;
    };
    const LongVector<Item>& items_;
    PerTask<OfTask> tasks_;
};

constexpr Time kNever = -kFarthest;

class IdealReplay {
  public:
    explicit IdealReplay(const History& history)
        : history_(history),
          receives_(history.messages, history.tasks.size()),
          starts_(history.members, history.tasks.size()),
          ends_(history.members, history.tasks.size()),
          entered_(history.operations.size(), kNever),
          root_entered_(history.operations.size(), kNever) {
        ideal_.begins = PerTask<LongVector<Time>>(history.tasks.size());
        for (TaskId task = 0; task < history.tasks.size(); ++task)
            ideal_.begins[task].resize(history.tasks[task].size(), kNever);
        ideal_.begin = ideal_.end = history.begin;
    }

    // Ends of calls and beginnings of activities in the order in which they happened. What a call
    // depends on happened before it ended.
    IdealHistory run() {
        using Step = std::tuple<Time, bool, TaskId>;  // moment, end of a call, task
        std::priority_queue<Step, std::vector<Step>, std::greater<>> queue;
        PerTask<std::uint32_t> at(history_.tasks.size());
        PerTask<Time> clock(history_.tasks.size(), Time{0});
        for (TaskId id = 0; id < at.size(); ++id) {
            if (history_.tasks[id].empty()) continue;
            clock[id] = history_.tasks[id].front().from;
            queue.emplace(clock[id], false, id);
        }
        while (!queue.empty()) {
            const auto [moment, is_end, task] = queue.top();
            queue.pop();
            const std::uint32_t activity = at[task];
            if (!is_end) {
                begin(task, activity, clock[task]);
                if (activity + 1 < history_.tasks[task].size())
                    queue.emplace(history_.end_of(task, activity), true, task);
                continue;
            }
            clock[task] = end_of(task, activity, clock[task]);
            ++at[task];
            queue.emplace(moment, false, task);
        }
        for (TaskId id = 0; id < at.size(); ++id)
            if (!history_.tasks[id].empty()) ideal_.end = std::max(ideal_.end, clock[id]);
        return std::move(ideal_);
    }

  private:
    void begin(TaskId task, std::uint32_t activity, Time now) {
        ideal_.begins[task][activity] = now;
        starts_.of_call(task, activity, [&](std::uint32_t each) {
            const std::uint32_t operation = history_.members[each].operation;
            entered_[operation] = std::max(entered_[operation], now);
            if (history_.operations[operation].root == task) root_entered_[operation] = now;
        });
    }
    Time end_of(TaskId task, std::uint32_t activity, Time now) {
        const Activity& what = history_.tasks[task][activity];
        if (!what.is_call) {
            // Polling is waiting for what the next call receives.
            if (what.state == State::kPolling) return now;
            return now + history_.end_of(task, activity) - what.from;
        }
        // The network has no influence on a call that does not communicate.
        if (what.state == State::kOther) now += history_.end_of(task, activity) - what.from;
        receives_.of_call(task, activity, [&](std::uint32_t each) {
            const TaskMessage& message = history_.messages[each];
            if (message.send_call == kNoActivity) return;
            now = std::max(now, begin_of(message.from, message.send_call));
        });
        ends_.of_call(task, activity, [&](std::uint32_t each) {
            now = std::max(now, needed(history_.members[each]));
        });
        return std::max(now, late_receivers(task, activity));
    }
    Time begin_of(TaskId task, std::uint32_t activity) const {
        return ideal_.begins[task][activity];
    }
    // When the members that this one needs have entered, of those that have entered so far.
    Time needed(const Member& member) const {
        const CollectiveOperation& operation = history_.operations[member.operation];
        const bool is_root = operation.root == member.task;
        if (operation.flow == DataFlow::kOneToAll)
            return is_root ? kNever : root_entered_[member.operation];
        if (operation.flow == DataFlow::kAllToOne && !is_root) return kNever;
        return entered_[member.operation];
    }
    Time late_receivers(TaskId task, std::uint32_t activity) const {
        const std::span<const TaskWait> waits = history_.waits_of(task);
        const Time since = history_.tasks[task][activity].from;
        const Time until = history_.end_of(task, activity);
        auto wait = std::partition_point(waits.begin(), waits.end(),
                                         [since](const TaskWait& w) { return w.from < since; });
        Time needed = kNever;
        for (; wait != waits.end() && wait->from < until; ++wait) {
            if (wait->pattern != WaitPattern::kLateReceiver) continue;
            const std::uint32_t call = history_.call_since(wait->whom, wait->to);
            if (call != kNoActivity) needed = std::max(needed, begin_of(wait->whom, call));
        }
        return needed;
    }

    const History& history_;
    ByCall<TaskMessage, &TaskMessage::to, &TaskMessage::receive_call> receives_;
    ByCall<Member, &Member::task, &Member::start_call> starts_;
    ByCall<Member, &Member::task, &Member::end_call> ends_;
    LongVector<Time> entered_;       // by operation: the last member so far
    LongVector<Time> root_entered_;  // by operation
    IdealHistory ideal_;
};

}  // namespace

IdealHistory replay_ideally(const History& history) {
    return IdealReplay(history).run();
}

}  // namespace poe::trace
