// See subreaper_guard.hpp.
#include "partition_manager/daemon/subreaper_guard.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/launch/process_tree.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/status/node_use.hpp"

namespace poe::pm {

static_assert(kGuardLost == SIGHUP);

namespace {

// Closes the standard streams. The channel must end with the daemon, so no other process may hold
// it.
void let_go_of_streams() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
}

// Kills the remaining processes. Processes that survived the daemon are children of this subreaper
// now.
void kill_what_is_left() {
    const timespec pause{0, 5'000'000};
    while (has_children()) {
        signal_descendants(SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        ::nanosleep(&pause, nullptr);
    }
}

using namespace std::chrono_literals;
using std::chrono::milliseconds;

Heartbeat* make_heartbeat() {
    void* page = ::mmap(nullptr, sizeof(Heartbeat), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw_errno("memory for the daemon and its guard");
    return new (page) Heartbeat;
}

// True if a debugger is attached to the process.
bool is_traced(pid_t process) {
    char text[4096] = {};
    const std::string path = "/proc/" + std::to_string(process) + "/status";
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    constexpr const char* kTracer = "TracerPid:\t";
    const char* line = length > 0 ? std::strstr(text, kTracer) : nullptr;
    return line != nullptr && line[std::strlen(kTracer)] != '0';
}

sigset_t only(int signal) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    return set;
}

// Waits until a child or an adopted orphan ends, but at most for `time`. SIGCHLD must be blocked.
void wait_for_child(milliseconds time) {
    const sigset_t child_ended = only(SIGCHLD);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const std::chrono::nanoseconds rest = time - seconds;
    const timespec limit{seconds.count(), rest.count()};
    ::sigtimedwait(&child_ended, nullptr, &limit);
}

// Blocks until the daemon has ended, or has been silent for too long and is to be killed. Returns
// its status as waitpid does.
int watch(pid_t daemon, const Heartbeat& heartbeat) {
    constexpr milliseconds kLimitNotKnown = 1s;
    constexpr unsigned kLooksInLimit = 8;
    Silence silence;
    for (;;) {
        int status = 0;
        // Adopted orphans are reaped here, because no other process waits for them.
        for (pid_t ended; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == daemon) return status;
        const milliseconds limit(heartbeat.limit_ms.load(std::memory_order_relaxed));
        const milliseconds planned =
            limit == 0ms ? kLimitNotKnown : std::max(1ms, limit / kLooksInLimit);
        const auto before = std::chrono::steady_clock::now();
        wait_for_child(planned);
        const auto slept =
            std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - before);
        const milliseconds silent = silence.look(heartbeat.beats.load(std::memory_order_relaxed),
                                                 planned, slept, is_traced(daemon));
        if (limit > 0ms && silent >= limit) return SIGKILL;
    }
}

}  // namespace

Guarded guard_daemon() {
    become_subreaper();
    Heartbeat* heartbeat = make_heartbeat();
    const sigset_t child_ended = only(SIGCHLD);
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &child_ended, &before);
    const pid_t guard = ::getpid();
    const pid_t daemon = ::fork();
    if (daemon < 0) throw_errno("starting the daemon below its guard");
    if (daemon == 0) {
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        ::prctl(PR_SET_PDEATHSIG, kGuardLost);
        if (::getppid() != guard) ::_exit(1);
        return {std::nullopt, heartbeat};
    }
    let_go_of_streams();
    const int status = watch(daemon, *heartbeat);
    kill_what_is_left();
    remove_stale_job_directories(kJobDirectoryParent, ::getuid());
    remove_unused_reservations(kJobDirectoryParent, local_host_name());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), nullptr};
}

}  // namespace poe::pm
