// Describes deadlocks in words; see deadlock_text.hpp.
#include "partition_manager/status/deadlock_text.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/contexts.hpp"
#include "base/task_ranges.hpp"
#include "partition_manager/job/state_words.hpp"
#include "partition_manager/status/observed_waits.hpp"

namespace poe::pm {
namespace {

constexpr std::size_t kMostWaitLines = 12;
constexpr std::size_t kMostMessageLines = 8;

std::string bytes_in_words(Bytes bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string task_in_words(TaskId task) {
    return task < 0                  ? "any task"
           : task == kTaskOfOtherJob ? "a task of another job"
                                     : "task " + std::to_string(task);
}

std::string wanted_in_words(Call call, const Awaited& awaited) {
    const std::string word = type_word(call);
    return (awaited.type < 0 ? "a message of any " + word
                             : word + " " + std::to_string(awaited.type)) +
           " from " + task_in_words(awaited.peer);
}

// True for calls that synchronise windows, whose messages have no tags of the program.
bool is_of_window(Call call) {
    return std::string_view(call_name(call)).starts_with("MPI_Win_");
}

}  // namespace

std::string call_in_words(const TaskState& state) {
    std::string call(call_name(state.doing.call));
    const Awaited& awaited = state.awaited;
    const std::string communicator = communicator_in_words(state);
    if (is_mpi(state.doing.call) && is_collective(state.doing.call)) return call + communicator;
    if (is_of_window(state.doing.call))
        return call + (awaited.peer >= 0 ? " for " + task_in_words(awaited.peer) : "") +
               communicator;
    if (is_collective(state.doing.call))
        return call + (state.doing.type > 0 ? " of group " + std::to_string(state.doing.type) : "");
    if (awaited.peer >= 0 && !is_of_program(awaited.context))
        return call + " for " + task_in_words(awaited.peer) + " in a collective operation" +
               (communicator.empty() ? "" : " of" + communicator.substr(3));
    if (!state.alternatives.empty())
        call += " for one of " + std::to_string(state.alternatives.size()) + " requests, the first";
    switch (awaited.kind) {
        case Awaited::Kind::kRoom:
            return call + " of " + bytes_in_words(state.doing.bytes) +
                   (awaited.type < 0 ? ""
                                     : std::string(", ") + type_word(state.doing.call) + " " +
                                           std::to_string(awaited.type) + ",") +
                   " to " + task_in_words(awaited.peer) + communicator;
        case Awaited::Kind::kMessage:
            return call + " for " + wanted_in_words(state.doing.call, awaited) + communicator;
        case Awaited::Kind::kRest:
            return call + " for the rest of a message from " + task_in_words(awaited.peer) +
                   communicator;
        case Awaited::Kind::kAll:
        case Awaited::Kind::kUnknown:
            break;
    }
    return call + communicator;
}

namespace {

class Describer {
  public:
    Describer(const PerTask<const TaskState*>& states, const std::vector<TaskId>& stuck,
              const WaitTargets& targets)
        : states_(states), stuck_(stuck), targets_(targets) {}

    // Describes what all tasks of one line have in common, to follow "waits in ".
    std::string describe(TaskId task) const {
        const TaskState& state = state_of(task);
        if (state.evidence.waits.size() < 2) return with_place(state);
        std::string text;
        for (const ThreadWait& wait : state.evidence.waits)
            text += (text.empty() ? "" : ", and with another thread in ") +
                    with_place(state_of_thread(state, wait));
        return text;
    }

  private:
    // The state that the task would have if this were its only thread.
    static TaskState state_of_thread(const TaskState& state, const ThreadWait& wait) {
        TaskState only = state;
        only.doing = wait.doing;
        only.communicator = wait.communicator;
        only.place = wait.place;
        only.awaited = wait.awaited;
        only.alternatives = wait.alternatives;
        return only;
    }

    std::string with_place(const TaskState& state) const {
        return wait_in_words(state) + (state.place.empty() ? "" : ", called at " + state.place);
    }

    std::string wait_in_words(const TaskState& state) const {
        if (is_collective(state.doing.call) || state.awaited.kind == Awaited::Kind::kAll) {
            const std::vector<TaskId> missing = missing_in(state);
            if (missing.empty()) return call_in_words(state);
            return call_in_words(state) + " for " + tasks_in_words(missing) +
                   (all_ended(missing)
                        ? missing.size() == 1 ? ", which has ended" : ", which have ended"
                        : "");
        }
        std::string text = call_in_words(state);
        const Awaited& awaited = state.awaited;
        if (awaited.kind != Awaited::Kind::kUnknown && awaited.peer >= 0)
            return ended(awaited.peer) ? text + ", which has ended" : text;
        return text + (awaited.kind == Awaited::Kind::kMessage
                           ? ", and no task is left that could send one"
                           : ", and no task is left that could end that");
    }

