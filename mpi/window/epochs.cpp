// The synchronisation of windows; see epochs.hpp.
#include "mpi/window/epochs.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "collectives/engine/process_collectives.hpp"
#include "mpi/collective/collective.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/point/outcomes.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/shared_lock.hpp"
#include "mpi/window/target.hpp"

namespace poe::mpi {
namespace {

Fault epoch_fault(std::string what, const char* remedy) {
    return {MPI_ERR_RMA_SYNC, "", std::move(what), remedy};
}

// A fence opens an epoch, which counts only once an operation is made in it.
Fault leave_fence(Window& window) {
    if (window.fenced && window.used)
        return epoch_fault("operations were made since the last MPI_Win_fence",
                           "end that epoch with MPI_Win_fence first");
    window.fenced = false;
    return {};
}

bool is_checking() noexcept {
    return environment().checking;
}

// In check mode: refuses a lock of a window without locks, or of an own part that is exposed.
Fault check_lockable(const Window& window, int rank) {
    if (!is_checking()) return {};
    const auto* const hints = find<Info>(window.info);
    const std::string* const value = hints == nullptr ? nullptr : hints->find("no_locks");
    if (value != nullptr && *value == "true")
        return epoch_fault("the window has the hint no_locks, but is locked",
                           "do not give the hint no_locks");
    if (window.exposed && (rank == kAllRanks || rank == window.rank()))
        return epoch_fault("an exposure epoch of MPI_Win_post is open at this task",
                           "end it with MPI_Win_wait before the window is locked");
    return {};
}

Fault end_of_member(comm::Runtime& runtime, Window& window, int rank) {
    return fault_of(runtime, *window.comm, comm::Outcome::kPeerBroken, window.task(rank));
}

// Blocks until over() is true. `ranks` are the members that it depends on: if one of them has
// ended, the wait ends with a fault.
template <typename Over>
Fault wait_for_members(comm::Runtime& runtime, Window& window, const std::vector<int>& ranks,
                       Over&& over) {
    int lost = -1;
    const std::function<bool()> give_up = [&] {
        const auto first = std::find_if(ranks.begin(), ranks.end(), [&](int rank) {
            return runtime.messages().lost(window.task(rank));
        });
        if (first == ranks.end() || over()) return false;
        lost = *first;
        return true;
    };
    const auto awaited = [&] {
        Awaited shown;
        shown.kind = Awaited::Kind::kMessage;
        if (ranks.size() == 1) shown.peer = window.task(ranks.front());
        shown.context = window.context(WindowContext::kAccess);
        return shown;
    };
    wait_until(runtime, over, awaited, &give_up);
    return lost < 0 ? Fault{} : end_of_member(runtime, window, lost);
}

AccessKind request_of(bool exclusive, bool several) noexcept {
    if (exclusive) return AccessKind::kLockExclusive;
    return several ? AccessKind::kLockSharedAhead : AccessKind::kLockShared;
}

// Takes the lock of a member, or requests it; `asked` receives the requests that were sent.
// `several`: this task also holds or requests locks of other members.
Fault begin_lock(comm::Runtime& runtime, Window& window, int rank, LockHeld lock, bool several,
                 std::vector<std::shared_ptr<Pending>>& asked) {
    const bool exclusive = lock == LockHeld::kExclusive;
    if (lock != LockHeld::kUnchecked && has_shared_locks(window)) {
        if (Fault fault = take_shared_lock(runtime, window, rank, exclusive, several)) return fault;
        window.member(rank).lock = lock;
        return {};
    }
    window.member(rank).lock = lock;
    if (lock == LockHeld::kUnchecked) return {};
    if (rank == window.rank()) {
        window.target->locks().request({rank, exclusive, 0, several && !exclusive});
        window.target->grant_locks();
        return {};
    }
    asked.push_back(
        send_synchronisation(runtime, window, rank, request_of(exclusive, several), true));
    return {};
}

Fault finish_locks(comm::Runtime& runtime, Window& window,
                   const std::vector<std::shared_ptr<Pending>>& asked) {
    Fault fault;
    for (const auto& each : asked) {
        Fault other = wait_for_pending(runtime, window, *each);
        if (other && !fault) fault = std::move(other);
    }
    const LockHeld own = window.member(window.rank()).lock;
    if (has_shared_locks(window)) return fault;
    if (fault || own == LockHeld::kNone || own == LockHeld::kUnchecked) return fault;
    const std::function<bool()> drop_locks = [&] {
        window.target->drop_locks_of_the_dead();
        return false;
    };
    wait_until(
        runtime, [&] { return window.target->own_lock_granted(); },
        [&] {
            Awaited shown;
            shown.kind = Awaited::Kind::kMessage;
            const int holder = window.target->locks().holder();
            if (holder >= 0) shown.peer = window.task(holder);
            shown.context = window.context(WindowContext::kAccess);
            return shown;
        },
        &drop_locks);
    return {};
}

// The operations on the member are complete at this task. The answer says that they have taken
// effect.
void begin_unlock(comm::Runtime& runtime, Window& window, int rank) {
    WindowMember& member = window.member(rank);
    const LockHeld held = std::exchange(member.lock, LockHeld::kNone);
    if (held != LockHeld::kUnchecked && has_shared_locks(window)) {
        release_shared_lock(runtime, window, rank, held == LockHeld::kExclusive);
    } else if (rank == window.rank()) {
        if (held != LockHeld::kUnchecked) window.target->release_own_lock();
    } else if (held != LockHeld::kUnchecked) {
        member.unflushed = false;
        send_synchronisation(runtime, window, rank, AccessKind::kUnlock, true);
    } else if (std::exchange(member.unflushed, false)) {
        send_synchronisation(runtime, window, rank, AccessKind::kFlush, true);
    }
}

}  // namespace

Fault check_access_epoch(const Window& window, int rank) {
    if (in_access_epoch(window, rank)) return {};
    return epoch_fault("there is no access epoch to rank " + std::to_string(rank),
                       "call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first");
}

Fault check_requests_allowed(const Window& window, int rank) {
    const WindowMember& member = window.members[static_cast<std::size_t>(rank)];
    if (!is_checking() || window.locked_all || member.lock != LockHeld::kNone) return {};
    return epoch_fault(
        "rank " + std::to_string(rank) + " is not locked, but the operation has a request",
        "lock it with MPI_Win_lock or MPI_Win_lock_all, or use the operation without a request");
}

Fault meet(comm::Runtime& runtime, Window& window) {
    if (window.size() == 1) return {};
    Sequence sequence(collectives::the_collectives(runtime), *window.comm,
                      Sequence::Form::kImmediate);
    try {
        collective::barrier(sequence);
    } catch (const collectives::MemberLost& lost) {
        // A barrier in shared memory. The caller has more to do, as with one by messages.
        return {MPI_ERR_PROC_ABORTED, "", lost.what(), "find out why that task has ended"};
    }
    return sequence.fault();
}

Fault fence(comm::Runtime& runtime, Window& window, int assertion) {
    if (has_locks(window))
        return epoch_fault("this task holds locks of the window", "unlock them first");
    if (window.access_started || window.exposed)
        return epoch_fault("an epoch of MPI_Win_start or MPI_Win_post is open",
                           "end it with MPI_Win_complete or MPI_Win_wait first");
    if (is_checking() && (assertion & MPI_MODE_NOPRECEDE) != 0 && window.used)
        return epoch_fault(
            "MPI_MODE_NOPRECEDE is asserted, but operations were made since the last fence",
            "do not assert it here");
    Fault fault;
    if (has_open_operations(window)) fault = complete_remotely(runtime, window, kAllRanks);
    Fault lost = meet(runtime, window);
    window.used = false;
    window.fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
    return fault ? fault : lost;
}

Fault post(comm::Runtime& runtime, Window& window, const std::vector<int>& ranks, int assertion) {
    if (window.exposed)
        return epoch_fault("an exposure epoch of MPI_Win_post is open",
                           "end it with MPI_Win_wait first");
    if (Fault fault = leave_fence(window)) return fault;
    if (is_checking() && window.member(window.rank()).lock != LockHeld::kNone)
        return epoch_fault("this task has locked its own part of the window", "unlock it first");
    window.posted = ranks;
    window.exposed = true;
    if ((assertion & MPI_MODE_NOCHECK) != 0) return {};
    for (const int rank : ranks) {
        if (rank == window.rank()) {
            ++window.own_posts;
            continue;
        }
        auto pending = std::make_shared<Pending>();
        pending->rank = rank;
        pending->head =
            comm::SendRequest({}, window.task(rank), 0, window.context(WindowContext::kPosted),
                              comm::FlowClass::kCollective);
        runtime.messages().start(pending->head);
        window.pending.push_back(std::move(pending));
    }
    return {};
}

Fault start_epoch(comm::Runtime& runtime, Window& window, const std::vector<int>& ranks,
                  int assertion) {
    if (window.access_started)
        return epoch_fault("an access epoch of MPI_Win_start is open",
                           "end it with MPI_Win_complete first");
    if (has_locks(window))
        return epoch_fault("this task holds locks of the window", "unlock them first");
    if (Fault fault = leave_fence(window)) return fault;
    for (const int rank : ranks) {
        if ((assertion & MPI_MODE_NOCHECK) != 0) break;
        if (rank == window.rank()) {
            if (window.own_posts == 0 && !runtime.messages().shared())
                return epoch_fault(
                    "this would wait forever: this task has not posted the window "
                    "for itself",
                    "call MPI_Win_post first");
            if (Fault fault =
                    wait_for_members(runtime, window, {}, [&] { return window.own_posts > 0; }))
                return fault;
            --window.own_posts;
            continue;
        }
        const comm::MatchKey key{window.context(WindowContext::kPosted), window.task(rank), 0};
        const comm::ReceiveRequest& received = runtime.messages().receive({}, key);
        if (received.outcome != comm::Outcome::kDone)
            return fault_of(runtime, *window.comm, received.outcome, window.task(rank));
    }
    window.started = ranks;
    window.access_started = true;
    for (const int rank : ranks) window.member(rank).started = true;
    return {};
}

Fault complete_epoch(comm::Runtime& runtime, Window& window) {
    if (!window.access_started)
        return epoch_fault("there is no access epoch to end", "call MPI_Win_start first");
    Fault fault;
    // Only the target of a dynamic window can find out that an operation is wrong.
    if (window.dynamic()) fault = complete_remotely(runtime, window, kAllRanks);
    Fault later = complete_locally(runtime, window, kAllRanks);
    for (const int rank : window.started) {
        WindowMember& member = window.member(rank);
        member.started = member.unflushed = false;
        if (rank == window.rank()) {
            ++member.completes;
        } else {
            send_synchronisation(runtime, window, rank, AccessKind::kComplete, false);
        }
    }
    window.started.clear();
    window.access_started = window.used = false;
    return fault ? fault : later;
}

namespace {

bool all_have_completed(Window& window) {
    return std::all_of(window.posted.begin(), window.posted.end(),
                       [&](int rank) { return window.member(rank).completes > 0; });
}

void end_exposure(Window& window) {
    for (const int rank : window.posted) --window.member(rank).completes;
    window.posted.clear();
    window.exposed = false;
}

Fault check_exposed(const Window& window) {
    if (window.exposed) return {};
    return epoch_fault("there is no exposure epoch to end", "call MPI_Win_post first");
}

}  // namespace

Fault wait_exposure(comm::Runtime& runtime, Window& window) {
    if (Fault fault = check_exposed(window)) return fault;
    Fault fault = wait_for_members(runtime, window, window.posted,
                                   [&] { return all_have_completed(window); });
    if (fault) {
        window.exposed = false;
        return fault;
    }
    end_exposure(window);
    return {};
}

Fault test_exposure(comm::Runtime& runtime, Window& window, bool& over) {
    if (Fault fault = check_exposed(window)) return fault;
    if (!all_have_completed(window)) {
        look(runtime, {});
        runtime.messages().help();
    }
    over = all_have_completed(window);
    if (over) {
        end_exposure(window);
        return {};
    }
    pause_after_look(runtime);
    // The call looks for tasks that have ended.
    runtime.messages().lost_sender(
        {window.context(WindowContext::kAccess), comm::kWildcard, comm::kWildcard});
    for (const int rank : window.posted) {
        if (window.member(rank).completes == 0 && runtime.messages().lost(window.task(rank)))
            return end_of_member(runtime, window, rank);
    }
    return {};
}

Fault lock(comm::Runtime& runtime, Window& window, int rank, bool exclusive, int assertion) {
    if (window.member(rank).lock != LockHeld::kNone || window.locked_all)
        return epoch_fault("this task has locked rank " + std::to_string(rank) + " already",
                           "unlock it first");
    if (window.access_started)
        return epoch_fault("an access epoch of MPI_Win_start is open",
                           "end it with MPI_Win_complete first");
    if (Fault fault = leave_fence(window)) return fault;
    if (Fault fault = check_lockable(window, rank)) return fault;
    std::vector<std::shared_ptr<Pending>> asked;
    const LockHeld wanted = (assertion & MPI_MODE_NOCHECK) != 0 ? LockHeld::kUnchecked
                            : exclusive                         ? LockHeld::kExclusive
                                                                : LockHeld::kShared;
    if (Fault fault = begin_lock(runtime, window, rank, wanted, has_locks(window), asked))
        return fault;
    ++window.locks;
    return finish_locks(runtime, window, asked);
}

Fault unlock(comm::Runtime& runtime, Window& window, int rank) {
    if (window.member(rank).lock == LockHeld::kNone || window.locked_all)
        return epoch_fault("this task has not locked rank " + std::to_string(rank),
                           "call MPI_Win_lock first");
    Fault fault = complete_locally(runtime, window, rank);
    begin_unlock(runtime, window, rank);
    --window.locks;
    if (window.locks == 0) window.used = false;
    Fault later = complete_locally(runtime, window, rank);
    return fault ? fault : later;
}

Fault lock_all(comm::Runtime& runtime, Window& window, int assertion) {
    if (has_locks(window))
        return epoch_fault("this task holds locks of the window already", "unlock them first");
    if (window.access_started)
        return epoch_fault("an access epoch of MPI_Win_start is open",
                           "end it with MPI_Win_complete first");
    if (Fault fault = leave_fence(window)) return fault;
    if (Fault fault = check_lockable(window, kAllRanks)) return fault;
    const LockHeld wanted =
        (assertion & MPI_MODE_NOCHECK) != 0 ? LockHeld::kUnchecked : LockHeld::kShared;
    std::vector<std::shared_ptr<Pending>> asked;
    // Locks in shared memory are taken one after the other, so this task has none at first.
    const bool one_by_one = has_shared_locks(window);
    for (int rank = 0; rank < window.size(); ++rank) {
        Fault fault = begin_lock(runtime, window, rank, wanted, !one_by_one || rank > 0, asked);
        if (!fault) continue;
        while (rank-- > 0) begin_unlock(runtime, window, rank);
        return fault;
    }
    window.locked_all = true;
    return finish_locks(runtime, window, asked);
}

Fault unlock_all(comm::Runtime& runtime, Window& window) {
    if (!window.locked_all)
        return epoch_fault("this task has not locked all members", "call MPI_Win_lock_all first");
    Fault fault = complete_locally(runtime, window, kAllRanks);
    for (int rank = 0; rank < window.size(); ++rank) begin_unlock(runtime, window, rank);
    window.locked_all = window.used = false;
    Fault later = complete_locally(runtime, window, kAllRanks);
    return fault ? fault : later;
}

Fault flush(comm::Runtime& runtime, Window& window, int rank, bool local) {
    const bool locked =
        rank == kAllRanks ? has_locks(window) : window.member(rank).lock != LockHeld::kNone;
    if (!locked)
        return epoch_fault(rank == kAllRanks
                               ? "this task holds no lock of the window"
                               : "this task has not locked rank " + std::to_string(rank),
                           "call MPI_Win_lock or MPI_Win_lock_all first");
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return local ? complete_locally(runtime, window, rank)
                 : complete_remotely(runtime, window, rank);
}

void sync(comm::Runtime& runtime) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    runtime.messages().progress();
    runtime.messages().help();
}

}  // namespace poe::mpi
