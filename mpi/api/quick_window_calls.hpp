// The fast paths of one-sided communication (quick_calls.hpp). They need no other task, except
// win_fence.
#pragma once

#include <mpi.h>

#include "mpi/api/quick_turn.hpp"
#include "mpi/window/at_once.hpp"
#include "mpi/window/window.hpp"

namespace poe::mpi::quick {

// Calls work(runtime, window) in a turn of its own; false if that is not possible. `work` does not
// throw.
template <typename Work>
inline bool with_window(MPI_Win win, Work&& work) {
    return in_turn([&](comm::Runtime& runtime) {
        Window* const window = find_window(win);
        return window != nullptr && work(runtime, *window);
    });
}

[[gnu::flatten]] inline bool put(const void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Win win) {
    if (origin_count != target_count || origin_datatype != target_datatype) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return put_at_once(runtime, window, origin_addr,
                           {target_rank, target_disp, target_count, target_datatype});
    });
}

[[gnu::flatten]] inline bool get(void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Win win) {
    if (origin_count != target_count || origin_datatype != target_datatype) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return get_at_once(runtime, window, origin_addr,
                           {target_rank, target_disp, target_count, target_datatype});
    });
}

[[gnu::flatten]] inline bool accumulate(const void* origin_addr, MPI_Count origin_count,
                                        MPI_Datatype origin_datatype, int target_rank,
                                        MPI_Aint target_disp, MPI_Count target_count,
                                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    if (origin_addr == nullptr || origin_count != target_count ||
        origin_datatype != target_datatype)
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, nullptr,
                                  {target_rank, target_disp, target_count, target_datatype}, op);
    });
}

// MPI_NO_OP ignores the origin's buffer.
[[gnu::flatten]] inline bool get_accumulate(const void* origin_addr, MPI_Count origin_count,
                                            MPI_Datatype origin_datatype, void* result_addr,
                                            MPI_Count result_count, MPI_Datatype result_datatype,
                                            int target_rank, MPI_Aint target_disp,
                                            MPI_Count target_count, MPI_Datatype target_datatype,
                                            MPI_Op op, MPI_Win win) {
    if (result_addr == nullptr || result_count != target_count ||
        result_datatype != target_datatype)
        return false;
    if (op != MPI_NO_OP && (origin_addr == nullptr || origin_count != target_count ||
                            origin_datatype != target_datatype))
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, result_addr,
                                  {target_rank, target_disp, target_count, target_datatype}, op);
    });
}

[[gnu::flatten]] inline bool fetch_and_op(const void* origin_addr, void* result_addr,
                                          MPI_Datatype datatype, int target_rank,
                                          MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    if (result_addr == nullptr || (origin_addr == nullptr && op != MPI_NO_OP)) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return accumulate_at_once(runtime, window, origin_addr, result_addr,
                                  {target_rank, target_disp, 1, datatype}, op);
    });
}

[[gnu::flatten]] inline bool compare_and_swap(const void* origin_addr, const void* compare_addr,
                                              void* result_addr, MPI_Datatype datatype,
                                              int target_rank, MPI_Aint target_disp, MPI_Win win) {
    if (origin_addr == nullptr || compare_addr == nullptr || result_addr == nullptr) return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return compare_and_swap_at_once(runtime, window, origin_addr, compare_addr, result_addr,
                                        {target_rank, target_disp, 1, datatype});
    });
}

[[gnu::flatten]] inline bool win_flush(int rank, MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_at_once(runtime, window, rank, false);
    });
}
[[gnu::flatten]] inline bool win_flush_local(int rank, MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_at_once(runtime, window, rank, true);
    });
}
[[gnu::flatten]] inline bool win_flush_all(MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_all_at_once(runtime, window, false);
    });
}
[[gnu::flatten]] inline bool win_flush_local_all(MPI_Win win) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return flush_all_at_once(runtime, window, true);
    });
}

[[gnu::flatten]] inline bool win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    if (rank < 0 || assert != 0 ||
        (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED))
        return false;
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return lock_at_once(runtime, window, rank, lock_type == MPI_LOCK_EXCLUSIVE);
    });
}
[[gnu::flatten]] inline bool win_unlock(int rank, MPI_Win win) {
    return rank >= 0 && with_window(win, [&](comm::Runtime& runtime, Window& window) {
               return unlock_at_once(runtime, window, rank);
           });
}

inline bool win_fence(int assert, MPI_Win win, const CallPlace& place) {
    return with_window(win, [&](comm::Runtime& runtime, Window& window) {
        return fence_at_once(runtime, window, assert, call_of(place.function), place.site);
    });
}

}  // namespace poe::mpi::quick
