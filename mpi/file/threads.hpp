// System calls of files without the turn, so that other threads can call MPI while the system reads or writes
// (MPI_THREAD_MULTIPLE). For a program with one thread, these functions do nothing but the work.
#pragma once

#include <utility>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/file/file.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {

// Runs `work`, which may block for long and uses nothing that the turn protects. For the thread that has the turn,
// which has it again afterwards.
template <typename Work>
void without_turn(comm::Runtime& runtime, Work&& work) {
    comm::RuntimeLock& turn = runtime.turn();
    if (!turn.shared()) return work();
    // Wakes the threads whose conditions this call has met by now.
    runtime.pause_between_looks();
    turn.give_up();
    struct Return {
        comm::RuntimeLock& turn;
        ~Return() { turn.take_again(); }
    } const back{turn};
    work();
}

// Blocks until no other thread uses the file without the turn. To be called before a thread reads or changes the
// file's pointer, view or mode.
inline void await_file(comm::Runtime& runtime, const File& file) {
    if (file.in_use)
        wait_until(
            runtime, [&file] { return !file.in_use; }, [] { return Awaited{}; });
}

// The same as without_turn(), for an access of this thread to the file: no other thread uses the file meanwhile.
template <typename Work>
void use_file(comm::Runtime& runtime, File& file, Work&& work) {
    await_file(runtime, file);
    file.in_use = true;
    struct End {
        File& file;
        ~End() { file.in_use = false; }
    } const end{file};
    without_turn(runtime, std::forward<Work>(work));
}

}  // namespace poe::mpi
