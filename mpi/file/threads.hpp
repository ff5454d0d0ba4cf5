// System calls of files without the turn, so that other threads can call MPI while the system reads
// or writes (MPI_THREAD_MULTIPLE). For a program with one thread, these functions do nothing but
// the work.
//
//   operation                          who makes the system calls
//   a blocking call of one task        the thread that calls: without_turn(), use_file()
//   a part of an operation that any    SystemCalls: the thread that waits for this operation only, or else a thread
//   thread continues in its waits      of the library. A thread that has the turn because it continues the operation
//                                      cannot give it up, as it may be in the middle of waking others.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/file/file.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {

// Runs `work`, which may block for long and uses nothing that the turn protects. For the thread
// that has the turn, which has it again afterwards.
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

// Blocks until no other thread uses the file without the turn. To be called before a thread reads
// or changes the file's pointer, view or mode.
inline void await_file(comm::Runtime& runtime, const File& file) {
    if (file.in_use)
        wait_until(
            runtime, [&file] { return !file.in_use; }, [] { return Awaited{}; });
}

// The same as without_turn(), for an access of this thread to the file: no other thread uses the
// file meanwhile.
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

// System calls of an operation whose next step comes after them. All functions are for the thread
// that has the turn.
class SystemCalls {
  public:
    // `awaited`: a thread waits for the operation from its start on, and calls run() whenever
    // is_due() is true; a thread of the library would need 60 us for a call that takes one. The
    // runtime must outlive all calls.
    SystemCalls(comm::Runtime& runtime, bool awaited) noexcept
        : runtime_(runtime), awaited_(awaited) {}

    // Begins `calls`, which use nothing that the turn protects. With several threads it does not
    // block: run() makes them, or a thread of the library does, which then wakes the threads whose
    // waits have ended. With one thread, or if no other can be started, this function makes them.
    // What they use must stay until over() is true.
    void start(std::function<void()> calls);
    bool is_due() const noexcept { return due_ != nullptr; }
    // Gives the turn up during the calls. Precondition: is_due().
    void run();
    // True if the calls that were started last have ended. Throws what they have thrown.
    bool over() const;

  private:
    struct State;
    comm::Runtime& runtime_;
    const bool awaited_;
    std::function<void()> due_;
    std::shared_ptr<State> state_;
};

}  // namespace poe::mpi
