// See guardian.hpp.
#include "partition_manager/guardian.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/base/error.hpp"
#include "partition_manager/job_directory.hpp"
#include "partition_manager/process_tree.hpp"

namespace poe::pm {

static_assert(kGuardianLost == SIGHUP);

namespace {

// The channel must end with the daemon, so nobody else may hold it.
void let_go_of_streams() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
}

// Whoever has hidden from the daemon's death is ours now.
void kill_what_is_left() {
    const timespec pause{0, 5'000'000};
    while (has_children()) {
        signal_descendants(SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        ::nanosleep(&pause, nullptr);
    }
}

}  // namespace

std::optional<int> guard_daemon() {
    become_subreaper();
    const pid_t guardian = ::getpid();
    const pid_t daemon = ::fork();
    if (daemon < 0) throw_errno("starting the daemon below its guardian");
    if (daemon == 0) {
        ::prctl(PR_SET_PDEATHSIG, kGuardianLost);
        if (::getppid() != guardian) ::_exit(1);
        return std::nullopt;
    }
    let_go_of_streams();
    int status = 0;
    while (::waitpid(daemon, &status, 0) < 0 && errno == EINTR) {
    }
    kill_what_is_left();
    remove_stale_job_directories(kJobDirectoryParent, ::getuid());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace poe::pm
