// The synchronisation of windows (MPI 5.0, section 12.5).
#include <mpi.h>
#include <string>
#include <vector>

#include "mpi/api/bodies.hpp"
#include "mpi/api/window_call.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "tracer/probe/lock_type.hpp"

namespace poe::mpi {
namespace {

// Refuses values that are no sum of the assertions in `known`.
bool check_assertion(Call& call, int assertion, int known) {
    if ((assertion & ~known) == 0) return true;
    call.fail(MPI_ERR_ASSERT, "assert",
              std::to_string(assertion) + " is no sum of assertions of this function",
              "give 0 if nothing can be asserted");
    return false;
}

// The ranks in the window of the members of a group; false if one of them is no member.
bool find_ranks(Call& call, const Window& window, MPI_Group group, std::vector<int>& ranks) {
    for (const TaskId task : environment().find_group(group)->tasks()) {
        const int rank = window.comm->local->rank_of(task);
        if (rank == MPI_UNDEFINED) {
            call.fail(MPI_ERR_GROUP, "group",
                      "task " + std::to_string(task) + " is no member of the window's group", "");
            return false;
        }
        ranks.push_back(rank);
    }
    return true;
}

int flush_members(Call& call, MPI_Win win, int rank, bool local) {
    Window& window = *find_window(win);
    const VisibleCall visible(
        call, rank == kAllRanks ? about_window(window) : about_member(window, rank));
    return call.finish(flush(call.runtime(), window, rank, local));
}

int flush_member(Call& call, MPI_Win win, int rank, bool local) {
    if (!check_window_rank(call, *find_window(win), rank, "rank")) return call.code();
    return flush_members(call, win, rank, local);
}

}  // namespace

int win_fence(Call& call, int assert, MPI_Win win) {
    Window& window = *find_window(win);
    if (!check_assertion(
            call, assert,
            MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED))
        return call.code();
    const VisibleCollective visible(call, *window.comm);
    return call.finish(fence(call.runtime(), window, assert));
}

int win_post(Call& call, MPI_Group group, int assert, MPI_Win win) {
    Window& window = *find_window(win);
    std::vector<int> ranks;
    if (!check_assertion(call, assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT) ||
        !find_ranks(call, window, group, ranks))
        return call.code();
    const Noted noted(call, about_window(window));
    return call.finish(post(call.runtime(), window, ranks, assert));
}

int win_start(Call& call, MPI_Group group, int assert, MPI_Win win) {
    Window& window = *find_window(win);
    std::vector<int> ranks;
    if (!check_assertion(call, assert, MPI_MODE_NOCHECK) || !find_ranks(call, window, group, ranks))
        return call.code();
    const VisibleCall visible(
        call, ranks.size() == 1 ? about_member(window, ranks.front()) : about_window(window));
    return call.finish(start_epoch(call.runtime(), window, ranks, assert));
}

int win_complete(Call& call, MPI_Win win) {
    const VisibleCall visible(call, about_window(*find_window(win)));
    return call.finish(complete_epoch(call.runtime(), *find_window(win)));
}

int win_wait(Call& call, MPI_Win win) {
    const VisibleCall visible(call, about_window(*find_window(win)));
    return call.finish(wait_exposure(call.runtime(), *find_window(win)));
}

int win_test(Call& call, MPI_Win win, int* flag) {
    const Noted noted(call, about_window(*find_window(win)));
    bool over = false;
    const Fault fault = test_exposure(call.runtime(), *find_window(win), over);
    *flag = over ? 1 : 0;
    return call.finish(fault);
}

int win_lock(Call& call, int lock_type, int rank, int assert, MPI_Win win) {
    Window& window = *find_window(win);
    if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        return call.fail(MPI_ERR_LOCKTYPE, "lock_type",
                         std::to_string(lock_type) + " is no type of locks",
                         "give MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE");
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (!check_window_rank(call, window, rank, "rank") ||
        !check_assertion(call, assert, MPI_MODE_NOCHECK))
        return call.code();
    const CallAbout about = about_member(window, rank);
    CallAbout recorded = about;
    if ((assert& MPI_MODE_NOCHECK) == 0)
        recorded.tag =
            static_cast<std::int32_t>(lock_type == MPI_LOCK_EXCLUSIVE ? trace::LockType::kExclusive
                                                                      : trace::LockType::kShared);
    const Noted noted(call, recorded);
    const Shown shown(call, about);
    return call.finish(lock(call.runtime(), window, rank, lock_type == MPI_LOCK_EXCLUSIVE, assert));
}

int win_unlock(Call& call, int rank, MPI_Win win) {
    Window& window = *find_window(win);
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (!check_window_rank(call, window, rank, "rank")) return call.code();
    const VisibleCall visible(call, about_member(window, rank));
    return call.finish(unlock(call.runtime(), window, rank));
}

int win_lock_all(Call& call, int assert, MPI_Win win) {
    if (!check_assertion(call, assert, MPI_MODE_NOCHECK)) return call.code();
    const VisibleCall visible(call, about_window(*find_window(win)));
    return call.finish(lock_all(call.runtime(), *find_window(win), assert));
}

int win_unlock_all(Call& call, MPI_Win win) {
    const VisibleCall visible(call, about_window(*find_window(win)));
    return call.finish(unlock_all(call.runtime(), *find_window(win)));
}

int win_flush(Call& call, int rank, MPI_Win win) {
    return flush_member(call, win, rank, false);
}
int win_flush_local(Call& call, int rank, MPI_Win win) {
    return flush_member(call, win, rank, true);
}
int win_flush_all(Call& call, MPI_Win win) {
    return flush_members(call, win, kAllRanks, false);
}
int win_flush_local_all(Call& call, MPI_Win win) {
    return flush_members(call, win, kAllRanks, true);
}

int win_sync(Call& call, MPI_Win) {
    sync(call.runtime());
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
