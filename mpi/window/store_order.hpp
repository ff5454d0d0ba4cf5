// The order of stores into windows and later loads from windows.
//
// A flush says that the operations before it have taken effect. If two tasks each put, flush, and
// then get what the other has put, at least one of them must get the new value. Processors let a
// load overtake an earlier store, so there must be a full fence between both. It takes longer than
// the put itself. Therefore the fence is executed by the first load after a store instead of by
// each flush. Operations that hold a lock contain a fence anyway, and messages that say that the
// data are there are stores, which stay in order.
#pragma once

#include <atomic>

namespace poe::mpi {

// True if this task has stored into a window since its last fence. For the thread that has the
// turn; giving the turn to another thread publishes all stores before it.
inline bool stores_may_be_late = false;

inline void note_store() noexcept {
    stores_may_be_late = true;
}

// Call before a load from a window.
inline void order_load_after_stores() noexcept {
    if (!stores_may_be_late) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    stores_may_be_late = false;
}

}  // namespace poe::mpi
