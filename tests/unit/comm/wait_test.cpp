// Sleeping and waking: no wake-up is lost, and the end of the job is noticed.
#include "comm/progress/wait.hpp"

#include <fstream>
#include <iterator>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/await.hpp"

using namespace poe::comm;

namespace {

struct Rig {
    explicit Rig(bool asymmetric) : fences(asymmetric && poe::membarrier_available()) {}
    poe::SegmentHeader header{};
    poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    poe::Fences fences;
};

// One thread publishes numbers one by one and waits for each to be seen; the other sleeps for them.
// If a wake-up is lost, the sleep lasts for its whole time limit, although the number is there.
void exchange(bool asymmetric) {
    Rig rig(asymmetric);
    constexpr std::uint32_t kNumbers = 3000;
    std::atomic<std::uint32_t> published{0};
    std::atomic<std::uint32_t> seen{0};
    std::uint32_t lost = 0;
    std::thread sleeper([&] {
        Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kSleep, rig.fences);
        for (std::uint32_t wanted = 1; wanted <= kNumbers; ++wanted) {
            waiter.restart();
            while (published.load(std::memory_order_acquire) != wanted) {
                if (!waiter.pause()) continue;
                const std::uint32_t rung = rig.slot.doorbell.load();
                waiter.begin_sleep();
                if (published.load(std::memory_order_acquire) == wanted) {
                    waiter.end_sleep();
                    continue;
                }
                waiter.sleep();
                if (rig.slot.doorbell.load() == rung && published.load() == wanted) ++lost;
            }
            seen.store(wanted, std::memory_order_release);
        }
    });
    for (std::uint32_t number = 1; number <= kNumbers; ++number) {
        published.store(number, std::memory_order_release);
        rig.fences.light();
        REQUIRE_FALSE(wake_if_asleep(rig.slot));
        poe::test::await([&] { return seen.load(std::memory_order_acquire) == number; },
                         "the other side has seen the number");
    }
    sleeper.join();
    // The time limit may also pass just before the other thread, which has published, gets the
    // processor again and wakes this one.
    CHECK(lost < kNumbers / 50);
    CHECK(rig.slot.sleeping.load() == poe::kAwake);
}

}  // namespace

TEST_CASE("no wake-up is lost with ordinary fences") {
    exchange(false);
}
TEST_CASE("no wake-up is lost with asymmetric fences") {
    exchange(true);
}

TEST_CASE("each way to wait does what its name says") {
    Rig rig(false);
    rig.facts.cpus = 1;
    rig.facts.local_tasks = 2;
    const auto sleeps = [&](poe::WaitMode mode, std::uint32_t tasks, int turns) {
        rig.facts.local_tasks = tasks;
        Waiter waiter(rig.header, rig.facts, rig.slot, mode, rig.fences);
        waiter.restart();
        for (int i = 0; i < turns; ++i) {
            if (waiter.pause()) return true;
        }
        return false;
    };
    CHECK(sleeps(poe::WaitMode::kSleep, 2, 1));
    CHECK_FALSE(sleeps(poe::WaitMode::kPoll, 1, 200'000));
    CHECK_FALSE(sleeps(poe::WaitMode::kYield, 2, 20'000));
    CHECK_FALSE(sleeps(poe::WaitMode::kAdaptive, 2, 1));
    CHECK(sleeps(poe::WaitMode::kAdaptive, 2, 100'000'000));
    CHECK(sleeps(poe::WaitMode::kAdaptive, 1, 100'000'000));
    CHECK(rig.slot.doing.read().since_ms > 0);
}

namespace {

// Processes that compute, and this one, on one core.
class Hogs {
  public:
    explicit Hogs(int many) {
        ::sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(::sched_getcpu(), &one);
        REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
        for (int i = 0; i < many; ++i) {
            const pid_t hog = ::fork();
            if (hog == 0) {
                ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (volatile unsigned turns = 0;;) turns = turns + 1;
            }
            pids_.push_back(hog);
        }
    }
    ~Hogs() {
        for (const pid_t hog : pids_) {
            ::kill(hog, SIGKILL);
            ::waitpid(hog, nullptr, 0);
        }
        ::sched_setaffinity(0, sizeof before_, &before_);
    }
    Hogs(const Hogs&) = delete;
    Hogs& operator=(const Hogs&) = delete;

  private:
    cpu_set_t before_;
    std::vector<pid_t> pids_;
};

}  // namespace

TEST_CASE("where somebody computes on its core, a task that anything wakes sleeps at once") {
    class Place final : public SleepPlace {
        void sleep(std::chrono::nanoseconds) noexcept override {}
        int prepare_sleep(std::chrono::nanoseconds&) noexcept override { return -1; }
    };
    Rig rig(false);
    rig.facts.cpus = 1;
    rig.facts.local_tasks = 2;
    Place place;
    const auto waiter_that_anything_wakes = [&](bool anything) {
        Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kAdaptive, rig.fences);
        waiter.sleep_in(place, anything);
        return waiter;
    };
    const auto sleeps_at_once = [](Waiter& waiter) {
        waiter.restart();
        return waiter.pause();
    };
    Waiter waiter = waiter_that_anything_wakes(true);
    CHECK_FALSE(sleeps_at_once(waiter));
    const Hogs hogs(4);
    // Their slices are as long as the system likes: the test takes until they are long enough.
    while (!sleeps_at_once(waiter)) {
    }
    CHECK(sleeps_at_once(waiter));
    // If its waits are long, it naps first.
    constexpr int kLongWaits = 30;  // fewer than those of a ban
    for (int i = 0; i < kLongWaits; ++i) {
        waiter.begin_wait();
        waiter.pause();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        waiter.end_wait();
    }
    waiter.begin_wait();
    for (int i = 0; i < Naps::kParts; ++i) {
        const auto before = std::chrono::steady_clock::now();
        CHECK_FALSE(waiter.pause());
        CHECK(std::chrono::steady_clock::now() - before >= Naps::kLongest);
    }
    CHECK(waiter.pause());
    waiter.restart();  // progress
    CHECK_FALSE(waiter.pause());
    waiter.end_wait();
    Waiter other = waiter_that_anything_wakes(false);
    for (int i = 0; i < 20; ++i) CHECK_FALSE(sleeps_at_once(other));
    // Who is told to yield goes on, and gets to say since when it waits.
    Rig yielding(false);
    Waiter told(yielding.header, yielding.facts, yielding.slot, poe::WaitMode::kYield,
                yielding.fences);
    told.sleep_in(place, true);
    told.restart();
    for (int i = 0; i < 20; ++i) CHECK_FALSE(told.pause());
    CHECK(yielding.slot.doing.read().since_ms > 0);
}

// 'S' while the process sleeps, 'Z' when it has exited.
static char state_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(stat)), {});
    const auto name_end = text.rfind(')');
    return name_end == std::string::npos ? '?' : text.at(name_end + 2);
}

