// The guard and the daemon below it: real processes, with a daemon that does what a test says.
#include "partition_manager/daemon/subreaper_guard.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using poe::pm::Heartbeat;
using poe::pm::Silence;

namespace {

// A guard with that daemon; its process. The daemon's process id goes to `told`.
pid_t start_guarded(const std::function<void(Heartbeat&)>& daemon, int told = -1) {
    const pid_t guard = ::fork();
    if (guard != 0) return guard;
    const poe::pm::Guarded divided = poe::pm::guard_daemon();
    if (divided.status) ::_exit(*divided.status);
    const pid_t own = ::getpid();
    if (told >= 0 && ::write(told, &own, sizeof own) != sizeof own) ::_exit(99);
    daemon(*divided.heartbeat);
    ::_exit(7);
}

int status_of(pid_t guard) {
    int status = 0;
    REQUIRE(::waitpid(guard, &status, 0) == guard);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a guard has its daemon's status") {
    CHECK(status_of(start_guarded([](Heartbeat&) {})) == 7);
    CHECK(status_of(start_guarded([](Heartbeat&) { ::raise(SIGKILL); })) == 128 + SIGKILL);
}

TEST_CASE("a daemon that beats is left alone, one that stops beating is killed with its children") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t guard = start_guarded([&](Heartbeat& heartbeat) {
        // Its child holds the pipe open until it is killed.
        if (::fork() == 0) {
            ::signal(SIGTERM, SIG_IGN);
            for (;;) ::pause();
        }
        // Longer than a daemon waits for a processor that others use, too.
        heartbeat.limit_ms = 2000;
        for (int i = 0; i < 250; ++i) {
            ++heartbeat.beats;
            std::this_thread::sleep_for(10ms);
        }
        if (::write(ends[1], "x", 1) != 1) ::_exit(98);
        heartbeat.limit_ms = 100;
        ::raise(SIGSTOP);
    });
    ::close(ends[1]);
    char text[2] = {};
    CHECK(::read(ends[0], text, sizeof text) == 1);
    CHECK(::read(ends[0], text, sizeof text) == 0);
    CHECK(status_of(guard) == 128 + SIGKILL);
    ::close(ends[0]);
}

TEST_CASE("without a limit a silent daemon is left alone") {
    CHECK(status_of(start_guarded([](Heartbeat&) { std::this_thread::sleep_for(100ms); })) == 7);
}

TEST_CASE("a daemon that a debugger holds is left alone") {
    int ends[2];
    int go[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::pipe(go) == 0);
    const pid_t guard = start_guarded(
        [&](Heartbeat& heartbeat) {
            ++heartbeat.beats;
            char byte = 0;
            if (::read(go[0], &byte, 1) != 1) ::_exit(98);
            heartbeat.limit_ms = 50;
            std::this_thread::sleep_for(500ms);
        },
        ends[1]);
    pid_t daemon = 0;
    REQUIRE(::read(ends[0], &daemon, sizeof daemon) == sizeof daemon);
    REQUIRE(::ptrace(PTRACE_SEIZE, daemon, nullptr, nullptr) == 0);
    REQUIRE(::write(go[1], "x", 1) == 1);
    for (const int end : {ends[0], ends[1], go[0], go[1]}) ::close(end);
    // The end of a traced process is reported here first, then to its parent.
    int status = 0;
    CHECK(::waitpid(daemon, &status, __WALL) == daemon);
    CHECK(WIFEXITED(status));
    CHECK(status_of(guard) == 7);
}

TEST_CASE("time in which the guard did not run is not held against the daemon") {
    Silence silence;
    CHECK(silence.look(1, 100ms, 100ms, false) == 0ms);
    CHECK(silence.look(1, 100ms, 101ms, false) == 100ms);
    CHECK(silence.look(1, 100ms, 1h, false) == 200ms);
    CHECK(silence.look(1, 100ms, 30ms, false) == 230ms);
    CHECK(silence.look(2, 100ms, 100ms, false) == 0ms);
    CHECK(silence.look(2, 100ms, 100ms, false) == 100ms);
    CHECK(silence.look(2, 100ms, 100ms, true) == 0ms);
}
