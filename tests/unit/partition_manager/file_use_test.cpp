// Whether a process uses files, of children whose system calls are known.
#include "partition_manager/daemon/file_use.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace poe::pm {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kApart{1000};
constexpr std::chrono::seconds kDeadline{30};

// A child that runs `body` until it is killed. It reads from `orders` and writes to nothing of this
// process.
struct Child {
    int orders[2] = {-1, -1};
    pid_t process = 0;

    explicit Child(const std::function<void(int)>& body) {
        REQUIRE(::pipe(orders) == 0);
        process = ::fork();
        if (process != 0) return;
        ::close(orders[1]);
        body(orders[0]);
        ::_exit(0);
    }
    ~Child() {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
        ::close(orders[0]);
        ::close(orders[1]);
    }
    // Waits until as many threads of the child sleep in this system call.
    bool waits_in(long call, int threads = 1) const {
        const auto deadline = Clock::now() + kDeadline;
        while (Clock::now() < deadline) {
            int found = 0;
            for (const auto& entry : std::filesystem::directory_iterator(
                     "/proc/" + std::to_string(process) + "/task")) {
                std::ifstream file(entry.path() / "syscall");
                std::string number;
                if (file >> number && number == std::to_string(call)) ++found;
            }
            if (found == threads) return true;
            std::this_thread::sleep_for(milliseconds(1));
        }
        return false;
    }
    void order() const { REQUIRE(::write(orders[1], "x", 1) == 1); }
};

void take_order(int orders) {
    char byte = 0;
    if (::read(orders, &byte, 1) != 1) ::_exit(1);
}

void wait_in_poll(int orders) {
    pollfd file{orders, POLLIN, 0};
    ::poll(&file, 1, -1);
}

}  // namespace

TEST_CASE("a process that waits for others rests, once it was seen twice") {
    const Child child([](int orders) {
        while (true) wait_in_poll(orders);
    });
    REQUIRE(child.waits_in(SYS_poll));
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(child.process, start, kApart));
    CHECK_FALSE(use.rests(child.process, start + kApart - milliseconds(1), kApart));
    CHECK(use.rests(child.process, start + kApart, kApart));
    CHECK(use.rests(child.process, start + 10 * kApart, kApart));
}

TEST_CASE("a process that is in a call that could be for a file does not rest") {
    const Child child([](int orders) { take_order(orders); });
    REQUIRE(child.waits_in(SYS_read));
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(child.process, start, kApart));
    CHECK_FALSE(use.rests(child.process, start + 2 * kApart, kApart));
}

TEST_CASE("a process that has read meanwhile does not rest, and is watched anew") {
    const Child child([](int orders) {
        while (true) {
            wait_in_poll(orders);
            take_order(orders);
        }
    });
    REQUIRE(child.waits_in(SYS_poll));
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(child.process, start, kApart));
    child.order();
    const auto deadline = Clock::now() + kDeadline;
    pollfd empty{child.orders[0], POLLIN, 0};
    while (::poll(&empty, 1, 0) != 0 && Clock::now() < deadline) std::this_thread::yield();
    REQUIRE(::poll(&empty, 1, 0) == 0);
    REQUIRE(child.waits_in(SYS_poll));
    CHECK_FALSE(use.rests(child.process, start + 2 * kApart, kApart));
    CHECK_FALSE(use.rests(child.process, start + 3 * kApart - milliseconds(1), kApart));
    CHECK(use.rests(child.process, start + 3 * kApart, kApart));
}

TEST_CASE("one thread that is in a file is enough") {
    const Child child([](int orders) {
        std::thread reader([orders] { take_order(orders); });
        while (true) wait_in_poll(-1);
    });
    REQUIRE(child.waits_in(SYS_read));
    REQUIRE(child.waits_in(SYS_poll));
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(child.process, start, kApart));
    CHECK_FALSE(use.rests(child.process, start + 2 * kApart, kApart));
}

TEST_CASE("several processes are watched apart") {
    const auto wait = [](int orders) {
        while (true) wait_in_poll(orders);
    };
    const Child first(wait);
    const Child second(wait);
    REQUIRE(first.waits_in(SYS_poll));
    REQUIRE(second.waits_in(SYS_poll));
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(first.process, start, kApart));
    CHECK_FALSE(use.rests(second.process, start + kApart, kApart));
    CHECK(use.rests(first.process, start + kApart, kApart));
    CHECK(use.rests(second.process, start + 2 * kApart, kApart));
}

TEST_CASE("nothing is known of a process that has ended") {
    pid_t process = 0;
    {
        const Child child([](int orders) { take_order(orders); });
        process = child.process;
    }
    FileUse use;
    const auto start = Clock::now();
    CHECK_FALSE(use.rests(process, start, kApart));
    CHECK_FALSE(use.rests(process, start + 2 * kApart, kApart));
}

}  // namespace poe::pm
