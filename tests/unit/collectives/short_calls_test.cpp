// Short calls in shared memory, by threads: random shapes with many seeds against an oracle, some
// members dawdling, with a function that is not commutative.
#include "collectives/shm/short_calls.hpp"

#include <thread>

#include <catch2/catch.hpp>

#include "collectives/shm/pipelined_reduce.hpp"
#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

constexpr Bytes kLengths[] = {4, 8, 0, 12, 56, 60, 400, 1080};

// Counts the calls that fit, and those that went wrong.
struct Tally {
    std::atomic<unsigned> made = 0;
    std::atomic<unsigned> wrong = 0;
};

// The regions of a member, as in ShmGroup.
struct Member {
    Member(std::byte* memory, std::uint32_t n, std::uint32_t me)
        : few(memory, n, me, GroupSegment::short_of(n), host),
          packed(memory + GroupSegment::short_of(n).bytes_for(n), n, me, GroupSegment::packed_of(n),
                 host),
          more(memory + GroupSegment::short_of(n).bytes_for(n) +
                   GroupSegment::packed_of(n).bytes_for(n),
               n, me, GroupSegment::kLong, host) {}
    static Bytes bytes_for(std::uint32_t n) {
        return GroupSegment::short_of(n).bytes_for(n) + GroupSegment::packed_of(n).bytes_for(n) +
               GroupSegment::kLong.bytes_for(n);
    }
    GroupSegment& both_ways(Bytes bytes) { return bytes <= few.sizes().room() ? few : more; }
    GroupSegment& one_way(Bytes bytes) {
        return bytes <= packed.sizes().room() ? packed : both_ways(bytes);
    }

    YieldingHost host;
    GroupSegment few;
    GroupSegment packed;
    GroupSegment more;
    CallTools tools;
};

// Makes the call by one of the functions that support it; all members choose alike. False: none
// does.
bool make(Member& member, const Shape& shape, const Run& run, bool barrier, bool other) {
    const Bytes bytes = contribution_to(shape);
    const bool lines = fits_cache_lines(shape, barrier);
    if (!lines && !fits_short(shape)) return false;
    if (lines && !(other && fits_short(shape))) {
        exchange_slots(member.tools, member.both_ways(bytes), shape, run);
        return true;
    }
    switch (shape.operation) {
        case Operation::kBcast:
        case Operation::kScatter:
            publish_from_root(member.tools,
                              published_in(shape) <= member.packed.sizes().published_room()
                                  ? member.packed
                                  : member.both_ways(shape.bytes),
                              shape, run);
            break;
        case Operation::kReduce:
        case Operation::kPrefix:
            pipelined_reduce(member.tools, member.one_way(bytes), shape, run);
            break;
        case Operation::kShift:
            give_to_one(member.tools, member.one_way(bytes), shape, run);
            break;
        case Operation::kGather:
            if (!barrier) {
                give_to_one(member.tools, member.one_way(bytes), shape, run);
                break;
            }
            [[fallthrough]];
        default:
            if (other) {
                exchange_slots(member.tools, member.both_ways(bytes), shape, run);
            } else {
                arrive_and_publish(member.tools, member.both_ways(bytes), shape, run);
            }
    }
    return true;
}

void run_member(std::byte* memory, std::uint32_t n, std::uint32_t me, unsigned seed, unsigned calls,
                Tally& counts) {
    Member member(memory, n, me);
    std::minstd_rand same(seed);
    std::minstd_rand own(seed * 31 + me);
    for (unsigned call = 0; call < calls; ++call) {
        const Shape shape = random_shape(same, n, kLengths);
        const bool barrier = same() % 2 == 0;
        const bool other = same() % 2 == 0;
        const bool in_place = same() % 4 == 0 && (shape.operation == Operation::kCombine ||
                                                  shape.operation == Operation::kPrefix);
        if (own() % 8 == 0) ::sched_yield();
        std::vector<std::byte> given = bytes_of(me, call, 0, shape.bytes * n + 8);
        const std::vector<std::byte> wanted = expected(shape, me, call);
        std::vector<std::byte> result(shape.bytes * n + 8);
        if (shape.operation == Operation::kBcast && static_cast<Rank>(me) == shape.root)
            result = given;
        const Run run{given.data(), in_place ? given.data() : result.data(), kCompose, 0};
        if (!make(member, shape, run, barrier, other)) continue;
        const std::vector<std::byte>& got = in_place ? given : result;
        ++counts.made;
        if (!std::equal(wanted.begin(), wanted.end(), got.begin())) ++counts.wrong;
    }
}

}  // namespace

TEST_CASE("random short calls") {
    for (const std::uint32_t n : {2u, 3u, 4u, 6u}) {
        for (unsigned seed = 1; seed <= 50; ++seed) {
            std::vector<std::byte> bytes(Member::bytes_for(n) + kLine);
            const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
            std::byte* memory = bytes.data() + (kLine - at % kLine) % kLine;
            Tally counts;
            std::vector<std::thread> threads;
            for (std::uint32_t me = 0; me < n; ++me)
                threads.emplace_back([&, me] { run_member(memory, n, me, seed, 800, counts); });
            for (std::thread& thread : threads) thread.join();
            INFO("members " << n << " seed " << seed);
            CHECK(counts.wrong == 0);
            CHECK(counts.made > n * 100);
        }
    }
}

TEST_CASE("a call that does not fit into a line") {
    Shape shape;
    shape.operation = Operation::kCombine;
    shape.n = 2;
    shape.bytes = 56;
    CHECK(fits_cache_lines(shape, false));
    shape.bytes = 57;
    CHECK_FALSE(fits_cache_lines(shape, false));
    shape.bytes = 8;
    shape.n = 5;
    CHECK_FALSE(fits_cache_lines(shape, false));
    // Who gives only does not wait, unless it is told to.
    shape.n = 2;
    shape.operation = Operation::kReduce;
    CHECK_FALSE(fits_cache_lines(shape, false));
    CHECK(fits_cache_lines(shape, true));
}
