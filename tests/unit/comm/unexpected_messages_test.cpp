// Waiting messages against a plain list that is searched from its beginning.
#include "comm/matching/unexpected_messages.hpp"

#include <list>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

using namespace poe::comm;

namespace {

struct Waiting {
    std::list<std::unique_ptr<Unexpected>> all;  // oldest first
    UnexpectedMessages messages;

    Unexpected& add(const MatchKey& from) {
        all.push_back(std::make_unique<Unexpected>());
        all.back()->from = from;
        messages.add(*all.back());
        return *all.back();
    }
    // What first() must return.
    Unexpected* searched(const MatchKey& wanted) const {
        for (const auto& each : all) {
            const MatchKey& from = each->from;
            if (!each->unmatchable() && from.context == wanted.context &&
                (wanted.source == kWildcard || wanted.source == from.source) &&
                (wanted.type == kWildcard || wanted.type == from.type))
                return each.get();
        }
        return nullptr;
    }
    void check_list() const {
        const Unexpected* at = messages.oldest();
        for (const auto& each : all) {
            REQUIRE(at == each.get());
            at = at->newer;
        }
        REQUIRE(at == nullptr);
    }
};

}  // namespace

TEST_CASE("a receive finds the oldest message that it matches, with and without wildcards") {
    std::mt19937 random(5);
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    for (int round = 0; round < 300; ++round) {
        Waiting waiting;
        // In some rounds wildcards are rare, in others frequent; in some few messages wait, in
        // others many.
        const unsigned wildcard_in = round % 3 == 0 ? 2 : round % 3 == 1 ? 30 : 200;
        const unsigned arrivals_in_ten = round % 2 == 0 ? 5 : 7;
        for (int step = 0; step < 200; ++step) {
            const auto context = static_cast<poe::ContextId>(below(2));
            if (random() % 10 < arrivals_in_ten) {
                waiting.add({context, below(4), below(4)});
                continue;
            }
            MatchKey wanted{context, below(4), below(4)};
            if (random() % wildcard_in == 0) wanted.source = kWildcard;
            if (random() % wildcard_in == 0) wanted.type = kWildcard;
            Unexpected* found = waiting.messages.first(wanted);
            REQUIRE(found == waiting.searched(wanted));
            if (found == nullptr) continue;
            const int fate = below(3);
            if (fate == 0) continue;                        // a probe
            if (fate == 1) waiting.messages.match(*found);  // its bytes are still arriving
            if (fate == 2) {
                waiting.messages.remove(*found);
                waiting.all.remove_if([&](const auto& each) { return each.get() == found; });
            }
        }
        waiting.check_list();
        std::size_t matchable = 0;
        for (const auto& each : waiting.all) matchable += each->unmatchable() ? 0 : 1;
        REQUIRE(waiting.messages.matchable() == matchable);
        while (!waiting.all.empty()) {
            waiting.messages.remove(*waiting.all.back());
            waiting.all.pop_back();
        }
        REQUIRE(waiting.messages.oldest() == nullptr);
        REQUIRE(waiting.messages.matchable() == 0);
    }
}

TEST_CASE("a message is in one queue until a wildcard asks, and again when none waits any more") {
    Waiting waiting;
    Unexpected& first = waiting.add({poe::kMplContext, 1, 5});
    CHECK(first.wildcard_links[0].queue == nullptr);
    CHECK(waiting.messages.first({poe::kMplContext, 1, kWildcard}) == &first);
    CHECK(first.wildcard_links[0].queue != nullptr);
    Unexpected& second = waiting.add({poe::kMplContext, 2, 5});
    CHECK(second.wildcard_links[0].queue != nullptr);
    waiting.messages.match(first);
    CHECK(waiting.messages.first({poe::kMplContext, kWildcard, 5}) == &second);
    waiting.messages.match(second);
    const Unexpected& third = waiting.add({poe::kMplContext, 1, 5});
    CHECK(third.wildcard_links[0].queue == nullptr);
}
