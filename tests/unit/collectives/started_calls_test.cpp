// Short calls in shared memory that do not block, by threads: random shapes with many seeds against
// an oracle. Members start up to three times as many calls as the segment has room for, and look at
// them in random orders.
#include "collectives/shm/started_calls.hpp"

#include <catch2/catch.hpp>

#include "collectives/shm/short_calls.hpp"
#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

constexpr Bytes kLengths[] = {4, 8, 0, 12, 56, 60, 400, 1080};

struct Pending {
    unsigned number = 0;
    Shape shape;
    std::vector<std::byte> given;
    std::vector<std::byte> result;
    StartedCall call;

    Run run() { return {given.data(), result.data(), kCompose}; }
};

// What has come, in the form of expected().
bool is_right(const Pending& made, std::uint32_t me) {
    const std::vector<std::byte> right = expected(made.shape, me, made.number);
    return std::equal(right.begin(), right.end(), made.result.begin());
}

// Makes `calls` calls of each member in a segment of these sizes. Returns how many went wrong.
unsigned run_calls(const GroupSegment::Sizes& sizes, std::uint32_t n, unsigned seed,
                   unsigned calls) {
    Memory memory(sizes.bytes_for(n));
    std::atomic<unsigned> wrong = 0;
    by_all(n, [&](std::uint32_t me) {
        YieldingHost host;
        GroupSegment segment(memory.start(), n, me, sizes, host);
        CallTools tools;
        StartedCalls started(segment, tools);
        std::minstd_rand common(seed);
        std::minstd_rand own(seed * 131 + me);
        std::vector<std::unique_ptr<Pending>> pending;
        const auto look_at = [&](std::size_t i) {
            Pending& each = *pending[i];
            if (!each.call.advance(each.shape, each.run())) return void(::sched_yield());
            if (!is_right(each, me)) ++wrong;
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
        };
        for (unsigned number = 0; number < calls;) {
            Shape shape = random_shape(common, n, kLengths);
            if (common() % 8 == 0) {
                shape = {};
                shape.n = n;
            }
            if (!StartedCalls::fits(sizes, shape)) continue;
            auto made = std::make_unique<Pending>();
            made->number = number++;
            made->given = bytes_of(me, made->number, 0, n * shape.bytes + 8);
            made->result.resize(n * shape.bytes + 8);
            if (shape.operation == Operation::kBcast && static_cast<Rank>(me) == shape.root)
                made->result = made->given;
            made->shape = std::move(shape);
            made->call.start(started);
            pending.push_back(std::move(made));
            if (own() % 64 == 0) std::this_thread::yield();
            while (!pending.empty() && (pending.size() > 3 * sizes.depth || own() % 3 == 0))
                look_at(own() % pending.size());
        }
        while (!pending.empty()) look_at(own() % pending.size());
    });
    return wrong;
}

}  // namespace

TEST_CASE("calls that do not block end with what the oracle says", "[started]") {
    for (unsigned seed = 1; seed <= 16; ++seed) {
        const std::uint32_t n = 2 + seed % 7;
        CAPTURE(seed, n);
        CHECK(run_calls(GroupSegment::kStartedPacked, n, seed, 400) == 0);
        CHECK(run_calls(GroupSegment::started_short_of(n), n, seed, 400) == 0);
        CHECK(run_calls(GroupSegment::kStartedLong, n, seed, 200) == 0);
    }
}

TEST_CASE("a call names the member that it waits for", "[started]") {
    constexpr std::uint32_t kMembers = 6;  // more than in exchanges of slots
    const GroupSegment::Sizes sizes = GroupSegment::started_short_of(kMembers);
    Memory memory(sizes.bytes_for(kMembers));
    YieldingHost host;
    GroupSegment first(memory.start(), kMembers, 0, sizes, host);
    GroupSegment second(memory.start(), kMembers, 1, sizes, host);
    CallTools tools;
    StartedCalls of_first(first, tools);
    StartedCalls of_second(second, tools);
    for (const Operation operation :
         {Operation::kSync, Operation::kPrefix, Operation::kGather, Operation::kBcast}) {
        Shape shape;
        shape.operation = operation;
        shape.n = kMembers;
        shape.root = operation == Operation::kBcast ? 4 : 0;
        StartedCall call;
        StartedCall others;
        call.start(of_first);
        others.start(of_second);
        const bool needs_nobody = operation == Operation::kPrefix;
        CHECK(call.advance(shape, {}) == needs_nobody);
        others.advance(shape, {});
        if (needs_nobody) continue;
        CHECK_FALSE(call.advance(shape, {}));
        CHECK(call.awaited(shape) == (operation == Operation::kBcast ? 4 : 2));
    }
    // Nobody else has finished a call, so at some time there is no room.
    Shape shape;
    shape.operation = Operation::kGather;
    shape.n = kMembers;
    shape.root = 5;
    std::vector<StartedCall> calls(sizes.depth);
    for (StartedCall& call : calls) {
        call.start(of_first);
        call.advance(shape, {});
    }
    CHECK_FALSE(calls.back().can_advance(shape));
    CHECK(calls.back().awaited(shape) == 1);
}
