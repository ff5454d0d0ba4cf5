// Locks in shared memory; see shared_lock.hpp.
#include "mpi/window/shared_lock.hpp"

#include <functional>

#include "mpi/point/outcomes.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {

bool try_lock(MemberControl& control, bool exclusive, TaskId task) noexcept {
    std::uint32_t held = 0;
    if (exclusive)
        return control.holders.compare_exchange_strong(
            held, kExclusiveHolder | static_cast<std::uint32_t>(task));
    held = control.holders.load(std::memory_order_relaxed);
    while ((held & kExclusiveHolder) == 0 && control.writers.load() == 0) {
        if (control.holders.compare_exchange_weak(held, held + 1)) return true;
    }
    return false;
}

void release_lock(MemberControl& control, bool exclusive) noexcept {
    if (exclusive) {
        control.holders.store(0);
    } else {
        control.holders.fetch_sub(1);
    }
}

bool has_shared_locks(comm::Runtime& runtime, const Window& window) noexcept {
    return window.memory != nullptr && window.memory->has_all() &&
           runtime.shared_memory() != nullptr;
}

Fault take_shared_lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive) {
    MemberControl& control = window.memory->control(rank);
    const TaskId own = runtime.task();
    if (try_lock(control, exclusive, own)) return {};
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
            held = held || try_lock(control, exclusive, own);
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

void release_shared_lock(comm::Runtime& runtime, Window& window, int rank,
                         bool exclusive) noexcept {
    MemberControl& control = window.memory->control(rank);
    release_lock(control, exclusive);
    if (control.waiting.load() == 0) [[likely]]
        return;
    // All tasks of the node are few, and those that are awake cost a load each.
    const NodeSegment& segment = *runtime.segment();
    for (std::uint32_t index = 0; index < segment.local_tasks(); ++index) {
        if (segment.task_at(index) != runtime.task()) runtime.shared_memory()->wake(index);
    }
}

}  // namespace poe::mpi
