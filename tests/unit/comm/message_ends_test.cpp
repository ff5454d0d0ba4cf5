// A member of a communicator ends while two others exchange a message: a message that has begun is
// finished, and nothing else is waited for.
#include <filesystem>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "base/segment/node_segment.hpp"
#include "tests/unit/comm/message_layers.hpp"

using namespace message_layers;

namespace {

// A context of a library's own messages in a communicator.
constexpr poe::ContextId kInternal = 0x80000000u | poe::kFirstMpiContext;
constexpr TaskId kThird = 2;
// A layer asks only now and then whether a member is lost.
constexpr int kQuestions = 1000;

// A pipe whose peer's end only the segment shows, as with shared memory.
struct SilentPipe final : TestPipe {
    using TestPipe::TestPipe;
    bool shows_end_of_peer() const override { return false; }
};

// The pipes to task 0 and to the third task.
struct TwoPeers final : Device {
    TwoPeers(const Wire& to_zero, const Wire& from_zero, const Wire& to_third,
             const Wire& from_third)
        : zero(0, to_zero, from_zero), third(kThird, to_third, from_third) {}
    Pipe& pipe_to(TaskId peer) override { return peer == 0 ? zero : third; }
    bool poll(PipeSink& sink) override {
        return (zero.receiver.has_input() && sink.on_input(zero)) ||
               (third.receiver.has_input() && sink.on_input(third));
    }
    SilentPipe zero, third;
};

// The node of three tasks, of which nobody has stored an end.
struct Node {
    Node() {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        directory = ::mkdtemp(name);
        poe::NodeSegmentSpec spec;
        spec.job_id = "unit-1";
        spec.path = directory + "/segment";
        spec.node_of_task.assign(3, 0);
        segment = std::make_unique<poe::NodeSegment>(poe::NodeSegment::create(spec));
    }
    ~Node() { std::filesystem::remove_all(directory); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    std::string directory;
    std::unique_ptr<poe::NodeSegment> segment;
};

// From now on the layer knows that the third member of each communicator is lost.
void lose_third(MessageLayer& layer, const Node& node) {
    layer.notice_ends(*node.segment, [](poe::ContextId, std::int32_t) { return kThird; });
}

template <typename Request>
void ask_often(MessageLayer& layer, Request& request) {
    for (int i = 0; i < kQuestions && request.outcome == Outcome::kPending; ++i)
        layer.end_if_hopeless(request);
}

std::string long_text(std::size_t length) {
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 23);
    return text;
}

}  // namespace

TEST_CASE("a receive of a message that nobody has sent ends with a third member") {
    Node node;
    Pair pair;
    lose_third(pair.one, node);
    Received received(pair.one, 0, 3, 100, kInternal);
    ask_often(pair.one, received.request);
    CHECK(received.request.outcome == Outcome::kPeerBroken);
    Received of_program(pair.one, 0, 3, 100, poe::kFirstMpiContext);
    ask_often(pair.one, of_program.request);
    CHECK(of_program.request.outcome == Outcome::kPending);
    pair.one.cancel(of_program.request);
}

TEST_CASE("a message that is granted arrives, although a third member has ended") {
    Node node;
    Pair pair;
    lose_third(pair.zero, node);
    lose_third(pair.one, node);
    const std::string text = long_text(100'000);
    Received received(pair.one, 0, 3, text.size(), kInternal);
    Sent sent(pair.zero, 1, 3, text, kInternal);
    while (received.request.source < 0) pair.one.progress();
    // The grant is on its way.
    ask_often(pair.one, received.request);
    CHECK(received.request.outcome == Outcome::kPending);
    ask_often(pair.zero, sent.request);
    CHECK(sent.request.outcome == Outcome::kPending);
    pair.both();
    CHECK(received.done());
    CHECK(received.text() == text);
    CHECK(sent.done());
    // The connection of both is whole.
    Received later(pair.one, 0, 4);
    Sent more(pair.zero, 1, 4, "more");
    pair.both();
    CHECK(later.text() == "more");
    CHECK_FALSE(pair.one.lost(0));
}

TEST_CASE("a message of which a part is fetched is fetched to its end") {
    constexpr Bytes kLong = 3 * kBytesPerVisit;
    Node node;
    Wire forth, back;
    FetchingDevice device;
    TestDevice end(0, forth, back);
    poe::SegmentHeader header{};
    poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    poe::Fences fences(false);
    Waiter waiter(header, facts, slot, poe::WaitMode::kYield, fences);
    device.pipes.push_back(std::make_unique<FetchablePipe>(1, back, forth, device.log));
    MessageLayer sender(
        {1, 3, kEager, kBuffer}, {&end}, [&](TaskId) -> Device& { return end; }, &waiter);
    MessageLayer receiver(
        {0, 3, kEager, kBuffer}, {&device}, [&](TaskId) -> Device& { return device; }, &waiter);
    lose_third(sender, node);
    lose_third(receiver, node);
    const std::string text = long_text(kLong);
    Received received(receiver, 1, 3, kLong, kInternal);
    Sent sent(sender, 0, 3, text, kInternal);
    while (device.log.find('F') == std::string::npos) receiver.progress();
    REQUIRE(received.request.outcome == Outcome::kPending);
    ask_often(receiver, received.request);
    ask_often(sender, sent.request);
    while (receiver.progress() || sender.progress()) {
    }
    CHECK(received.done());
    CHECK(received.text() == text);
    CHECK(sent.done());
}

TEST_CASE("a message that is found together with the end of a third member arrives") {
    Node node;
    Wire forth, back, to_third, from_third;
    TestDevice device_of_sender(1, forth, back);
    TwoPeers device(back, forth, to_third, from_third);
    poe::SegmentHeader header{};
    poe::SegmentFacts facts;
    poe::TaskSlot slot{};
    poe::Fences fences(false);
    Waiter waiter(header, facts, slot, poe::WaitMode::kYield, fences);
    MessageLayer sender(
        {0, 3, kEager, kBuffer}, {&device_of_sender},
        [&](TaskId) -> Device& { return device_of_sender; }, &waiter);
    MessageLayer receiver(
        {1, 3, kEager, kBuffer}, {&device}, [&](TaskId) -> Device& { return device; }, &waiter);
    lose_third(receiver, node);
    const std::string text = long_text(100'000);
    Received received(receiver, 0, 3, text.size(), kInternal);
    // The receiver has not looked yet when the message is announced and the third task ends.
    Sent sent(sender, 1, 3, text, kInternal);
    node.segment->slot(kThird).ended.store(1);
    node.segment->header().ends.fetch_add(1);
    receiver.end_if_hopeless(received.request);
    CHECK(received.request.outcome == Outcome::kPending);
    CHECK(received.request.source == 0);
    while (receiver.progress() || sender.progress()) {
    }
    CHECK(received.done());
    CHECK(received.text() == text);
    CHECK(sent.done());
    CHECK_FALSE(receiver.lost(0));
}

TEST_CASE("a message that is announced is withdrawn when a third member has ended") {
    Node node;
    Pair pair;
    lose_third(pair.zero, node);
    Sent sent(pair.zero, 1, 3, long_text(100'000), kInternal);
    pair.both();
    REQUIRE(pair.one.unexpected_messages() == 1);
    ask_often(pair.zero, sent.request);
    // The receiver may be about to accept it.
    CHECK(sent.request.outcome == Outcome::kPending);
    pair.both();
    CHECK(sent.request.outcome == Outcome::kPeerBroken);
    CHECK(pair.one.unexpected_messages() == 0);
}
