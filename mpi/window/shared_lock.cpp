// Locks in shared memory; see shared_lock.hpp.
#include "mpi/window/shared_lock.hpp"

#include <functional>

#include "mpi/point/outcomes.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {

Fault take_shared_lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive,
                       bool several) {
    MemberControl& control = *window.member(rank).control;
    const TaskId own = runtime.task();
    if (try_lock(control, exclusive, own, several)) return {};
    int lost = -1;
    const std::function<bool()> give_up = [&] {
        for (int member = 0; member < window.size() && lost < 0; ++member)
            if (runtime.messages().lost(window.task(member))) lost = member;
        return lost >= 0;
    };
    bool held = false;
    control.waiting.fetch_add(1);
    if (exclusive) control.writers.fetch_add(1);
    wait_until(
        runtime,
        [&] {
            held = held || try_lock(control, exclusive, own, several);
            return held;
        },
        [&] {
            Awaited shown;
            shown.kind = Awaited::Kind::kMessage;
            const std::uint32_t holders = control.holders.load();
            if ((holders & kExclusiveHolder) != 0)
                shown.peer = static_cast<TaskId>(holders & ~kExclusiveHolder);
            shown.context = window.context(WindowContext::kAccess);
            return shown;
        },
        &give_up);
    if (exclusive) control.writers.fetch_sub(1);
    control.waiting.fetch_sub(1);
    if (held) return {};
    return fault_of(runtime, *window.comm, comm::Outcome::kPeerBroken, window.task(lost));
}

void wake_lock_waiters(comm::Runtime& runtime) noexcept {
    // All tasks of the node are few, and those that are awake cost a load each.
    const NodeSegment& segment = *runtime.segment();
    for (std::uint32_t index = 0; index < segment.local_tasks(); ++index) {
        if (segment.task_at(index) != runtime.task()) runtime.shared_memory()->wake(index);
    }
}

}  // namespace poe::mpi
