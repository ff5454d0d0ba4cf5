// Waits of several threads: whatever meets a condition (a message, a store of another task, a call
// of another thread), the waiting thread goes on. No sleep in this test has a time limit, so that a
// lost wake-up is a hang, which await() reports.
#include "comm/progress/thread_waits.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/await.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kSeeds = 150;
constexpr std::size_t kMost = 5;  // threads that wait
constexpr auto kForever = 24h;

enum Kind : std::uint32_t { kNone = 0, kMessage, kStore, kCall, kKinds };

// A task of several threads, another task that sends and stores, and a thread that never waits.
struct World final : PolledWork {
    explicit World(bool with_doorbell)
        : fences(membarrier_available()),
          sleeper(slot, fences, nullptr, kForever),
          progress_sleeper(slot, fences, nullptr, kForever),
          alone(!with_doorbell) {}

    // --- Under the turn, so not atomic: the thread sanitizer checks the exclusion.
    std::array<std::uint32_t, kMost> taken{};  // messages
    std::array<std::uint32_t, kMost> given{};  // by calls of other threads
    int inside = 0;

    bool progress() override {
        bool moved = false;
        for (std::size_t t = 0; t < kMost; ++t) {
            const std::uint32_t now = sent[t].load(std::memory_order_acquire);
            moved = moved || now != taken[t];
            taken[t] = now;
        }
        return moved;
    }
    void help() override {}
    bool take_in_offers() override { return false; }
    bool needs_polling() const noexcept override { return false; }
    UnexpectedView unexpected(const Awaited&) const noexcept override { return {}; }

    // --- Between tasks and threads.
    std::array<std::atomic<std::uint32_t>, kMost> sent{};
    std::array<std::atomic<std::uint32_t>, kMost> stored{};
    std::array<std::atomic<std::uint32_t>, kMost> wanted{};  // Kind; kNone: nothing
    std::atomic<unsigned> ended{0};
    std::atomic<bool> stop{false};
    TaskSlot slot{};
    Fences fences;
    ProgressSleeper sleeper;
    ProgressSleeper progress_sleeper;
    const bool alone;
    RuntimeLock turn;

    void wake_task() {
        fences.light();
        static_cast<void>(wake_if_asleep(slot));
    }
};

struct Wanted final : WaitCondition {
    Wanted(World& its_world, std::size_t thread, Kind its_kind, std::uint32_t its_number)
        : world(its_world), t(thread), kind(its_kind), number(its_number) {}
    bool over() override {
        switch (kind) {
            case kMessage:
                return world.taken[t] >= number;
            case kStore:
                return world.stored[t].load(std::memory_order_acquire) >= number;
            default:
                return world.given[t] >= number;
        }
    }
    void sweep() override {}
    Awaited awaited() const override {
        return {Awaited::Kind::kMessage, static_cast<TaskId>(t), 7};
    }
    World& world;
    const std::size_t t;
    const Kind kind;
    const std::uint32_t number;
};

void wait_often(World& world, ThreadWaits& waits, std::size_t t, unsigned seed, int rounds) {
    std::mt19937 random(seed * 64 + static_cast<unsigned>(t));
    std::array<std::uint32_t, kKinds> numbers{};
    for (int round = 0; round < rounds; ++round) {
        const auto kind = world.alone ? kCall : static_cast<Kind>(1 + random() % (kKinds - 1));
        // The condition may be met before the wait begins.
        const bool early = random() % 2 == 0;
        if (early) world.wanted[t].store(kind);
        if (random() % 4 == 0) std::this_thread::yield();
        if (world.turn.enter() != RuntimeLock::Entry::kEntered) std::abort();
        if (++world.inside != 1) std::abort();
        Wanted condition(world, t, kind, ++numbers[kind]);
        if (!early) world.wanted[t].store(kind);
        --world.inside;
        waits.wait(condition);
        if (!condition.over() || ++world.inside != 1) std::abort();
        // Calls of the owner are nested.
        if (world.turn.enter() != RuntimeLock::Entry::kNested) std::abort();
        --world.inside;
        world.turn.leave();
    }
    ++world.ended;
}

