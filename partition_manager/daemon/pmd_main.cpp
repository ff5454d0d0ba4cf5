// pmd: the daemon that owns one node's tasks. poe starts it; it is not for use by hand. It speaks
// the channel protocol on its standard input (and on its standard output, if that is another
// stream).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "partition_manager/daemon/node_daemon.hpp"
#include "partition_manager/daemon/node_statistics.hpp"
#include "partition_manager/daemon/subreaper_guard.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/launch/remote_launcher.hpp"
#include "partition_manager/launch/spawn.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "partition_manager/status/node_use.hpp"

namespace {

int usage() {
    std::fputs(
        "usage: pmd --channel [--guard]\n"
        "       pmd --use         how jobs use this node; poestat -pools asks for it\n"
        "       pmd --statistics  the load of this node; poestat -nodes asks for it\n"
        "pmd is the daemon that poe starts on every node of a job; it is of no use by hand.\n"
        "To run a parallel job: poe PROGRAM -procs N. See pmd(8).\n",
        stderr);
    return 2;
}

// Moves a channel descriptor to a higher number. Descriptors 0 and 1 then become /dev/null, so that
// text printed by mistake cannot get into the channel.
poe::UniqueFd move_away(int fd) {
    poe::UniqueFd moved(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!moved) poe::throw_errno("pmd: taking over the channel");
    return moved;
}

bool same_stream(int a, int b) {
    struct stat first = {};
    struct stat second = {};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
        std::puts("pmd " POE_VERSION);
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], poe::pm::kUseArguments) == 0) {
        std::puts(poe::pm::node_use_text(poe::pm::kJobDirectoryParent, poe::pm::local_host_name())
                      .c_str());
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], poe::pm::kStatisticsArguments) == 0) {
        std::puts(poe::pm::node_statistics_now().c_str());
        return 0;
    }
    const bool guarded = argc == 3 && std::strcmp(argv[2], "--guard") == 0;
    if ((argc != 2 && !guarded) || std::strcmp(argv[1], "--channel") != 0) return usage();
    try {
        poe::pm::Heartbeat* heartbeat = nullptr;
        if (guarded) {
            const poe::pm::Guarded divided = poe::pm::guard_daemon();
            if (divided.status) return *divided.status;
            heartbeat = divided.heartbeat;
        }
        const poe::pm::InheritedSignals heritage = poe::pm::InheritedSignals::capture();
        poe::pm::make_writes_fail();
        const bool duplex = same_stream(0, 1);
        poe::UniqueFd in = move_away(0);
        poe::UniqueFd out = duplex ? poe::UniqueFd() : move_away(1);
        const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) {
            ::dup2(null, 0);
            ::dup2(null, 1);
            if (null > 2) ::close(null);
        }
        const char* ssh_connection = std::getenv("SSH_CONNECTION");
        poe::pm::NodeDaemon(std::move(in), std::move(out), heritage,
                            ssh_connection != nullptr ? ssh_connection : "", heartbeat)
            .run();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ERROR: 0031-905  pmd: %s\n", error.what());
        return 1;
    }
}
