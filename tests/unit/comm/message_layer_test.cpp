// Matching and protocols: two message layers in one process, joined by a device made of plain
// memory, moved on by hand.
#include "comm/matching/message_layer.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include <catch2/catch.hpp>

#include "tests/unit/comm/message_layers.hpp"

using namespace message_layers;

TEST_CASE("a message finds its receive, whichever comes first") {
    Pair pair;
    Received early(pair.one, 0, 5);
    Sent first(pair.zero, 1, 5, "first");
    Sent second(pair.zero, 1, 5, "second");
    CHECK(first.done());
    pair.both();
    CHECK(early.done());
    CHECK(early.text() == "first");
    CHECK(pair.one.unexpected_messages() == 1);
    Received late(pair.one, 0, 5);
    CHECK(late.done());
    CHECK(late.text() == "second");
    CHECK(late.request.source == 0);
    CHECK(late.request.type == 5);
}

TEST_CASE("wildcards take the oldest message, and the oldest receive takes a message") {
    Pair pair;
    Sent a(pair.zero, 1, 1, "a");
    Sent b(pair.zero, 1, 2, "b");
    Sent c(pair.zero, 1, 1, "c");
    pair.both();
    Received by_type(pair.one, kWildcard, 2);
    Received any(pair.one, kWildcard, kWildcard);
    Received by_source(pair.one, 0, kWildcard);
    CHECK(by_type.text() == "b");
    CHECK(any.text() == "a");
    CHECK(by_source.text() == "c");

    Received posted_any(pair.one, kWildcard, kWildcard);
    Received posted_exact(pair.one, 0, 7);
    Received posted_type(pair.one, kWildcard, 7);
    Sent d(pair.zero, 1, 7, "d");
    Sent e(pair.zero, 1, 7, "e");
    Sent f(pair.zero, 1, 7, "f");
    pair.both();
    CHECK(posted_any.text() == "d");
    CHECK(posted_exact.text() == "e");
    CHECK(posted_type.text() == "f");
}

TEST_CASE("contexts never match each other") {
    Pair pair;
    Received any(pair.one, kWildcard, kWildcard);
    Sent inner(pair.zero, 1, 0, "inner", poe::kCclContext);
    pair.both();
    CHECK_FALSE(any.done());
    Received collective(pair.one, kWildcard, kWildcard, 100, poe::kCclContext);
    CHECK(collective.text() == "inner");
    Sent outer(pair.zero, 1, 0, "outer");
    pair.both();
    CHECK(any.text() == "outer");
}

TEST_CASE("a blocking receive passes over what it did not ask for") {
    Pair pair;
    Sent inner(pair.zero, 1, 0, "inner", poe::kCclContext);
    Sent other(pair.zero, 1, 4, "other");
    Sent outer(pair.zero, 1, 3, "outer");
    Sent last(pair.zero, 1, 4, "last");
    std::string bytes(100, '?');
    const BufferView view(bytes.data(), bytes.size());
    const ReceiveRequest& third = pair.one.receive(view, {poe::kMplContext, kWildcard, 3});
    REQUIRE(third.outcome == Outcome::kDone);
    CHECK(bytes.substr(0, third.expected) == "outer");
    CHECK(third.source == 0);
    const ReceiveRequest& any = pair.one.receive(view, {poe::kMplContext, kWildcard, kWildcard});
    REQUIRE(any.outcome == Outcome::kDone);
    CHECK(bytes.substr(0, any.expected) == "other");
    const ReceiveRequest& again = pair.one.receive(view, {poe::kMplContext, kWildcard, kWildcard});
    REQUIRE(again.outcome == Outcome::kDone);
    CHECK(bytes.substr(0, again.expected) == "last");
    Received collective(pair.one, 0, kWildcard, 100, poe::kCclContext);
    CHECK(collective.text() == "inner");
}

TEST_CASE("a blocking receive with nothing before it takes no collective message") {
    Pair pair;
    Sent inner(pair.zero, 1, 0, "inner", poe::kCclContext);
    Sent outer(pair.zero, 1, 0, "outer");
    std::string bytes(100, '?');
    const ReceiveRequest& request = pair.one.receive(BufferView(bytes.data(), bytes.size()),
                                                     {poe::kMplContext, kWildcard, kWildcard});
    REQUIRE(request.outcome == Outcome::kDone);
    CHECK(bytes.substr(0, request.expected) == "outer");
}

