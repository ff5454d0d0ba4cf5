// Threads and processes that are made while the perf events of their maker are being opened: each
// is sampled once.
#include "partition_manager/sampling/perf_rings.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"

namespace poe::pm {
namespace {

// The events of the threads that sleep are opened before those of the one that makes others. That
// takes longer than to make a few threads.
constexpr int kSleeping = 60;
constexpr int kMostMade = 48;
constexpr int kRate = 250;
constexpr int kTurns = 10;  // periods of processor time that each thread that was made uses
constexpr std::chrono::microseconds kBetween{200};

// What the process and its observer share.
struct Shared {
    std::atomic<bool> ready{false};
    std::atomic<bool> observed{false};  // all events are open
    std::atomic<int> made{-1};          // -1: threads are still made
    std::atomic<int> ended{0};
    std::array<std::atomic<pid_t>, kMostMade> threads{};
};

std::int64_t own_processor_time() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void compute_when_observed(Shared& shared, int number) {
    shared.threads[static_cast<std::size_t>(number)] = ::gettid();
    while (!shared.observed) std::this_thread::sleep_for(kBetween);
    const std::int64_t begin = own_processor_time();
    while (own_processor_time() - begin < std::int64_t{kTurns} * 1'000'000'000 / kRate) {
    }
    ++shared.ended;
}

// Runs until it is killed.
[[noreturn]] void make_threads(Shared& shared) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kSleeping; ++i) threads.emplace_back([] { ::pause(); });
    threads.emplace_back([&shared] {
        std::vector<std::thread> made;
        shared.ready = true;
        for (int i = 0; i < kMostMade && !shared.observed; ++i) {
            made.emplace_back([&shared, i] { compute_when_observed(shared, i); });
            std::this_thread::sleep_for(kBetween);
        }
        shared.made = static_cast<int>(made.size());
        for (std::thread& each : made) each.join();
        ::pause();
    });
    for (;;) ::pause();
}

std::unique_ptr<PerfRings> rings_if_allowed() {
    try {
        return std::make_unique<PerfRings>(kRate);
    } catch (const Error& error) {
        WARN("not tested: " << error.what());
        return nullptr;
    }
}

// What a process that makes others shares with its observer.
struct Forking {
    std::atomic<int> begun{0};   // forks
    std::atomic<int> wanted{0};  // forks
    std::array<std::atomic<pid_t>, kMostMade> children{};
    std::array<std::atomic<bool>, kMostMade> ended{};
};

constexpr int kLongTurns =
    30;  // so that the events are open before the end, also on a busy computer
constexpr std::size_t kCopiedByFork = 128
                                      << 20;  // the kernel copies its page tables for about 1 ms

void compute_for(std::int64_t ns) {
    const std::int64_t begin = own_processor_time();
    while (own_processor_time() - begin < ns) {
    }
}

// Makes one child process for each increment of shared.wanted. Each child first computes. It then
// makes a child of its own, which also computes.
[[noreturn]] void fork_when_told(Forking& shared) {
    auto* const memory = static_cast<char*>(
        ::mmap(nullptr, kCopiedByFork, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) ::_exit(1);
    // Few large pages would be copied in no time.
    ::madvise(memory, kCopiedByFork, MADV_NOHUGEPAGE);
    std::memset(memory, 1, kCopiedByFork);
    for (int i = 0;; ++i) {
        while (shared.wanted == i) std::this_thread::sleep_for(kBetween);
        ++shared.begun;
        if (::fork() != 0) continue;
        const auto place = static_cast<std::size_t>(2 * i);
        shared.children[place] = ::getpid();
        compute_for(std::int64_t{kLongTurns} * 1'000'000'000 / kRate);
        const pid_t child = ::fork();
        if (child == 0) {
            shared.children[place + 1] = ::getpid();
            compute_for(std::int64_t{kLongTurns} * 1'000'000'000 / kRate);
            shared.ended[place + 1] = true;
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        shared.ended[place] = true;
        ::_exit(0);
    }
}

}  // namespace

TEST_CASE("threads that are made while events are opened are sampled once") {
    const auto rings = rings_if_allowed();
    if (!rings) return;
    void* const memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto& shared = *new (memory) Shared;
    const pid_t process = ::fork();
    if (process == 0) make_threads(shared);
    while (!shared.ready) std::this_thread::yield();
    CHECK(rings->add(3, process).empty());
    shared.observed = true;
    std::map<pid_t, int> samples;
    std::uint64_t lost = 0;
    const auto read = [&] {
        std::vector<PerfEvent> events;
        rings->read(events);
        for (const PerfEvent& event : events) {
            if (event.kind == PerfEvent::Kind::kLost) lost += event.lost;
            if (event.kind != PerfEvent::Kind::kSample) continue;
            CHECK(rings->task_of(event.event) == 3);
            ++samples[event.thread];
        }
    };
    while (shared.ended != shared.made) {
        rings->wait(-1, 5);
        read();
    }
    read();
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    // A thread may have a part of a period left on each processor. One that is sampled twice has 20
    // samples.
    for (int i = 0; i < shared.made; ++i) {
        INFO("thread " << i << ", lost " << lost);
        const int count = samples[shared.threads[static_cast<std::size_t>(i)]];
        CHECK(count < kTurns * 3 / 2);
        if (lost == 0) CHECK(count > kTurns / 3);
    }
    ::munmap(memory, sizeof(Shared));
}

TEST_CASE("a process that its maker is just forking when its events are opened is sampled once") {
    void* const memory =
        ::mmap(nullptr, sizeof(Forking), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    for (int round = 0; round < 8; ++round) {
        const auto rings = rings_if_allowed();
        if (!rings) break;
        std::vector<pid_t> added;
        rings->on_added = [&](TaskId, pid_t process) { added.push_back(process); };
        auto& shared = *new (memory) Forking;
        const pid_t process = ::fork();
        if (process == 0) fork_when_told(shared);
        shared.wanted = 1;
        while (shared.begun != 1) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200 * round));
        CHECK(rings->add(3, process).empty());
        CHECK((!added.empty() && added[0] == process));
        // This one inherits.
        shared.wanted = 2;
        std::map<pid_t, int> samples;
        std::map<pid_t, int> ends;
        const auto read = [&] {
            std::vector<PerfEvent> events;
            rings->read(events);
            for (const PerfEvent& event : events) {
                if (event.kind == PerfEvent::Kind::kSample) ++samples[event.process];
                if (event.kind == PerfEvent::Kind::kEnded) ++ends[event.process];
            }
        };
        while (!shared.ended[0] || !shared.ended[2]) {
            rings->wait(-1, 5);
            read();
        }
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
        read();
        for (std::size_t i = 0; i < 4; ++i) {
            INFO("round " << round << ", process " << i);
            CHECK(samples[shared.children[i]] > 0);
            CHECK(samples[shared.children[i]] < kLongTurns * 3 / 2);
            CHECK(ends[shared.children[i]] <= 1);
        }
    }
    ::munmap(memory, sizeof(Forking));
}

}  // namespace poe::pm
