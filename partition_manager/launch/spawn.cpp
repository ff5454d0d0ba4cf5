// Uses clone and exec; spawn.hpp says why posix_spawn is not used.
#include "partition_manager/launch/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/close_range.h>
#include <memory>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

// clone under the name that ThreadSanitizer does not intercept. ThreadSanitizer would treat clone
// as a fork and record the child's actions in the memory that parent and child share.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): glibc's name
extern "C" int __clone(int (*child)(void*), void* stack, int flags, void* argument, ...) noexcept;

namespace poe::pm {

namespace {

// This program changes the action of no real-time signal, so these need no care.
constexpr int kLastStandardSignal = SIGSYS;

constexpr int kWriteSignals[] = {SIGPIPE, SIGXFSZ};

// Moves `fd` to the number `wanted` and keeps it open across exec.
bool place(int fd, int wanted) noexcept {
    if (fd < 0) return true;
    if (fd == wanted) return ::fcntl(fd, F_SETFD, 0) == 0;
    return ::dup2(fd, wanted) == wanted;
}

// Moves `fd` away from the numbers 0 to 2, which are about to be overwritten.
bool step_aside(int& fd, int wanted) noexcept {
    if (fd < 0 || fd > 2 || fd == wanted) return true;
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return fd >= 0;
}

bool keep_open(int fd) noexcept {
    return fd < 0 || ::fcntl(fd, F_SETFD, 0) == 0;
}

// Returns the first number from which on the child needs no descriptor.
unsigned first_useless(const SpawnRequest& request) noexcept {
    int highest = kLowDescriptors - 1;
    for (const int fd : {request.stdin_fd, request.stdout_fd, request.stderr_fd, request.keep_fd[0],
                         request.keep_fd[1]})
        highest = std::max(highest, fd);
    return static_cast<unsigned>(highest) + 1;
}

// Runs in the child, in the parent's memory. Returns the errno of the step that failed. If nothing
// fails, it does not return, so ThreadSanitizer must not count its calls.
[[gnu::no_sanitize("thread")]] int become(const SpawnRequest& request, pid_t parent,
                                          bool& held) noexcept {
    // From here on the child has its own descriptors. Before Linux 5.9 it copies all of them.
    if (::close_range(first_useless(request), ~0U, CLOSE_RANGE_UNSHARE) != 0 &&
        ::unshare(CLONE_FILES) != 0)
        return errno;
    if (request.new_session) {
        if (::setsid() < 0) return errno;
    } else if (::setpgid(0, 0) < 0) {
        return errno;
    }
    if (request.death_signal != 0) {
        if (::prctl(PR_SET_PDEATHSIG, request.death_signal) < 0) return errno;
        if (::getppid() != parent) return ECHILD;  // the parent died before prctl
    }
    int in = request.stdin_fd;
    int out = request.stdout_fd;
    int err = request.stderr_fd;
    if (!step_aside(in, 0) || !step_aside(out, 1) || !step_aside(err, 2) || !place(in, 0) ||
        !place(out, 1) || !place(err, 2) || !keep_open(request.keep_fd[0]) ||
        !keep_open(request.keep_fd[1]))
        return errno;
    if (request.take_terminal && ::ioctl(1, TIOCSCTTY, 0) != 0) return errno;
    if (request.directory != nullptr && ::chdir(request.directory) != 0) return errno;
    if (request.open_files) ::setrlimit(RLIMIT_NOFILE, &*request.open_files);
    if (request.cpus != nullptr) ::sched_setaffinity(0, sizeof *request.cpus, request.cpus);
    // Exec resets handlers to the default action. Signals that were ignored at program start stay
    // ignored; those that this process ignores for its own purposes do not.
    make_writes_kill();
    if (request.ignored_signals != nullptr) {
        for (int number = 1; number <= kLastStandardSignal; ++number)
            if (::sigismember(request.ignored_signals, number) == 1) ::signal(number, SIG_IGN);
    }
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigprocmask(SIG_SETMASK, request.signal_mask != nullptr ? request.signal_mask : &mask,
                  nullptr);
    if (request.traceable)  // this fails where there is no Yama
        ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(parent));
    if (request.hold) {
        // Where it is not permitted, the task runs at once, and no debugger can attach to it.
        held = ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0;
    }
    ::execve(request.path, request.argv, request.envp);
    return errno;
}

struct Start {
    const SpawnRequest& request;
    pid_t parent;
    int failure;
    bool held;  // the child stops at its exec
};

// Returning ends the child process.
[[gnu::no_sanitize("thread")]] int run_child(void* argument) {
    auto* start = static_cast<Start*>(argument);
    start->failure = become(start->request, start->parent, start->held);
    return 127;
}

// A traced process stops after exec. It remains stopped when its tracer, this thread, lets it go.
void leave_stopped(pid_t child) noexcept {
    int status = 0;
    while (::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
    }
    if (WIFSTOPPED(status)) ::ptrace(PTRACE_DETACH, child, nullptr, SIGSTOP);
}

constexpr std::size_t kStackBytes = 32 << 10;

}  // namespace

void make_writes_fail() noexcept {
    for (const int signal : kWriteSignals) ::signal(signal, SIG_IGN);
}

void make_writes_kill() noexcept {
    for (const int signal : kWriteSignals) ::signal(signal, SIG_DFL);
}

UniqueFd move_up(UniqueFd fd) noexcept {
    UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowDescriptors));
    return moved ? std::move(moved) : std::move(fd);
}

InheritedSignals InheritedSignals::capture() {
    InheritedSignals heritage;
    ::sigprocmask(SIG_SETMASK, nullptr, &heritage.blocked);
    ::sigemptyset(&heritage.ignored);
    for (int number = 1; number <= kLastStandardSignal; ++number) {
        struct sigaction action = {};
        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            ::sigaddset(&heritage.ignored, number);
    }
    return heritage;
}

pid_t spawn(const SpawnRequest& request) noexcept {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    // The child gets a stack of its own. On the parent's stack AddressSanitizer would find its
    // records of the child's calls.
    const auto stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    Start start{request, ::getpid(), 0, false};
    const pid_t child = ::__clone(&run_child, stack.get() + kStackBytes,
                                  CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &start);
    const int fork_error = child < 0 ? errno : 0;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) return -fork_error;
    if (start.failure != 0) return -start.failure;  // the dead child is reaped like all others
    if (start.held) leave_stopped(child);
    return child;
}

}  // namespace poe::pm
