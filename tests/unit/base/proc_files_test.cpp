// Threads and numbers of /proc.
#include "base/proc_files.hpp"

#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("the threads of a process", "[proc_files]") {
    std::promise<pid_t> started;
    std::promise<void> over;
    std::thread other([&] {
        started.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
        over.get_future().wait();
    });
    const pid_t of_other = started.get_future().get();
    const auto threads = threads_of(::getpid());
    over.set_value();
    other.join();
    CHECK(std::count(threads.begin(), threads.end(), ::getpid()) == 1);
    CHECK(std::count(threads.begin(), threads.end(), of_other) == 1);
    CHECK(std::count(threads.begin(), threads.end(), 0) == 0);
}

TEST_CASE("a process that has ended has no threads", "[proc_files]") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    CHECK(threads_of(child).empty());
}

TEST_CASE("numbers after names at the start of a line", "[proc_files]") {
    const std::string text = "x Pid: 7\nPid:\t12 kB\nPidfd: 5\nempty:\nword: many\npgfault 3";
    CHECK(number_after(text, "Pid:") == 12);
    CHECK(number_after(text, "Pidfd:") == 5);
    CHECK(number_after(text, "pgfault ") == 3);
    CHECK(number_after(text, "empty:") == 0);
    CHECK(number_after(text, "word:") == 0);
    CHECK_FALSE(number_after(text, "fd:"));
    CHECK_FALSE(number_after("", "Pid:"));
    std::ifstream file("/proc/self/status");
    const std::string status{std::istreambuf_iterator<char>(file), {}};
    CHECK(number_after(status, "Pid:") == static_cast<std::uint64_t>(::getpid()));
}
