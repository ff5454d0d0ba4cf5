// ThreadWaitsTable: what the threads of a task with MPI_THREAD_MULTIPLE wait for, in the task's own
// memory, for its daemon (comm/progress/thread_waits.hpp writes it,
// partition_manager/daemon/waiting_threads.hpp reads it with process_vm_readv). Its address is in
// the task's slot, which itself has room for the call of one thread only. Both depend on the
// layout, so a change of it must increment kSegmentVersion.
//
// Invariant. Only the thread that has the turn writes the table. `changes` grows whenever something
// happens that may end a wait: a thread ends a call, begins or ends a wait, or a message moves.
// `noted` is the value of `changes` when the entries were written, which is done only in waits that
// last. If both are equal while no thread has the turn, all threads of the entries still wait for
// what the entries say, and nothing has happened since. Between two increments of `looks`, the
// thread that has the turn gives it up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/segment/wait_notes.hpp"
#include "base/types.hpp"

namespace poe {

// A thread that waits.
struct WaitingThread {
    std::int32_t thread = 0;  // its id
    std::uint32_t call = 0;   // the following as in TaskActivity
    std::int32_t peer = -1;
    std::int32_t type = -1;
    std::uint64_t bytes = 0;
    std::uint64_t site = 0;
    std::uint32_t context = 0;
    std::uint32_t awaited_kind = 0;  // the following as in Awaited
    std::int32_t awaited_peer = -1;
    std::int32_t awaited_type = -1;
    std::uint32_t awaited_context = 0;
    std::array<char, ContextName::kBytes> communicator{};  // its name, cut if it is long
};

struct ThreadWaitsTable {
    static constexpr std::uint64_t kMagic = 0x5354'4941'5754'4f50ull;  // "POTWAITS" in memory
    static constexpr std::size_t kMostThreads = 64;

    std::uint64_t magic = kMagic;
    std::uint64_t turn = 0;       // address of a 32-bit word
    std::uint32_t turn_held = 0;  // the bit of this word that is set while a thread has the turn
    std::uint32_t reserved = 0;
    std::uint64_t looks = 0;  // polls in waits that last that have found nothing
    std::uint64_t changes = 1;
    std::uint64_t noted = 0;
    std::int32_t progress_thread =
        0;  // its id; 0: there is none. It acts only for waits that it can end.
    std::uint32_t count =
        0;  // of threads that wait; more than kMostThreads: the entries are not complete
    std::array<WaitingThread, kMostThreads> threads{};
};

}  // namespace poe
