// Calls of a cache line each, by threads: random shapes with many seeds against an oracle, some
// members dawdling, with a function that is not commutative.
#include "collectives/shm/cache_line_exchange.hpp"

#include <thread>

#include <catch2/catch.hpp>

#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

constexpr Bytes kLengths[] = {4, 8, 0, 12, 56, 60};

// Counts the calls that fit, and those that went wrong.
struct Tally {
    std::atomic<unsigned> made = 0;
    std::atomic<unsigned> wrong = 0;
};

void run_member(std::byte* memory, std::uint32_t n, std::uint32_t me, unsigned seed, unsigned calls,
                Tally& counts) {
    CacheLineExchange lines(memory, n, me);
    YieldingHost host;
    std::minstd_rand same(seed);
    std::minstd_rand own(seed * 31 + me);
    std::byte scratch[64];
    for (unsigned call = 0; call < calls; ++call) {
        const Shape shape = random_shape(same, n, kLengths);
        const bool barrier = same() % 2 == 0;
        const bool in_place = same() % 4 == 0 && shape.operation == Operation::kCombine;
        if (!CacheLineExchange::fits(shape, barrier)) continue;
        if (own() % 8 == 0) ::sched_yield();
        std::vector<std::byte> given = bytes_of(me, call, 0, shape.bytes * n);
        const std::vector<std::byte> wanted = expected(shape, me, call);
        std::vector<std::byte> result(shape.bytes * n);
        const Run run{given.data(), in_place ? given.data() : result.data(), kCompose, 0};
        lines.run(shape, run, host, scratch);
        const std::vector<std::byte>& got = in_place ? given : result;
        ++counts.made;
        if (!std::equal(wanted.begin(), wanted.end(), got.begin())) ++counts.wrong;
    }
}

}  // namespace

TEST_CASE("random short calls of few members") {
    for (const std::uint32_t n : {2u, 3u, 4u}) {
        for (unsigned seed = 1; seed <= 200; ++seed) {
            std::vector<std::byte> bytes(CacheLineExchange::bytes_for(n) + kLine);
            const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
            std::byte* memory = bytes.data() + (kLine - at % kLine) % kLine;
            Tally counts;
            std::vector<std::thread> threads;
            for (std::uint32_t me = 0; me < n; ++me)
                threads.emplace_back([&, me] { run_member(memory, n, me, seed, 200, counts); });
            for (std::thread& thread : threads) thread.join();
            INFO("members " << n << " seed " << seed);
            CHECK(counts.wrong == 0);
            CHECK(counts.made > n * 20);
        }
    }
}

TEST_CASE("a call that does not fit into a line") {
    Shape shape;
    shape.operation = Operation::kCombine;
    shape.n = 2;
    shape.bytes = 56;
    CHECK(CacheLineExchange::fits(shape, false));
    shape.bytes = 57;
    CHECK_FALSE(CacheLineExchange::fits(shape, false));
    shape.bytes = 8;
    shape.n = 5;
    CHECK_FALSE(CacheLineExchange::fits(shape, false));
    // Who gives only does not wait, unless it is told to.
    shape.n = 2;
    shape.operation = Operation::kReduce;
    CHECK_FALSE(CacheLineExchange::fits(shape, false));
    CHECK(CacheLineExchange::fits(shape, true));
}
