// What a waiting task leaves for watchers: words survive the round, and no reader sees a torn list.
#include "base/segment/wait_notes.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "base/segment/segment_layout.hpp"
#include "comm/progress/wait.hpp"

using namespace poe;

TEST_CASE("names of calls") {
    CHECK(std::string(call_name(Call::kPartition)) == "mpc_partition");
    CHECK(std::string(call_name(Call::kWait)) == "mpc_wait");
    CHECK(std::string(call_name(static_cast<Call>(26))) == "?");
    CHECK(is_collective(Call::kSync));
    CHECK(is_collective(Call::kShift));
    CHECK_FALSE(is_collective(Call::kFlush));
    CHECK_FALSE(is_collective(static_cast<Call>(26)));
}

TEST_CASE("a call keeps the moment at which its waiting began") {
    TaskActivityWords words;
    words.set(Call::kBsendrecv, 1, 2, 3, nullptr);
    words.stamp(7);
    words.stamp(9);
    CHECK(words.read().since_ms == 7);
    CHECK(words.read().bytes == 3);
    words.set(Call::kBsendrecv, 1, 2, 3, nullptr);
    CHECK(words.read().since_ms == 0);
}

TEST_CASE("pulse and awaited words survive the round") {
    WaitPulse pulse;
    CHECK(pulse.read() == WaitMoments{});
    pulse.moved(0);
    CHECK(pulse.read().moved_ms != 0);
    pulse.moved(0xfffffffeu);
    pulse.looked(10);
    CHECK(pulse.read() == WaitMoments{0xffffffffu, 11});
    pulse.moved(40);
    CHECK(pulse.read() == WaitMoments{41, 0});
    AwaitedWords word;
    CHECK(word.read() == Awaited{});
    for (const Awaited& awaited : {Awaited{Awaited::Kind::kRoom, 123456, 2147483647, 0xfffffffeu},
                                   Awaited{Awaited::Kind::kMessage, Awaited::kAnybody, -1},
                                   Awaited{Awaited::Kind::kRest, 0, 0, 16},
                                   Awaited{Awaited::Kind::kAll, Awaited::kAnybody, -1}}) {
        word.set(awaited);
        CHECK(word.read() == awaited);
    }
    word.word.store(~0ull);
    CHECK(word.read().kind == Awaited::Kind::kUnknown);
    word.clear();
    CHECK(word.read() == Awaited{});
}

TEST_CASE("notes survive the round") {
    UnexpectedNotes notes;
    REQUIRE(notes.read());
    CHECK(notes.read()->count == 0);
    CHECK(notes.read()->all().empty());
    UnexpectedView view;
    view.count = 10000;
    view.noted = 3;
    view.notes = {{{0, 0, 0}, {5, 2147483647, 1ull << 40, 0xffffffffu}, {7, 8, 9}}};
    notes.write(view);
    const auto seen = notes.read();
    REQUIRE(seen);
    CHECK(seen->count == 10000);
    REQUIRE(seen->all().size() == 3);
    CHECK(seen->notes[1] == view.notes[1]);
    notes.write({});
    CHECK(notes.read()->all().empty());
    // A writer that was killed half-way.
    notes.sequence.store(notes.sequence.load() | 1u);
    CHECK_FALSE(notes.read());
}

TEST_CASE("a reader never sees two lists in one") {
    UnexpectedNotes notes;
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        // From kMost on: there are never more notes than messages.
        for (std::uint32_t i = UnexpectedView::kMost; !stop.load(std::memory_order_relaxed); ++i) {
            UnexpectedView view;
            view.count = i;
            view.noted = 1 + i % UnexpectedView::kMost;
            for (std::uint32_t k = 0; k < view.noted; ++k)
                view.notes[k] = {static_cast<TaskId>(i & 0xffffffu), static_cast<std::int32_t>(i),
                                 i, i};
            notes.write(view);
        }
    });
    // The writer may not run, or be stopped half-way, for a while.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    int whole = 0;
    bool torn = false;
    while (whole < 50'000 && !torn && std::chrono::steady_clock::now() < deadline) {
        const auto view = notes.read();
        if (!view || view->count == 0) continue;
        ++whole;
        for (const UnexpectedNote& note : view->all())
            torn = torn || note.length != view->count || note.context != view->count;
        torn = torn || view->noted != 1 + view->count % UnexpectedView::kMost;
    }
    stop.store(true);
    writer.join();
    CHECK_FALSE(torn);
    CHECK(whole == 50'000);
}

TEST_CASE("a wait that lasts asks for its note once, and looks are stamped after it") {
    using poe::comm::Waiter;
    SegmentHeader header{};
    SegmentFacts facts;
    facts.local_tasks = 1;
    facts.cpus = 1;
    TaskSlot slot{};
    const Fences fences(false);
    for (const WaitMode mode :
         {WaitMode::kAdaptive, WaitMode::kPoll, WaitMode::kYield, WaitMode::kSleep}) {
        Waiter waiter(header, facts, slot, mode, fences);
        for (int round = 0; round < 2; ++round) {
            slot.doing.set(Call::kBrecv, 1, 2, 3, nullptr);
            waiter.restart();
            CHECK_FALSE(waiter.note_due());
            while (!waiter.note_due()) waiter.pause();
            CHECK(slot.doing.read().since_ms != 0);
            CHECK(slot.pulse.read().moved_ms != 0);
            CHECK(slot.pulse.read().looked_ms == 0);
            CHECK(slot.awaited.read() == Awaited{});
            const Awaited awaited{Awaited::Kind::kMessage, 1, 2};
            waiter.note(awaited, {});
            CHECK_FALSE(waiter.note_due());
            while (slot.pulse.read().looked_ms == 0) {
                if (!waiter.pause()) continue;
                waiter.begin_sleep();
                slot.doorbell.fetch_add(1);  // so that the sleep ends at once
                waiter.sleep();
            }
            CHECK(slot.awaited.read() == awaited);
            CHECK_FALSE(waiter.note_due());
        }
    }
}
