#include "base/hardware_watchpoints.hpp"

#include <cerrno>
#include <sys/wait.h>

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("the test of hardware watchpoints leaves no process, and has one answer") {
    const bool first = hardware_watchpoints_work();
    for (int i = 0; i < 20; ++i) CHECK(hardware_watchpoints_work() == first);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
}
