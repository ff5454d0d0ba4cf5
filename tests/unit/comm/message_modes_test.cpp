// Contexts, layouts, synchronous messages, matched probes and cancelled receives of the message
// layer.
#include <deque>

#include <catch2/catch.hpp>

#include "tests/unit/comm/message_layers.hpp"

using namespace message_layers;

namespace {

constexpr poe::ContextId kWorld = poe::kFirstMpiContext;

// Every other byte of memory.
class EveryOther final : public Layout {
  public:
    explicit EveryOther(Bytes size) : size_(size) {}
    Bytes size() const noexcept override { return size_; }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override {
        for (Bytes i = 0; i < n; ++i) to[i] = base[2 * (offset + i)];
    }
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override {
        for (Bytes i = 0; i < n; ++i) base[2 * (offset + i)] = from[i];
    }
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override {
        length = 1;
        return base + 2 * offset;
    }

  private:
    Bytes size_;
};

std::string text_of(std::size_t length) {
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 23);
    return text;
}

struct SentSynchronously {
    SentSynchronously(MessageLayer& layer, TaskId dest, int type, std::string what)
        : text(std::move(what)), request({text.data(), text.size()}, dest, type) {
        request.synchronous = true;
        layer.start(request);
    }
    bool done() const { return request.outcome == Outcome::kDone; }
    std::string text;
    SendRequest request;
};

// Receives an extracted message.
struct ReceivedLater {
    ReceivedLater(MessageLayer& layer, Unexpected& message, std::size_t room) : bytes(room, '?') {
        request.view = {bytes.data(), room};
        layer.start(request, message);
    }
    bool done() const { return request.outcome == Outcome::kDone; }
    std::string text() const { return bytes.substr(0, request.expected); }
    std::string bytes;
    ReceiveRequest request;
};

}  // namespace

TEST_CASE("a message of any context waits for a receive of this context") {
    Pair pair;
    constexpr poe::ContextId kContexts[] = {kWorld, kWorld + 1, 0x80000000u, 0xffffffffu,
                                            poe::kMplContext};
    std::deque<Sent> sent;
    for (const poe::ContextId context : kContexts)
        sent.emplace_back(pair.zero, 1, 7, "to " + std::to_string(context), context);
    pair.both();
    CHECK(pair.one.unexpected_messages() == 5);
    CHECK(pair.one.probe({kWorld + 2, kWildcard, kWildcard}) == nullptr);
    for (std::size_t i = std::size(kContexts); i-- > 0;) {
        Received received(pair.one, kWildcard, kWildcard, 100, kContexts[i]);
        CHECK(received.text() == "to " + std::to_string(kContexts[i]));
    }
    Received posted(pair.one, 0, 7, 100, kWorld + 1);
    Sent other(pair.zero, 1, 7, "other", kWorld);
    Sent right(pair.zero, 1, 7, "right", kWorld + 1);
    pair.both();
    CHECK(posted.text() == "right");
    CHECK(pair.one.unexpected_messages() == 1);
}

