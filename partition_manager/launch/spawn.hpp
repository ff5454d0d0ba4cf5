// Starts one process with exactly the descriptors, process group, limits and parent that it should
// have.
//
// posix_spawn does not support a parent-death signal, which prevents tasks from outliving a killed
// daemon. Therefore this code does what posix_spawn does (clone, a few system calls, exec) and sets
// that signal. The child shares the parent's memory until it execs, so it allocates nothing, and
// all signals are blocked meanwhile.
//
// The child also shares the parent's descriptor table until it has unshared its own copy of the
// descriptors below kLowDescriptors. A daemon of 256 tasks has 1,300 descriptors; copying and
// closing these for every task cost as much as starting the task. Descriptors that a daemon keeps
// for long belong above kLowDescriptors (see move_up).
#pragma once

#include <csignal>
#include <optional>
#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

inline constexpr int kLowDescriptors = 64;

// Moves the descriptor to a number from kLowDescriptors on. If there is no such number, returns it
// unchanged.
UniqueFd move_up(UniqueFd fd) noexcept;

// Makes a write fail (EPIPE, EFBIG) if there is no reader, or if it exceeds the limit of file sizes
// (ulimit -f). By default a signal would end this process.
void make_writes_fail() noexcept;
// Reverts make_writes_fail(), for the program that replaces this process by exec. Safe in a child
// that shares the parent's memory.
void make_writes_kill() noexcept;

struct SpawnRequest {
    const char* path = nullptr;  // the file to execute; PATH is not searched
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    int stdin_fd = -1;  // become 0, 1, 2; -1: the parent's is kept
    int stdout_fd = -1;
    int stderr_fd = -1;
    int keep_fd[2] = {-1, -1};  // kept open under the same number; all others are close-on-exec
    bool new_session = false;   // true: setsid; false: a process group of its own
    // The child's standard output becomes the controlling terminal of the new session.
    bool take_terminal = false;
    // Sent to the child when the calling thread ends; 0: none.
    int death_signal = 0;
    const sigset_t* signal_mask = nullptr;  // the child's mask; nullptr: empty
    // Signals that the child ignores. Other signals get their default action if they have a handler
    // here or belong to make_writes_fail(). Everything else that this process ignores stays
    // ignored.
    const sigset_t* ignored_signals = nullptr;
    std::optional<rlimit> open_files;  // the child's RLIMIT_NOFILE
    const char* directory = nullptr;   // the child's working directory; nullptr: the parent's
    // The child stops (SIGSTOP) before the first instruction of the new program, so that a debugger
    // can attach. Where the kernel forbids tracing, the child runs at once.
    bool hold = false;
    // This process and its descendants, such as a gdb that it starts, may trace the child and read
    // its memory, also where Yama permits that to the ancestors of a process only (ptrace_scope is
    // 1). The permission outlives exec (prctl(2), PR_SET_PTRACER).
    bool traceable = false;
    // The only processors that the child may use. If they cannot be set, this is ignored.
    const cpu_set_t* cpus = nullptr;
};

// The signals that were blocked and ignored when this program started. Children inherit them, so
// that `nohup poe ...` works as expected.
struct InheritedSignals {
    sigset_t blocked;
    sigset_t ignored;
    static InheritedSignals capture();
};

// Returns the new process id, or -errno of the step that failed (of exec: ENOENT, EACCES, ENOEXEC,
// ...). Blocks until the child has execed or failed, about 0.1 ms.
pid_t spawn(const SpawnRequest& request) noexcept;

}  // namespace poe::pm