TEST_CASE("a waiting task stays quiet once the job is being ended") {
    Rig rig(false);
    rig.header.ending.store(1);
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kSleep, rig.fences);
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        waiter.pause();
        ::_exit(0);  // must not get here: pause does not return any more
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    poe::test::await([&] { return state_of(child) != 'R'; }, "the child sleeps");
    CHECK(state_of(child) == 'S');
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("a task that finds its core shared yields at once, for a while") {
    Rig rig(false);
    rig.facts.cpus = 4;
    rig.facts.local_tasks = 2;
    Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kAdaptive, rig.fences);
    const unsigned alone = waiter.looks();
    CHECK(alone > 1);
    // Waits that end with the first yield after spinning, as when the sender needs this core.
    for (int wait = 0; wait < 3; ++wait) {
        CHECK(waiter.looks() == alone);
        while (!waiter.impatient()) waiter.pause();
        waiter.restart();
    }
    CHECK(waiter.looks() == 1);
    int yielding = 0;
    while (waiter.looks() == 1) {
        waiter.pause();
        waiter.restart();
        REQUIRE(++yielding < 100'000);
    }
    CHECK(yielding > 100);
    // One more such wait is enough now; one that lasts longer says that nobody needed the core.
    while (!waiter.impatient()) waiter.pause();
    waiter.restart();
    CHECK(waiter.looks() == 1);
}

TEST_CASE("waits that last do not make a task yield") {
    Rig rig(false);
    rig.facts.cpus = 4;
    rig.facts.local_tasks = 2;
    Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kAdaptive, rig.fences);
    for (int wait = 0; wait < 20; ++wait) {
        while (!waiter.impatient()) waiter.pause();
        for (int i = 0; i < 20; ++i) waiter.pause();
        waiter.restart();
        CHECK(waiter.looks() > 1);
    }
}

TEST_CASE("a wait shows the name of its own communicator, and none until it tells one") {
    Rig rig(false);
    Waiter waiter(rig.header, rig.facts, rig.slot, poe::WaitMode::kSleep, rig.fences);
    waiter.name_contexts([](std::uint32_t) { return std::string_view("MPI_COMM_WORLD"); });
    waiter.restart();
    waiter.pause();
    waiter.note({}, {});
    CHECK(rig.slot.context_name.read() == "MPI_COMM_WORLD");
    waiter.restart();
    waiter.pause();
    CHECK(rig.slot.context_name.read().empty());
    waiter.note({}, {});
    CHECK(rig.slot.context_name.read() == "MPI_COMM_WORLD");
}
