// A daemon whose job does not come. Whole jobs are in tests/multiproc and tests/cluster.
#include "partition_manager/daemon/node_daemon.hpp"

#include <chrono>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "partition_manager/launch/spawn.hpp"

using poe::UniqueFd;

TEST_CASE("a daemon ends if the node that started it is silent") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    // This end stays open, as it does if a node freezes.
    const UniqueFd above(ends[0]);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
        try {
            poe::pm::NodeDaemon(UniqueFd(ends[1]), UniqueFd(), poe::pm::InheritedSignals::capture(),
                                "", nullptr)
                .run(std::chrono::milliseconds(50));
        } catch (const poe::Error&) {
            ::_exit(3);
        }
        ::_exit(4);
    }
    ::close(ends[1]);
    int status = 0;
    REQUIRE(::waitpid(daemon, &status, 0) == daemon);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
}