void send_and_store(World& world, unsigned seed) {
    std::mt19937 random(seed + 5000);
    while (!world.stop) {
        const std::size_t t = random() % kMost;
        std::uint32_t kind = world.wanted[t].load();
        if ((kind == kMessage || kind == kStore) &&
            world.wanted[t].compare_exchange_strong(kind, kNone)) {
            (kind == kMessage ? world.sent : world.stored)[t].fetch_add(1,
                                                                        std::memory_order_release);
            world.wake_task();
        } else {
            std::this_thread::yield();
        }
    }
}

void call(World& world, unsigned seed) {
    std::mt19937 random(seed + 6000);
    while (!world.stop) {
        const std::size_t t = random() % kMost;
        std::uint32_t kind = world.wanted[t].load();
        if (kind == kCall && world.wanted[t].compare_exchange_strong(kind, kNone)) {
            if (world.turn.enter() != RuntimeLock::Entry::kEntered) std::abort();
            if (++world.inside != 1) std::abort();
            ++world.given[t];
            --world.inside;
            world.turn.leave();
        } else {
            std::this_thread::yield();
        }
    }
}

// The progress thread polls while no thread calls, and sleeps until a message comes.
void progress(World& world) {
    while (!world.stop) {
        world.turn.watch();
        std::this_thread::yield();
        const RuntimeLock::Claim claim = world.turn.claim();
        if (claim == RuntimeLock::Claim::kTaskInside) world.turn.park(kForever);
        if (claim != RuntimeLock::Claim::kGranted) continue;
        bool again = true;
        while (again && !world.stop) {
            if (++world.inside != 1) std::abort();
            world.progress();
            world.progress_sleeper.announce();
            const bool moved = world.progress();
            --world.inside;
            if (!moved) {
                world.progress_sleeper.prepare();
                again = world.turn.rest([&] { world.progress_sleeper.sleep(); });
            }
            if (again) world.progress_sleeper.withdraw();
        }
        if (again) world.turn.release();
    }
}

void run(unsigned seed, bool with_doorbell, bool with_progress_thread) {
    World world(with_doorbell);
    std::mt19937 random(seed);
    ThreadWaits::Settings settings;
    settings.mode = random() % 2 == 0 ? WaitMode::kSleep : WaitMode::kAdaptive;
    settings.cores = 1 + random() % 4;
    settings.longest = kForever;
    ThreadWaits waits(world.turn, world, with_doorbell ? &world.sleeper : nullptr, nullptr,
                      settings);
    world.turn.prepare([&] { world.progress_sleeper.end_sleep(); });
    REQUIRE(world.turn.enter() == RuntimeLock::Entry::kEntered);
    world.turn.share(waits);
    world.turn.leave();

    const std::size_t count = 1 + random() % kMost;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < count; ++t)
        threads.emplace_back([&, t] { wait_often(world, waits, t, seed, 60); });
    std::thread other_task([&] { send_and_store(world, seed); });
    std::thread caller([&] { call(world, seed); });
    std::thread progress_thread([&] {
        if (with_progress_thread) progress(world);
    });
    test::await([&] { return world.ended == count; }, "all waits are over");
    world.stop = true;
    for (std::thread& thread : threads) thread.join();
    other_task.join();
    caller.join();
    // The next call ends the sleep of the progress thread.
    static_cast<void>(world.turn.enter());
    world.turn.leave();
    world.turn.unpark();
    progress_thread.join();
    REQUIRE_FALSE(waits.any_waits());
}

TEST_CASE("no wait of several threads lasts longer than its reason, over random schedules") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) run(seed, true, false);
}

TEST_CASE("the same beside a progress thread") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) run(seed, true, true);
}