    const TaskState& state_of(TaskId task) const { return *states_[task]; }
    bool ended(TaskId task) const {
        const TaskState* state = states_[task];
        return state != nullptr && state->life == TaskState::Life::kEnded;
    }
    bool all_ended(const std::vector<TaskId>& tasks) const {
        return std::all_of(tasks.begin(), tasks.end(), [this](TaskId task) { return ended(task); });
    }
    // Returns the tasks that a collective call waits for. For the group of all tasks these are the
    // tasks that are not in the call; a task that has ended is left out if the call needs only
    // living tasks (kAll). For other groups these are the tasks that the stuck members wait for.
    std::vector<TaskId> missing_in(const TaskState& call) const {
        std::vector<TaskId> missing;
        const auto same_call = [&](TaskId task) {
            const TaskState* state = states_[task];
            return state != nullptr && state->life == TaskState::Life::kInside &&
                   same_operation(state->doing, call.doing);
        };
        if (call.doing.type == 0) {
            for (TaskId task = 0; task < states_.size(); ++task)
                if (!same_call(task) && !(call.awaited.kind == Awaited::Kind::kAll && ended(task)))
                    missing.push_back(task);
            return missing;
        }
        for (const TaskId task : stuck_)
            if (same_call(task) && targets_.of(task) >= 0) missing.push_back(targets_.of(task));
        std::sort(missing.begin(), missing.end());
        missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
        return missing;
    }

    const PerTask<const TaskState*>& states_;
    const std::vector<TaskId>& stuck_;
    const WaitTargets& targets_;
};

// Adds what was sent to a task that waits for something else: messages of the awaited type or from
// the awaited task, because one of the two is probably wrong. If there are none, adds any other
// messages.
void add_messages(const TaskState& state, std::vector<std::string>& lines) {
    const Awaited& awaited = state.awaited;
    if (awaited.kind != Awaited::Kind::kMessage || is_collective(state.doing.call) ||
        is_of_window(state.doing.call))
        return;
    std::vector<UnexpectedNote> told;
    const auto tell = [&](bool near) {
        for (const UnexpectedNote& note : state.unexpected.all()) {
            const bool is_near =
                awaited.peer < 0 || note.source == awaited.peer || note.type == awaited.type;
            const auto same = [&](const UnexpectedNote& other) {
                return other.source == note.source && other.type == note.type &&
                       other.context == note.context;
            };
            if (is_near != near || std::any_of(told.begin(), told.end(), same)) continue;
            told.push_back(note);
            const Call call = state.doing.call;
            lines.push_back(
                "task " + std::to_string(note.source) + " sent " + type_word(call) + " " +
                std::to_string(note.type) +
                (note.length == kUnknownLength ? "" : " (" + bytes_in_words(note.length) + ")") +
                " to task " + std::to_string(state.task) +
                (note.context != awaited.context ? " in another communicator" : "") + "; task " +
                std::to_string(state.task) + " waits for " + wanted_in_words(call, awaited));
        }
    };
    tell(true);
    if (told.empty()) tell(false);
}

// What to do if members of one group are in different collective calls: one of them has left out a
// call, has made an extra call, or has left a call early because its length differed from that of
// the others. Empty: they are not. If a task waits in a call of another kind, the others wait for
// that one, and some of them may rightly have left a call earlier than others, such as a gather.
std::string_view advice_on_calls(const PerTask<const TaskState*>& states,
                                 const std::vector<TaskId>& stuck) {
    std::map<std::pair<std::uint32_t, std::int32_t>, Call> call_of_group;
    const auto is_elsewhere = [&](TaskId task) { return !is_collective(states[task]->doing.call); };
    if (std::any_of(stuck.begin(), stuck.end(), is_elsewhere)) return {};
    for (const TaskId task : stuck) {
        const TaskActivity& doing = states[task]->doing;
        const std::pair group(doing.context, doing.type);
        if (call_of_group.try_emplace(group, doing.call).first->second == doing.call) continue;
        return is_mpi(doing.call)
                   ? "their collective calls differ: with -mpicheck yes, members of a program that "
                     "uses POE's MPI library compare theirs, and the first difference is an error"
                   : "their collective calls differ: with -euidevelop yes all members compare "
                     "theirs, and the first difference is an error";
    }
    return {};
}

}  // namespace

std::vector<std::string> lines_about(const PerTask<const TaskState*>& states,
                                     const std::vector<TaskId>& stuck,
                                     const std::vector<std::vector<TaskId>>& circles,
                                     const WaitTargets& targets) {
    const Describer describer(states, stuck, targets);
    std::map<std::string, std::vector<TaskId>> groups;
    PerTask<std::string> place(states.size());
    for (const TaskId task : stuck) groups[place[task] = describer.describe(task)].push_back(task);

    std::vector<std::string> lines;
    std::vector<TaskId> more;
    const auto tell = [&](TaskId task) {
        const auto group = groups.find(place[task]);
        if (group == groups.end()) return;  // already described
        const std::vector<TaskId> tasks = std::move(group->second);
        groups.erase(group);
        if (lines.size() < kMostWaitLines)
            lines.push_back(tasks_in_words(tasks) +
                            (tasks.size() == 1 ? " waits in " : " wait in ") + place[task]);
        else
            more.insert(more.end(), tasks.begin(), tasks.end());
    };
    for (const std::vector<TaskId>& circle : circles)
        for (const TaskId task : circle) tell(task);
    for (const TaskId task : stuck) tell(task);
    std::sort(more.begin(), more.end());
    if (!more.empty())
        lines.push_back(tasks_in_words(more) + (more.size() == 1 ? " waits" : " wait") +
                        " for these or each other in the same way");
    if (const std::string_view advice = advice_on_calls(states, stuck); !advice.empty())
        lines.emplace_back(advice);

    std::vector<std::string> messages;
    for (const TaskId task : stuck) {
        if (messages.size() >= kMostMessageLines) break;
        add_messages(*states[task], messages);
    }
    messages.resize(std::min(messages.size(), kMostMessageLines));
    lines.insert(lines.end(), messages.begin(), messages.end());
    return lines;
}

}  // namespace poe::pm
