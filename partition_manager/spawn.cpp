// vfork and exec; see spawn.hpp for why not posix_spawn.
#include "partition_manager/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

namespace poe::pm {

namespace {

// Moves `fd` to `wanted`, open across exec.
bool place(int fd, int wanted) noexcept {
    if (fd < 0) return true;
    if (fd == wanted) return ::fcntl(fd, F_SETFD, 0) == 0;
    return ::dup2(fd, wanted) == wanted;
}

// Out of the way of the numbers 0 to 2, which are about to be overwritten.
bool step_aside(int& fd, int wanted) noexcept {
    if (fd < 0 || fd > 2 || fd == wanted) return true;
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return fd >= 0;
}

bool keep_open(int fd) noexcept { return fd < 0 || ::fcntl(fd, F_SETFD, 0) == 0; }

// Runs in the child, in the parent's memory. Returns the errno of what failed.
int become(const SpawnRequest& request, pid_t parent) noexcept {
    if (request.new_session) {
        if (::setsid() < 0) return errno;
    } else if (::setpgid(0, 0) < 0) {
        return errno;
    }
    if (request.death_signal != 0) {
        if (::prctl(PR_SET_PDEATHSIG, request.death_signal) < 0) return errno;
        if (::getppid() != parent) return ECHILD;  // it died before we asked
    }
    int in = request.stdin_fd;
    int out = request.stdout_fd;
    int err = request.stderr_fd;
    if (!step_aside(in, 0) || !step_aside(out, 1) || !step_aside(err, 2) || !place(in, 0) ||
        !place(out, 1) || !place(err, 2) || !keep_open(request.keep_fd[0]) ||
        !keep_open(request.keep_fd[1]))
        return errno;
    if (request.open_files) ::setrlimit(RLIMIT_NOFILE, &*request.open_files);
    // Exec makes handlers default. What was ignored when we started stays so; SIGPIPE, which we
    // ignore for ourselves, does not.
    ::signal(SIGPIPE, SIG_DFL);
    if (request.ignored_signals != nullptr) {
        for (int number = 1; number < NSIG; ++number)
            if (::sigismember(request.ignored_signals, number) == 1) ::signal(number, SIG_IGN);
    }
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigprocmask(SIG_SETMASK, request.signal_mask != nullptr ? request.signal_mask : &mask,
                  nullptr);
    ::execve(request.path, request.argv, request.envp);
    return errno;
}

}  // namespace

SignalHeritage SignalHeritage::capture() {
    SignalHeritage heritage;
    ::sigprocmask(SIG_SETMASK, nullptr, &heritage.blocked);
    ::sigemptyset(&heritage.ignored);
    for (int number = 1; number < NSIG; ++number) {
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
    const pid_t parent = ::getpid();
    volatile int failure = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const pid_t child = ::vfork();
#pragma GCC diagnostic pop
    if (child == 0) {
        failure = become(request, parent);
        ::_exit(127);
    }
    const int fork_error = child < 0 ? errno : 0;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) return -fork_error;
    if (failure != 0) return -failure;  // the dead child is reaped with all others
    return child;
}

}  // namespace poe::pm