TEST_CASE("in a job of one task only calls of other threads end waits") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) run(seed, false, false);
}

TEST_CASE("watchers see the call of a thread that waits, and nothing afterwards") {
    World world(true);
    TaskActivityWords shown;
    ThreadWaits::Settings settings;
    settings.mode = WaitMode::kSleep;
    settings.shown = &shown;
    ThreadWaits waits(world.turn, world, &world.sleeper, nullptr, settings);
    static_cast<void>(world.turn.enter());
    world.turn.share(waits);
    world.turn.leave();
    std::thread waiting([&] {
        static_cast<void>(world.turn.enter());
        this_threads_activity().set(Call::kBrecv, 3, 4, 5, nullptr);
        Wanted condition(world, 0, kMessage, 1);
        waits.wait(condition);
        this_threads_activity().clear();
        world.turn.leave();
    });
    test::await([&] { return shown.read().call == Call::kBrecv; }, "the call is shown");
    REQUIRE(shown.read().peer == 3);
    world.sent[0].store(1, std::memory_order_release);
    world.wake_task();
    waiting.join();
    REQUIRE(shown.read().call == Call::kNone);
}

TEST_CASE("watchers learn what all threads wait for, and that something has changed since") {
    World world(true);
    SegmentHeader header{};
    SegmentFacts facts;
    facts.local_tasks = 1;
    facts.cpus = 1;
    Waiter waiter(header, facts, world.slot, WaitMode::kSleep, world.fences);
    ThreadWaits::Settings settings;
    settings.mode = WaitMode::kSleep;
    settings.longest = 1ms;  // so that they look again
    settings.shown = &world.slot.doing;
    ProgressSleeper sleeper(world.slot, world.fences, nullptr, 1ms);
    ThreadWaits waits(world.turn, world, &sleeper, &waiter, settings);
    const auto with_turn = [&](auto work) {
        static_cast<void>(world.turn.enter());
        work();
        world.turn.leave();
    };
    with_turn([&] { world.turn.share(waits); });
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
            with_turn([&] {
                this_threads_activity().set(Call::kBrecv, static_cast<TaskId>(t), 7, 8, nullptr);
                Wanted condition(world, t, kMessage, 1);
                waits.wait(condition);
                this_threads_activity().clear();
            });
        });
    ThreadWaitsTable table;
    const auto read_table = [&] {
        world.turn.take_again();
        table = waits.table();
        world.turn.give_up();
    };
    const auto noted = [&](std::uint32_t count) {
        read_table();
        return table.noted == table.changes && table.count == count;
    };
    test::await([&] { return noted(2); }, "both threads are noted");
    for (const WaitingThread& thread : std::span(table.threads).first(2)) {
        REQUIRE(thread.call == static_cast<std::uint32_t>(Call::kBrecv));
        REQUIRE(thread.peer == thread.awaited_peer);
        REQUIRE(thread.awaited_kind == static_cast<std::uint32_t>(Awaited::Kind::kMessage));
        REQUIRE(thread.awaited_type == 7);
    }
    REQUIRE(table.threads[0].thread != table.threads[1].thread);
    REQUIRE(table.threads[0].peer + table.threads[1].peer == 1);
    test::await([&] { return world.slot.pulse.read().looked_ms != 0; }, "they have looked again");
    // A call of another thread.
    const std::uint64_t before = table.changes;
    with_turn([] {});
    read_table();
    REQUIRE(table.changes > before);
    // A message for one of them: the other one is left.
    world.sent[0].store(1, std::memory_order_release);
    world.wake_task();
    test::await([&] { return noted(1); }, "one thread is left");
    REQUIRE(table.threads[0].peer == 1);
    world.sent[1].store(1, std::memory_order_release);
    world.wake_task();
    for (std::thread& thread : threads) thread.join();
    REQUIRE(waits.table().noted != waits.table().changes);
}

}  // namespace
}  // namespace poe::comm
