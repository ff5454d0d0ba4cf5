// A run of a plan that has failed, whose group ends while messages of it are under way.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collectives/engine/plan.hpp"
#include "tests/unit/comm/message_layers.hpp"

using namespace message_layers;
namespace collectives = poe::collectives;

namespace {

constexpr std::int32_t kType = 7;
constexpr Bytes kLength = 4000;

// The schedule of rank 0: sends its vector, and receives one of the same length.
void exchange(poe::collectives::Rank, collectives::Schedule& into) {
    into.receive(1, {collectives::Buffer::kOutput, 0}, kLength, 0);
    into.send(1, {collectives::Buffer::kInput, 0}, kLength, 0);
    into.wait();
}

}  // namespace

TEST_CASE("a message of a failed run arrives although the plans of the group are gone") {
    Pair pair;
    const auto in_group = [&](MessageLayer& layer, TaskId to, const std::string& text) {
        return std::make_unique<Sent>(layer, to, kType, text, poe::kCclContext);
    };
    // Task 1 receives nothing, so that the pipe to it is full.
    std::vector<std::unique_ptr<Sent>> before;
    do {
        before.push_back(in_group(pair.zero, 1, std::string(kLength, 'b')));
        pair.zero.progress();
    } while (before.back()->done());

    std::string given(kLength, 'g');
    std::string result(kLength, ' ');
    {
        collectives::Group group(0, 0, {0, 1}, 0);
        collectives::Plans plans;
        collectives::Plan& plan = plans.add(
            std::make_unique<collectives::Plan>(collectives::Shape{}, exchange, 0, false), false);
        collectives::Run run;
        run.given = reinterpret_cast<const std::byte*>(given.data());
        run.result = reinterpret_cast<std::byte*>(result.data());
        run.type = kType;
        run.context = poe::kCclContext;
        plan.begin(group, run);
        REQUIRE(!plan.advance(pair.zero));
        // The members do not agree on the length.
        const auto shorter = in_group(pair.one, 0, "short");
        while (!plan.advance(pair.zero)) pair.zero.progress();
        REQUIRE(plan.went_wrong());
        REQUIRE(plan.has_messages_under_way());
    }
    std::memset(given.data(), 'x', given.size());
    // New memory, which the allocator takes from what has been freed.
    const std::vector<std::string> others(64, std::string(kLength, 'o'));

    for (std::size_t i = 0; i < before.size(); ++i) {
        Received received(pair.one, 0, kType, kLength, poe::kCclContext);
        while (received.request.outcome == Outcome::kPending) pair.both();
    }
    Received last(pair.one, 0, kType, kLength, poe::kCclContext);
    while (last.request.outcome == Outcome::kPending) pair.both();
    CHECK(last.text() == std::string(kLength, 'g'));
}