TEST_CASE("a message of any layout is sent and received without packing") {
    Pair pair;
    for (const std::size_t size : {1u, 100u, 120u, 4000u, 8000u, 50'000u}) {
        for (const int sides : {1, 2, 3}) {
            for (const bool early : {false, true}) {
                INFO(size << " bytes, sides " << sides << (early ? ", receive first" : ""));
                const std::string text = text_of(size);
                const EveryOther layout(size);
                std::string from(2 * size, '-');
                layout.copy_in(reinterpret_cast<std::byte*>(from.data()), 0,
                               reinterpret_cast<const std::byte*>(text.data()), size);
                std::string flat = text;
                std::string to(2 * size, '.');
                SendRequest send((sides & 1) != 0 ? BufferView(from.data(), layout, size)
                                                  : BufferView(flat.data(), size),
                                 1, 3, kWorld);
                ReceiveRequest receive;
                receive.view = (sides & 2) != 0 ? BufferView(to.data(), layout, size)
                                                : BufferView(to.data(), size);
                receive.wanted = {kWorld, 0, 3};
                if (early) pair.one.start(receive);
                pair.zero.start(send);
                pair.both();
                if (!early) pair.one.start(receive);
                pair.both();
                REQUIRE(receive.outcome == Outcome::kDone);
                CHECK(send.outcome == Outcome::kDone);
                CHECK(receive.length == size);
                std::string got(size, ' ');
                receive.view.copy_out(0, reinterpret_cast<std::byte*>(got.data()), size);
                CHECK(got == text);
                bool untouched = true;
                for (std::size_t i = (sides & 2) != 0 ? 1 : size; i < to.size();
                     i += (sides & 2) != 0 ? 2 : 1)
                    untouched = untouched && to[i] == '.';
                CHECK(untouched);
            }
        }
    }
}

TEST_CASE("a layout may hold more than the message") {
    const EveryOther layout(10);
    std::string memory(20, '-');
    const BufferView view(memory.data(), layout, 4);
    CHECK(view.size() == 4);
    CHECK_FALSE(view.contiguous());
    Bytes length = 0;
    CHECK(view.piece(3, length) == view.start() + 6);
    CHECK(length == 1);
    CHECK(BufferView(memory.data(), layout, 0).contiguous());
}

TEST_CASE("a synchronous send ends when a receive has matched") {
    Pair pair;
    for (const std::size_t size : {0u, 3u, 5000u, 90'000u}) {
        INFO(size);
        SentSynchronously sent(pair.zero, 1, 2, text_of(size));
        pair.both();
        CHECK_FALSE(sent.done());
        CHECK(pair.one.probe({poe::kMplContext, 0, 2}) != nullptr);
        Received other(pair.one, 0, 99);
        pair.both();
        CHECK_FALSE(sent.done());
        Received received(pair.one, 0, 2, size + 5);
        pair.both();
        CHECK(sent.done());
        CHECK(received.done());
        CHECK(received.text() == sent.text);
        CHECK(received.request.length == size);
        CHECK(pair.one.cancel(other.request));
        // The receive comes first.
        Received early(pair.one, kWildcard, kWildcard, size);
        SentSynchronously late(pair.zero, 1, 3, text_of(size));
        pair.both();
        CHECK(early.done());
        CHECK(late.done());
    }
}

TEST_CASE("a task that waits takes in no synchronous message, but those after it") {
    Pair pair;
    SentSynchronously first(pair.zero, 1, 1, text_of(20'000));
    Sent second(pair.zero, 1, 2, text_of(20'000));
    SentSynchronously third(pair.zero, 1, 3, "third");
    pair.both();
    CHECK(pair.one.take_in_offers());
    pair.both();
    CHECK_FALSE(first.done());
    CHECK(second.done());
    CHECK_FALSE(third.done());
    CHECK_FALSE(pair.one.take_in_offers());
    Received last(pair.one, 0, 3);
    Received middle(pair.one, 0, 2, 20'000);
    Received start(pair.one, 0, 1, 20'000);
    pair.both();
    CHECK(last.text() == "third");
    CHECK(middle.text() == second.text);
    CHECK(start.text() == first.text);
    CHECK(first.done());
    CHECK(third.done());
}

TEST_CASE("a synchronous message to oneself waits for its receive") {
    Pair pair;
    SentSynchronously sent(pair.one, 1, 4, "own");
    CHECK_FALSE(sent.done());
    Received received(pair.one, 1, 4);
    CHECK(received.text() == "own");
    CHECK(sent.done());
    Received early(pair.one, 1, 5);
    SentSynchronously matched(pair.one, 1, 5, "early");
    CHECK(matched.done());
    SentSynchronously never(pair.one, 1, 6, "never");
    CHECK(pair.one.wait(never.request) == Outcome::kNobodyReceives);
    CHECK(pair.one.unexpected_messages() == 0);
}

TEST_CASE("an extracted message is found by no receive and received by its handle") {
    Pair pair;
    SECTION("complete") {
        Sent sent(pair.zero, 1, 1, "complete");
        Sent next(pair.zero, 1, 1, "next");
        pair.both();
        Unexpected* message = pair.one.extract({poe::kMplContext, kWildcard, 1});
        REQUIRE(message != nullptr);
        CHECK(message->from.source == 0);
        CHECK(message->length == 8);
        Received other(pair.one, kWildcard, kWildcard);
        CHECK(other.text() == "next");
        CHECK(pair.one.probe({poe::kMplContext, 0, 1}) == nullptr);
        CHECK(pair.one.extract({poe::kMplContext, 0, 1}) == nullptr);
        ReceivedLater received(pair.one, *message, 5);
        CHECK(received.done());
        CHECK(received.text() == "compl");
        CHECK(received.request.length == 8);
        CHECK(received.request.type == 1);
    }
    SECTION("arriving") {
        // More than the ring holds, so that the last of them has arrived in part.
        std::deque<Sent> sent;
        for (int type = 0; type < 6; ++type) sent.emplace_back(pair.zero, 1, type, text_of(7000));
        pair.one.progress();
        int type = 0;
        while (pair.one.probe({poe::kMplContext, 0, type})->state != Unexpected::State::kArriving)
            ++type;
        Unexpected* message = pair.one.extract({poe::kMplContext, 0, type});
        REQUIRE(message != nullptr);
        REQUIRE(message->state == Unexpected::State::kArriving);
        const bool claim_early = GENERATE(true, false);
        if (!claim_early) pair.both();
        ReceivedLater received(pair.one, *message, 7000);
        CHECK(received.done() == !claim_early);
        pair.both();
        CHECK(received.done());
        CHECK(received.text() == sent.front().text);
        CHECK(received.request.type == type);
    }
    SECTION("announced") {
        Sent sent(pair.zero, 1, 1, text_of(50'000));
        SentSynchronously synchronous(pair.zero, 1, 2, "synchronous");
        pair.both();
        Unexpected* first = pair.one.extract({poe::kMplContext, 0, 1});
        Unexpected* second = pair.one.extract({poe::kMplContext, 0, 2});
        REQUIRE(first != nullptr);
        REQUIRE(second != nullptr);
        // What a task that waits takes in may have been extracted.
        const bool take_in = GENERATE(false, true);
        if (take_in) CHECK(pair.one.take_in_offers());
        pair.both();
        CHECK(sent.done() == take_in);
        CHECK_FALSE(synchronous.done());
        ReceivedLater of_second(pair.one, *second, 100);
        ReceivedLater of_first(pair.one, *first, 50'000);
        pair.both();
        CHECK(of_first.text() == sent.text);
        CHECK(of_second.text() == "synchronous");
        CHECK(sent.done());
        CHECK(synchronous.done());
        CHECK_FALSE(pair.one.take_in_offers());
    }
    SECTION("from this task") {
        Sent kept(pair.one, 1, 1, "kept");
        SentSynchronously waits(pair.one, 1, 2, "waits");
        Unexpected* first = pair.one.extract({poe::kMplContext, 1, 1});
        Unexpected* second = pair.one.extract({poe::kMplContext, 1, 2});
        ReceivedLater of_first(pair.one, *first, 10);
        CHECK(of_first.text() == "kept");
        CHECK_FALSE(waits.done());
        ReceivedLater of_second(pair.one, *second, 10);
        CHECK(of_second.text() == "waits");
        CHECK(waits.done());
    }
    SECTION("whose send has failed") {
        SentSynchronously sent(pair.one, 1, 2, "lost");
        Unexpected* message = pair.one.extract({poe::kMplContext, 1, 2});
        CHECK(pair.one.wait(sent.request) == Outcome::kNobodyReceives);
        ReceivedLater received(pair.one, *message, 10);
        CHECK(received.request.outcome == Outcome::kNobodySends);
    }
    SECTION("never received") {
        Sent sent(pair.zero, 1, 1, "dropped with the layer");
        pair.both();
        CHECK(pair.one.extract({poe::kMplContext, 0, 1}) != nullptr);
    }
}

TEST_CASE("a receive is cancelled until a message has matched it") {
    Pair pair;
    FinishedList ended;
    Received first(pair.one, 0, 1);
    Received any(pair.one, kWildcard, kWildcard);
    any.request.tell = &ended;
    Received second(pair.one, 0, 1);
    CHECK(pair.one.cancel(first.request));
    CHECK(first.request.outcome == Outcome::kCancelled);
    CHECK_FALSE(pair.one.cancel(first.request));
    CHECK(pair.one.cancel(any.request));
    CHECK(ended.head == &any.request);
    Sent sent(pair.zero, 1, 1, "for the second");
    pair.both();
    CHECK(second.text() == "for the second");
    CHECK_FALSE(pair.one.cancel(second.request));

    // Matched, but not complete.
    Received matched(pair.one, 0, 2, 50'000);
    Sent announced(pair.zero, 1, 2, text_of(50'000));
    pair.one.progress();
    CHECK_FALSE(matched.done());
    CHECK_FALSE(pair.one.cancel(matched.request));
    pair.both();
    CHECK(matched.text() == announced.text);
}

TEST_CASE("a send that has ended is reset and sent again") {
    Pair pair;
    for (const bool synchronous : {false, true}) {
        for (const std::size_t size : {5u, 6000u, 50'000u}) {
            std::string text = text_of(size);
            SendRequest send({text.data(), text.size()}, 1, 8, kWorld);
            send.synchronous = synchronous;
            for (int round = 0; round < 3; ++round) {
                text[0] = static_cast<char>('0' + round);
                send.reset();
                Received received(pair.one, 0, 8, size, kWorld);
                pair.zero.start(send);
                pair.both();
                CHECK(send.outcome == Outcome::kDone);
                CHECK(received.text() == text);
            }
        }
    }
}
