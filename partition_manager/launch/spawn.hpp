// Starting one process with exactly the descriptors, group, limits and parent that it should have.
//
// posix_spawn cannot ask for a parent-death signal, which is what keeps tasks from outliving a
// killed daemon, so this does what posix_spawn does inside (clone, a few system calls, exec) with
// that added. The child shares our memory until it execs: it allocates nothing, and all signals
// are blocked around it.
//
// It also shares our table of descriptors until it has cut off its own copy below kLowDescriptors:
// a daemon of 256 tasks has 1,300 of them, and copying and closing these for every task cost as
// much as starting it. Descriptors that a daemon keeps for long belong above (see move_up).
#pragma once

#include <csignal>
#include <optional>
#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace poe::pm {

inline constexpr int kLowDescriptors = 64;

// The same descriptor under a number from kLowDescriptors on; as it is when there is none.
UniqueFd move_up(UniqueFd fd) noexcept;

// From now on a write that nobody reads, or that goes beyond the limit of file sizes (ulimit -f),
// fails (EPIPE, EFBIG) and does not end this process by a signal.
void make_writes_fail() noexcept;
// The opposite, for what replaces this process by exec. Safe in a child that shares our memory.
void make_writes_kill() noexcept;

struct SpawnRequest {
    const char* path = nullptr;  // the file to execute; no search
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    int stdin_fd = -1;  // become 0, 1, 2; -1 leaves ours in place
    int stdout_fd = -1;
    int stderr_fd = -1;
    int keep_fd[2] = {-1, -1};  // stay open under the same number; all others are close-on-exec
    bool new_session = false;   // setsid; otherwise its own process group
    // Its standard output becomes the controlling terminal of the new session.
    bool take_terminal = false;
    int death_signal = 0;                   // sent to it when our thread ends; 0 for none
    const sigset_t* signal_mask = nullptr;  // its mask; nullptr: empty
    // Ignored in it. Signals that have a handler here, and those of make_writes_fail(), are default
    // otherwise; what else this process ignores stays ignored.
    const sigset_t* ignored_signals = nullptr;
    std::optional<rlimit> open_files;  // its RLIMIT_NOFILE
    const char* directory = nullptr;   // its working directory; nullptr: ours
    const cpu_set_t* cpus = nullptr;   // the only ones it may use; no failure when that cannot be
};

// The signals that were blocked and ignored when this program started; what its children inherit,
// so that `nohup poe ...` means what it should.
struct InheritedSignals {
    sigset_t blocked;
    sigset_t ignored;
    static InheritedSignals capture();
};

// Returns the new process's number, or -errno of the step that failed (of exec: ENOENT, EACCES,
// ENOEXEC, ...). Blocks until the child has left our memory, about 0.1 ms.
pid_t spawn(const SpawnRequest& request) noexcept;

}  // namespace poe::pm
