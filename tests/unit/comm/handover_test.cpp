// Handing over: the choice with the costs of two machines, and the protocol between two threads.
#include "comm/matching/handover.hpp"

#include <array>
#include <random>
#include <thread>

#include <catch2/catch.hpp>

using namespace poe::comm;
using poe::Bytes;

namespace {

// Microseconds of one message.
struct Machine {
    double fetch_16k, fetch_64k, stream_16k, stream_64k;
};
constexpr Machine kFetches{1.6, 3.3, 2.3, 6.1};  // fetching costs 0.4 us + 26 GB/s
constexpr Machine kStreams{3.3, 7.6, 2.6, 6.9};

// A receiver and a sender; how many of `messages` messages are offered when each way costs so much.
int offered(Bytes length, int messages, double fetch_us, double stream_us, SingleCopyTuner& costs,
            HandoverLengths& cheaper, HandoverChoice& choice) {
    int count = 0;
    for (int i = 0; i < messages; ++i) {
        const bool offer = choice.offer(length, cheaper);
        if (offer) {
            ++count;
            choice.taken();
        }
        const double us = offer ? fetch_us : stream_us;
        costs.took(offer ? CopyMethod::kFetch : CopyMethod::kStream, length,
                   static_cast<std::uint64_t>(us * 1000));
        cheaper.update(length, costs.costs(length));
    }
    return count;
}

}  // namespace

TEST_CASE("messages are offered where fetching is cheaper, and streamed where it is not") {
    SingleCopyTuner costs;
    HandoverLengths cheaper;
    HandoverChoice choice;
    for (const Machine& machine : {kFetches, kStreams}) {
        // The same task may find itself on the one kind of machine, then on the other: it has
        // moved.
        offered(16384, 1000, machine.fetch_16k, machine.stream_16k, costs, cheaper, choice);
        offered(65536, 1000, machine.fetch_64k, machine.stream_64k, costs, cheaper, choice);
        const int short_ones =
            offered(16384, 320, machine.fetch_16k, machine.stream_16k, costs, cheaper, choice);
        const int long_ones =
            offered(65536, 320, machine.fetch_64k, machine.stream_64k, costs, cheaper, choice);
        const bool fetches = machine.fetch_16k < machine.stream_16k;
        CHECK(short_ones == (fetches ? 310 : 10));
        CHECK(long_ones == (fetches ? 310 : 10));
    }
}

TEST_CASE("a fetch that becomes slow is given up") {
    SingleCopyTuner costs;
    HandoverLengths cheaper;
    HandoverChoice choice;
    offered(32768, 500, 2, 4, costs, cheaper, choice);
    CHECK(cheaper.has(32768));
    offered(32768, 500, 20, 4, costs, cheaper, choice);
    CHECK_FALSE(cheaper.has(32768));
    CHECK(offered(32768, 320, 20, 4, costs, cheaper, choice) == 10);
}

TEST_CASE("a small difference does not change what is done") {
    HandoverLengths cheaper;
    cheaper.update(8192, {1.00, 0});
    CHECK(cheaper.bits() == 0);
    cheaper.update(8192, {1.00, 1.04});
    CHECK(cheaper.bits() == 0);
    cheaper.update(8192, {1.00, 1.06});
    CHECK(cheaper.bits() == 1);
    cheaper.update(8192, {1.04, 1.00});
    CHECK(cheaper.bits() == 1);
    cheaper.update(8192, {1.06, 1.00});
    CHECK(cheaper.bits() == 0);
}

TEST_CASE("a receiver that does not wait is offered less and less") {
    HandoverLengths all(0xff);
    HandoverChoice choice;
    int offers = 0;
    for (int i = 0; i < 10000; ++i) {
        if (!choice.offer(16384, all)) continue;
        ++offers;
        choice.not_taken();
    }
    CHECK(offers < 60);
    choice.taken();
    while (!choice.offer(16384, all)) continue;
    CHECK(choice.offer(16384, all));
}

TEST_CASE("every message is delivered once, by the one way or the other") {
    constexpr int kSeeds = 40;
    constexpr std::int32_t kMessages = 4000;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        ShmHandover shared{};
        // Stands for the ring: what the sender has published there.
        std::atomic<std::int32_t> streamed{0};
        std::vector<std::int32_t> in_ring(kMessages, -1);
        std::thread sender([&] {
            HandoverSender out(shared);
            std::minstd_rand random(seed);
            std::int32_t sent = 0;
            for (std::int32_t message = 0; message < kMessages; ++message) {
                bool done = false;
                if (random() % 8 != 0) {
                    out.offer({0, 1, message, 0});
                    for (unsigned i = random() % 200; i > 0; --i) poe::relax();
                    if (!out.withdraw()) {
                        while (out.state() == ShmHandover::kClaimed) poe::relax();
                        done = out.state() == ShmHandover::kDone;
                    }
                }
                if (done) continue;
                in_ring[static_cast<std::size_t>(sent)] = message;
                streamed.store(++sent, std::memory_order_release);
            }
        });
        HandoverReceiver in(shared);
        std::minstd_rand random(seed + 1000);
        std::int32_t taken = 0;
        std::int32_t expected = 0;
        bool in_order = true;
        while (expected < kMessages) {
            for (unsigned i = random() % 100; i > 0; --i) poe::relax();
            HandoverOffer offer;
            const bool look = in.look(offer);
            if (streamed.load(std::memory_order_acquire) > taken) {
                in_order = in_order && in_ring[static_cast<std::size_t>(taken++)] == expected++;
            } else if (look && random() % 4 != 0 && in.claim()) {
                const bool can = random() % 5 != 0;
                if (can) in_order = in_order && offer.tag == expected++;
                in.conclude(can);
            }
        }
        sender.join();
        CHECK(in_order);
        CHECK(taken == streamed.load());
    }
}