TEST_CASE("a long message waits for its receive and is then moved whole") {
    Pair pair;
    Sent large(pair.zero, 1, 3, std::string(100'000, 'L'));
    Sent small(pair.zero, 1, 4, "small");
    pair.both();
    CHECK_FALSE(large.done());
    CHECK(small.done());
    Received second(pair.one, 0, 4);
    CHECK(second.text() == "small");
    Received first(pair.one, 0, 3, 200'000);
    pair.both();
    CHECK(first.done());
    CHECK(large.done());
    CHECK(first.text() == large.text);
}

TEST_CASE("a message longer than the buffer is cut") {
    Pair pair;
    for (const std::size_t size : {10u, 3000u, 50'000u}) {
        for (const std::size_t room : {0u, 1u, 9u}) {
            Sent sent(pair.zero, 1, 1, std::string(size, 's'));
            Received received(pair.one, 0, 1, room);
            pair.both();
            CHECK(sent.done());
            CHECK(received.done());
            CHECK(received.request.length == size);
            CHECK(received.request.expected == room);
            CHECK(received.text() == std::string(room, 's'));
        }
    }
}

TEST_CASE("a sender without tokens waits, and frames that need none overtake") {
    Pair pair;
    std::vector<std::unique_ptr<Sent>> sent;
    std::size_t done = 0;
    for (int i = 0; i < 20; ++i) {
        sent.push_back(std::make_unique<Sent>(pair.zero, 1, i, std::string(8000, 'a')));
        pair.both();
        if (sent.back()->done()) ++done;
    }
    CHECK(done == kBuffer / (8000 + kMessageCost));
    // Task 1 sends a long message the other way; its grant must get past the waiting ones.
    Received other_way(pair.zero, 1, 1, 100'000);
    Sent large(pair.one, 0, 1, std::string(90'000, 'b'));
    pair.both();
    CHECK(other_way.done());
    for (int i = 0; i < 20; ++i) {
        Received received(pair.one, 0, i, 10'000);
        pair.both();
        CHECK(received.done());
    }
    for (const auto& one : sent) CHECK(one->done());
    CHECK(pair.one.unexpected_messages() == 0);
}

TEST_CASE("messages that nobody receives hold up no other context") {
    Pair pair;
    const std::string block(kEager, 'x');
    const auto fill = [&](std::deque<Sent>& sent, int type, poe::ContextId context) {
        while (sent.empty() || sent.back().done()) {
            sent.emplace_back(pair.zero, 1, type, block, context);
            pair.both();
        }
    };
    std::deque<Sent> users;
    fill(users, 5, poe::kMplContext);
    // Short, announced, and more of them than the memory of one context holds.
    for (std::size_t moved = 0; moved < 2 * kBuffer; moved += kEager) {
        Sent eager(pair.zero, 1, 7, block, poe::kCclContext);
        Sent announced(pair.zero, 1, 8, block + block, poe::kCclContext);
        pair.both();
        Received first(pair.one, 0, 7, kEager, poe::kCclContext);
        Received second(pair.one, 0, 8, 2 * kEager, poe::kCclContext);
        pair.both();
        REQUIRE(first.done());
        REQUIRE(second.done());
        REQUIRE(announced.done());
    }
    // And the other way round.
    std::deque<Sent> collective;
    fill(collective, 7, poe::kCclContext);
    for (const Sent& sent : users) {
        Received received(pair.one, 0, 5, kEager);
        pair.both();
        REQUIRE(received.done());
        REQUIRE(received.text() == sent.text);
    }
    CHECK(users.back().done());
    CHECK_FALSE(collective.back().done());
    while (!collective.back().done()) {
        Received received(pair.one, 0, 7, kEager, poe::kCclContext);
        pair.both();
        REQUIRE(received.done());
    }
}

TEST_CASE("messages to oneself are kept up to the buffer memory") {
    Pair pair;
    Sent kept(pair.zero, 0, 1, "mine");
    CHECK(kept.done());
    Sent too_large(pair.zero, 0, 1, std::string(kBuffer, 'x'));
    CHECK(too_large.request.outcome == Outcome::kPending);
    Received got(pair.zero, kWildcard, kWildcard);
    CHECK(got.text() == "mine");
    // One that does not fit is received out of the sender's buffer.
    Received large(pair.zero, kWildcard, kWildcard, kBuffer);
    CHECK(large.text() == too_large.text);
    CHECK(too_large.done());
    // Waiting for it without a receive would never end.
    Sent lost(pair.zero, 0, 1, std::string(kBuffer, 'x'));
    CHECK(pair.zero.wait(lost.request) == Outcome::kNoBuffer);
    CHECK(pair.zero.unexpected_messages() == 0);
    Received before(pair.zero, 0, 2);
    Sent direct(pair.zero, 0, 2, "direct");
    CHECK(before.text() == "direct");
}

TEST_CASE("between two pieces of long messages all pipes are polled") {
    constexpr Bytes kLong = 5 * kBytesPerVisit + 1000;
    Wire forth[2], back[2];
    FetchingDevice device;
    poe::SegmentHeader header{};
    poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    poe::Fences fences(false);
    Waiter waiter(header, facts, slot, poe::WaitMode::kYield, fences);
    std::vector<std::unique_ptr<TestDevice>> ends;
    std::vector<std::unique_ptr<MessageLayer>> senders;
    for (TaskId i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(i);
        device.pipes.push_back(
            std::make_unique<FetchablePipe>(i + 1, back[at], forth[at], device.log));
        ends.push_back(std::make_unique<TestDevice>(0, forth[at], back[at]));
        TestDevice& end = *ends.back();
        senders.push_back(std::make_unique<MessageLayer>(
            MessageLayerSettings{i + 1, 3, kEager, kBuffer}, std::vector<Device*>{&end},
            [&end](TaskId) -> Device& { return end; }, &waiter));
    }
    MessageLayer zero(
        {0, 3, kEager, kBuffer}, {&device}, [&](TaskId) -> Device& { return device; }, &waiter);
    const bool forbidden = GENERATE(false, true);
    device.pipes[1]->fails = forbidden;
    std::string text(kLong, 'a');
    for (std::size_t i = 0; i < kLong; i += 997) text[i] = static_cast<char>('b' + i % 20);
    Sent first(*senders[0], 0, 1, text);
    Sent second(*senders[1], 0, 1, text);
    Received one(zero, 1, 1, kLong);
    Received two(zero, 2, 1, kLong);
    bool moved = true;
    while (moved) {
        moved = zero.progress();
        for (auto& sender : senders) moved = sender->progress() || moved;
    }
    CHECK(one.text() == text);
    CHECK(two.text() == text);
    CHECK(first.done());
    CHECK(second.done());
    CHECK(device.log.find('!') == std::string::npos);
    // Each of the two offers may be followed up at once; after that there is a poll each time.
    const std::size_t begun = device.log.find('F');
    REQUIRE(begun != std::string::npos);
    CHECK(device.log.find("FF", begun + 2) == std::string::npos);
    // A stream is read in pieces of that length, too, and others are polled between them.
    if (forbidden) CHECK(std::count(device.log.begin(), device.log.end(), 'P') > 6);
}

TEST_CASE("a message that arrives when a wait is about to sleep is shown to watchers") {
    // Delivers what `arrives` sends only when the waiting task has announced its sleep.
    struct LateDevice final : Device {
        Pipe& pipe_to(TaskId) override { return device.pipe; }
        bool poll(PipeSink& sink) override {
            ++polls;
            const bool announced = slot.sleeping.load() != poe::kAwake;
            if (!sent && announced && slot.unexpected.read().has_value() && polls > 100) {
                sent = true;
                arrives();
            }
            if (sent && (polls > 3000 || slot.unexpected.read()->count == 1)) end();
            return device.poll(sink);
        }
        LateDevice(TestDevice& below, poe::TaskSlot& of) : device(below), slot(of) {}
        TestDevice& device;
        poe::TaskSlot& slot;
        std::function<void()> arrives, end;
        int polls = 0;
        bool sent = false;
    };
    Pair pair;
    Waiter waiter(pair.header, pair.facts, pair.slot, poe::WaitMode::kSleep, pair.fences);
    LateDevice device(pair.one_device, pair.slot);
    MessageLayer one(
        {1, 2, kEager, kBuffer}, {&device}, [&](TaskId) -> Device& { return device; }, &waiter);
    std::string text("wrong type");
    int ended = 0;
    device.arrives = [&] { pair.zero.send({text.data(), text.size()}, 1, 7); };
    device.end = [&] {
        if (ended++ == 0) pair.zero.send({text.data(), text.size()}, 1, 9);
    };
    std::string room(20, ' ');
    const ReceiveRequest& received =
        one.receive({room.data(), room.size()}, {poe::kMplContext, 0, 9});
    CHECK(received.outcome == Outcome::kDone);
    CHECK(device.polls <= 3000);
    REQUIRE(pair.slot.unexpected.read().has_value());
    CHECK(pair.slot.unexpected.read()->count == 1);
    CHECK(pair.slot.unexpected.read()->notes[0].type == 7);
}

TEST_CASE("frames that MPL never sends break the pipe and nothing else") {
    Pair pair;
    std::string text(5000, 't');
    const BufferView view(text.data(), text.size());
    FrameHeader header{8, 1, poe::kMplContext, FrameKind::kEager, FlowClass::kUser};
    SECTION("unknown kind") {
        header.kind = static_cast<FrameKind>(77);
    }
    SECTION("unknown context") {
        header.flow = static_cast<FlowClass>(9);
    }
    SECTION("negative type") {
        header.tag = -5;
    }
    SECTION("eager beyond the limit") {
        header.length = kEager + 1;
    }
    SECTION("data for nobody") {
        header.kind = FrameKind::kData;
    }
    SECTION("data for a stale number") {
        header.kind = FrameKind::kData;
        header.tag = 1 << 20;
    }
    SECTION("grant of the wrong size") {
        header.kind = FrameKind::kGrant;
    }
    SECTION("grant for nobody") {
        header.kind = FrameKind::kGrant;
        header.length = sizeof(GrantBody);
    }
    SECTION("cancellation of the wrong size") {
        header.kind = FrameKind::kCancel;
    }
    SECTION("answer to a cancellation that was not requested") {
        header.kind = FrameKind::kCancelled;
        header.length = sizeof(CancelBody);
    }
    SECTION("request of the wrong size") {
        header.kind = FrameKind::kRequest;
    }
    pair.zero_device.pipe.start_frame(header, view, 0, 0);
    pair.both();
    CHECK(pair.one.fault_of(0) != nullptr);
    CHECK(pair.one.receive(view, {poe::kMplContext, 0, 1}).outcome == Outcome::kPeerBroken);
    CHECK(pair.one.send(view, 0, 1) == Outcome::kPeerBroken);
    Sent own(pair.one, 1, 1, "still works");
    CHECK(own.done());
}

TEST_CASE("a grant that comes before the request was sent, or twice, breaks the pipe") {
    Pair pair;
    Sent large(pair.one, 0, 3, std::string(100'000, 'L'));
    GrantBody body;
    body.send_id = large.request.id;
    body.length = 200'000;  // more than was offered
    pair.zero_device.pipe.start_frame(
        {sizeof body, 0, poe::kMplContext, FrameKind::kGrant, FlowClass::kUser},
        BufferView(&body, sizeof body), 0, 0);
    pair.both();
    CHECK(pair.one.fault_of(0) != nullptr);
    CHECK(pair.one.wait(large.request) == Outcome::kPeerBroken);
}

TEST_CASE("numbers of requests are not found after they were given back") {
    IdTable<int> table;
    int a = 1;
    int b = 2;
    const auto first = table.add(a);
    CHECK(table.find(first) == &a);
    table.remove(first);
    CHECK(table.find(first) == nullptr);
    const auto second = table.add(b);
    CHECK(second != first);
    CHECK(table.find(second) == &b);
    CHECK(table.find(0xffffffffu) == nullptr);
    CHECK(static_cast<std::int32_t>(second) >= 0);
}
