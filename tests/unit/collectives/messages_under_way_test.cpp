// The simulator's store of messages against queues of the standard library.
#include "collectives/mpsim/messages_under_way.hpp"

#include <deque>
#include <map>
#include <random>

#include <catch2/catch.hpp>

using namespace poe::collectives;

TEST_CASE("messages come in the order of their sending, from whomever one asks for") {
    std::minstd_rand random(7);
    // Few and many senders to a rank; messages go up and down between few and thousands.
    for (const std::uint32_t ranks : {1u, 3u, 40u}) {
        MessagesUnderWay messages;
        std::vector<MessagesUnderWay::Inbox> inboxes(ranks);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<double>> expected;
        double sent = 0;
        for (int turn = 0; turn < 200'000; ++turn) {
            const std::uint32_t from = random() % 50;
            const std::uint32_t to = random() % ranks;
            auto& queue = expected[{from, to}];
            const bool fills = turn / 20'000 % 2 == 0;
            if (random() % 10 < (fills ? 6 : 4)) {
                const std::uint32_t place = messages.keep({from, 1, ++sent, 0});
                messages.enqueue(inboxes[to], to, place);
                queue.push_back(sent);
                continue;
            }
            const std::uint32_t place = messages.dequeue(inboxes[to], from, to);
            REQUIRE((place == MessagesUnderWay::kNone) == queue.empty());
            if (queue.empty()) continue;
            REQUIRE(messages[place].from == from);
            REQUIRE(messages[place].sent == queue.front());
            messages.forget(place);
            queue.pop_front();
        }
    }
}
