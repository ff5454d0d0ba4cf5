// Reads the slots of the node segment; see task_state.hpp.
#include "partition_manager/job/task_state.hpp"

namespace poe::pm {
namespace {

// Reads the words of a wait. They are consistent if nothing has moved during the read.
void read_wait(const TaskSlot& slot, std::uint32_t now_ms, TaskState& state) {
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::uint32_t moved = slot.pulse.read().moved_ms;
        state.doing = slot.doing.read();
        state.awaited = slot.awaited.read();
        const auto notes = slot.unexpected.read();
        const WaitMoments after = slot.pulse.read();
        if (after.moved_ms != moved) continue;
        // Time stamps are sometimes slightly in the future (| 1), so negative ages count as 0.
        const auto age = [now_ms](std::uint32_t moment) {
            const auto difference = static_cast<std::int32_t>(now_ms - moment);
            return difference > 0 ? static_cast<std::uint32_t>(difference) : 0;
        };
        state.measured = state.doing.since_ms != 0 && after.moved_ms != 0 && after.looked_ms != 0;
        if (state.doing.since_ms != 0) state.waits_ms = age(state.doing.since_ms);
        state.unmoved_ms = age(after.moved_ms);
        state.unlooked_ms = age(after.looked_ms);
        if (notes) state.unexpected = *notes;
        if (state.doing.since_ms != 0 && state.doing.context != 0)
            state.communicator = slot.context_name.read();
        return;
    }
    state.doing = slot.doing.read();  // too busy to be waiting
}

}  // namespace

TaskState look_at_task(const NodeSegment& segment, std::uint32_t local_index,
                       std::chrono::steady_clock::time_point now) {
    const TaskSlot& slot = segment.slot(local_index);
    TaskState state;
    state.task = segment.task_at(local_index);
    state.node = segment.facts().node;
    state.pid = slot.started_pid.load(std::memory_order_relaxed);
    const std::uint32_t ended = slot.ended.load(std::memory_order_relaxed);
    if (ended != 0) {
        state.life = TaskState::Life::kEnded;
        state.wait_status = static_cast<int>(ended & 0xffffu);
        return state;
    }
    if (slot.attached.load(std::memory_order_acquire) == 0) return state;
    state.life = TaskState::Life::kInside;
    state.observed = slot.attached.load(std::memory_order_relaxed) == kObserved;
    // If a shell has started the program, this is not the process that pmd started.
    if (slot.pid > 0) state.pid = slot.pid;
    const auto since_creation =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()) -
        std::chrono::nanoseconds(segment.facts().created_ns);
    read_wait(slot, static_cast<std::uint32_t>(since_creation.count() / 1'000'000), state);
    state.evidence.many_threads = slot.thread_waits.load(std::memory_order_acquire) != 0;
    return state;
}

std::vector<TaskState> look_at_tasks(const NodeSegment& segment,
                                     std::chrono::steady_clock::time_point now) {
    std::vector<TaskState> states;
    states.reserve(segment.local_tasks());
    for (std::uint32_t index = 0; index < segment.local_tasks(); ++index)
        states.push_back(look_at_task(segment, index, now));
    return states;
}

}  // namespace poe::pm
