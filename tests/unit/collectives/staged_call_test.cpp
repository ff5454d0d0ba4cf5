// Long calls in shared memory, piece by piece, by threads: random shapes with many seeds against an
// oracle, with a function that is not commutative.
#include "collectives/shm/staged_call.hpp"

#include <thread>

#include <catch2/catch.hpp>

#include "collectives/shm/pipelined_reduce.hpp"
#include "collectives/shm/shm_group.hpp"
#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

constexpr Bytes kLengths[] = {0, 4, 100, 4000, 32768, 65540, 150000, 700000};

void run_member(std::byte* memory, std::uint32_t n, std::uint32_t me, unsigned seed, unsigned calls,
                std::atomic<unsigned>& wrong) {
    YieldingHost host;
    GroupSegment staged(memory, n, me, GroupSegment::staged_of(n), host);
    CallTools tools;
    tools.tasks_per_core = 1 + seed % 4;
    NonTemporalTuner& stores = tools.stores;
    // Members may judge differently, and change their minds.
    const auto prefer = [&](Store store) {
        for (const Bytes bytes : kLengths) {
            for (int i = 0; i < 20 && bytes > 0; ++i) {
                for (const Store each : {Store::kOrdinary, Store::kNonTemporal}) {
                    stores.wrote(each, bytes, each == store ? bytes / 8 : bytes);
                    stores.read(each, bytes, bytes / 4);
                }
            }
        }
    };
    std::minstd_rand same(seed);
    for (unsigned call = 0; call < calls; ++call) {
        const Shape shape = random_shape(same, n, kLengths);
        const bool in_place = same() % 4 == 0 && (shape.operation == Operation::kCombine ||
                                                  shape.operation == Operation::kPrefix);
        // Each may choose its own way out of the slots.
        const bool non_temporal = (call + me + seed) % 3 == 0;
        const bool among_all = fits_staged(shape, Partners::kAll);
        const bool by_pairs = fits_staged(shape, Partners::kOne) && (!among_all || call % 2);
        if (!among_all && !fits_pipelined_reduce(shape) && !by_pairs) wrong += 1000;
        std::vector<std::byte> given =
            bytes_of(me, call, 0, shape.offset(n - 1) + shape.bytes + shape.length(n - 1));
        const std::vector<std::byte> wanted = expected(shape, me, call);
        std::vector<std::byte> result(shape.bytes * n + shape.offset(n - 1) + shape.length(n - 1) +
                                      8);
        if (shape.operation == Operation::kBcast && static_cast<Rank>(me) == shape.root)
            result = given;
        Run run{given.data(), in_place ? given.data() : result.data(), kCompose, 0};
        if (fits_pipelined_reduce(shape)) {
            pipelined_reduce(tools, staged, shape, run);
        } else {
            if (by_pairs && call % 4 == me % 4)
                prefer(call % 8 < 4 ? Store::kNonTemporal : Store::kOrdinary);
            run_staged(by_pairs ? Partners::kOne : Partners::kAll, tools, staged, shape, run,
                       non_temporal);
        }
        // What a member gives is its own again.
        const std::vector<std::byte>& got = in_place ? given : result;
        if (!std::equal(wanted.begin(), wanted.end(), got.begin())) ++wrong;
        std::fill(given.begin(), given.end(), std::byte{0xee});
    }
}

}  // namespace

TEST_CASE("random long calls in shared memory") {
    for (const std::uint32_t n : {2u, 3u, 6u}) {
        for (unsigned seed = 1; seed <= 8; ++seed) {
            const Bytes staged = GroupSegment::staged_of(n).bytes_for(n);
            std::vector<std::byte> bytes(staged + kLine);
            const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
            std::byte* memory = bytes.data() + (kLine - at % kLine) % kLine;
            std::atomic<unsigned> wrong = 0;
            std::vector<std::thread> threads;
            for (std::uint32_t me = 0; me < n; ++me)
                threads.emplace_back([&, me] { run_member(memory, n, me, seed, 60, wrong); });
            for (std::thread& thread : threads) thread.join();
            INFO("members " << n << " seed " << seed);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("a piece of a broadcast to many members needs several slots") {
    constexpr std::uint32_t kMembers = 70;
    constexpr unsigned kCalls = 3;
    std::vector<std::byte> bytes(GroupSegment::staged_of(kMembers).bytes_for(kMembers) + kLine);
    const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
    std::byte* memory = bytes.data() + (kLine - at % kLine) % kLine;
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = kMembers;
    shape.bytes = 200'001;
    REQUIRE(GroupSegment::common_piece(kMembers) * 2 < Bytes{64} << 10);
    std::atomic<unsigned> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < kMembers; ++me) {
        threads.emplace_back([&, me] {
            YieldingHost host;
            GroupSegment segment(memory, kMembers, me, GroupSegment::staged_of(kMembers), host);
            CallTools tools;
            Shape own = shape;
            for (unsigned call = 0; call < kCalls; ++call) {
                own.root = static_cast<Rank>(call * 31);
                const std::vector<std::byte> wanted = bytes_of(call * 31, call, 0, own.bytes);
                std::vector<std::byte> result(own.bytes);
                if (me == call * 31) result = wanted;
                const Run run{nullptr, result.data(), {}, 0};
                run_staged(Partners::kAll, tools, segment, own, run, false);
                if (result != wanted) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("all groups' memory has room in a group segment") {
    for (std::uint32_t local : {1u, 2u, 3u, 31u, 32u, 33u, 64u, 65u, 100u, 512u, 513u, 4096u}) {
        for (std::uint32_t n = 1; n <= local; n += n < 70 ? 1 : 37) {
            CHECK(ShmGroup::bytes_for(n) <= group_segment_bytes(local));
            if (n > 1) CHECK(GroupSegment::staged_of(n).bytes_for(n) <= staging_bytes(local));
        }
    }
}
