// Queues by key against a plain model.
#include "comm/matching/keyed_queues.hpp"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <tuple>

#include <catch2/catch.hpp>

using namespace poe::comm;

TEST_CASE("queues keep their order and do not mix") {
    KeyedQueues queues;
    std::map<std::tuple<int, int, int>, std::deque<QueueLink*>> model;
    std::vector<std::unique_ptr<QueueLink>> links;
    std::mt19937 random(7);
    for (int step = 0; step < 30000; ++step) {
        const int context = static_cast<int>(random() % 2);
        const int source = static_cast<int>(random() % 40) - 1;
        const int type = static_cast<int>(random() % 30) - 1;
        const MatchKey key{static_cast<poe::ContextId>(context), source, type};
        auto& queue = model[{context, source, type}];
        REQUIRE(queues.first(key) == (queue.empty() ? nullptr : queue.front()));
        if (random() % 3 != 0) {
            links.push_back(std::make_unique<QueueLink>());
            queues.push(*links.back(), key);
            queue.push_back(links.back().get());
        } else if (!queue.empty()) {
            // From the front, the back or the middle.
            const auto at = queue.begin() + static_cast<long>(random() % queue.size());
            queues.remove(**at);
            queue.erase(at);
        }
    }
    std::size_t left = 0;
    for (const auto& [key, queue] : model) left += queue.size();
    CHECK(queues.size() == left);
}

TEST_CASE("a link can be used again") {
    KeyedQueues queues;
    QueueLink link;
    for (int i = 0; i < 1000; ++i) {
        queues.push(link, {poe::kMplContext, i, i});
        CHECK(queues.first({poe::kMplContext, i, i}) == &link);
        queues.remove(link);
        CHECK(queues.empty());
    }
}
