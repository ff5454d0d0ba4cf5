// Indexes with blocks of unequal length in shared memory, by threads: the exchange of lengths, and
// long blocks through slots, with many seeds.
#include "collectives/shm/irregular_index.hpp"

#include <array>

#include <catch2/catch.hpp>

#include "collectives/shm/staged_call.hpp"
#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

// All lengths of one call, by giver and taker.
using Lengths = std::vector<std::vector<Bytes>>;

Lengths random_lengths(std::minstd_rand& random, std::uint32_t n) {
    constexpr Bytes kMost[] = {0, 1, 40, 200, 1000, 9000, 20'000, 70'000, 300'000};
    const Bytes most = kMost[random() % std::size(kMost)];
    const unsigned empty = 1 + random() % 4;  // one of so many blocks
    Lengths lengths(n, std::vector<Bytes>(n));
    for (auto& row : lengths)
        for (Bytes& each : row) each = random() % empty == 0 ? random() % (most + 1) : 0;
    return lengths;
}

Bytes longest_of(const Lengths& lengths) {
    Bytes longest = 0;
    for (std::size_t g = 0; g < lengths.size(); ++g)
        for (std::size_t t = 0; t < lengths.size(); ++t)
            if (g != t) longest = std::max(longest, lengths[g][t]);
    return longest;
}

// The own blocks, with memory that has room for them and a byte more.
struct OwnBlocks {
    OwnBlocks(const Lengths& lengths, std::uint32_t me, unsigned call) {
        for (std::uint32_t m = 0; m < lengths.size(); ++m) {
            out.push_back(bytes_of(me, call + m, 0, lengths[me][m]));
            in.emplace_back(lengths[m][me] + 1);
        }
        for (std::uint32_t m = 0; m < lengths.size(); ++m)
            blocks.push_back({out[m].data(), out[m].size(), in[m].data(), lengths[m][me]});
    }
    bool right(const Lengths& lengths, std::uint32_t me, unsigned call) {
        for (std::uint32_t m = 0; m < lengths.size(); ++m) {
            std::vector<std::byte> wanted = bytes_of(m, call + me, 0, lengths[m][me]);
            wanted.emplace_back();
            if (in[m] != wanted) return false;
        }
        return true;
    }
    std::vector<std::vector<std::byte>> out, in;
    std::vector<ExchangeBlock> blocks;
};

}  // namespace

TEST_CASE("random indexes with blocks of unequal length") {
    for (const std::uint32_t n : {2u, 3u, 7u}) {
        for (unsigned seed = 1; seed <= 8; ++seed) {
            Memory short_memory(GroupSegment::kLong.bytes_for(n));
            Memory long_memory(GroupSegment::staged_of(n).bytes_for(n));
            std::atomic<unsigned> wrong = 0, carried = 0, long_ones = 0;
            by_all(n, [&](std::uint32_t me) {
                YieldingHost host;
                GroupSegment shorter(short_memory.start(), n, me, GroupSegment::kLong, host);
                GroupSegment longer(long_memory.start(), n, me, GroupSegment::staged_of(n), host);
                CallTools tools;
                std::minstd_rand same(seed);
                for (unsigned call = 0; call < 60; ++call) {
                    const Lengths lengths = random_lengths(same, n);
                    OwnBlocks own(lengths, me, call);
                    GroupSegment& segment = same() % 2 == 0 ? shorter : longer;
                    const IndexLengths all = exchange_lengths(tools, segment, own.blocks);
                    if (!all.ok() || all.longest != longest_of(lengths)) ++wrong;
                    ++(all.moved ? carried : long_ones);
                    if (!all.moved)
                        run_staged_index(call % 2 == 0 ? Partners::kOne : Partners::kAll, tools,
                                         longer, all.longest, own.blocks, (call + me) % 3 == 0);
                    if (!own.right(lengths, me, call)) ++wrong;
                }
            });
            INFO("members " << n << " seed " << seed);
            CHECK(wrong == 0);
            CHECK(carried > 0);
            CHECK(long_ones > 0);
        }
    }
}

TEST_CASE("a block that is longer than its memory is reported, and nothing is written past it") {
    // The first block is carried with the lengths, the second is not.
    for (const Bytes came : {Bytes{100}, Bytes{100'000}}) {
        constexpr std::uint32_t kMembers = 3;
        Memory short_memory(GroupSegment::kLong.bytes_for(kMembers));
        Memory long_memory(GroupSegment::staged_of(kMembers).bytes_for(kMembers));
        std::array<IndexLengths, kMembers> found;
        std::atomic<unsigned> wrong = 0;
        by_all(kMembers, [&](std::uint32_t me) {
            YieldingHost host;
            GroupSegment shorter(short_memory.start(), kMembers, me, GroupSegment::kLong, host);
            GroupSegment longer(long_memory.start(), kMembers, me,
                                GroupSegment::staged_of(kMembers), host);
            CallTools tools;
            const Lengths lengths(kMembers, std::vector<Bytes>(kMembers, came));
            OwnBlocks own(lengths, me, 0);
            if (me == 1) own.blocks[2].in_bytes = came - 10;
            found[me] = exchange_lengths(tools, shorter, own.blocks);
            if (!found[me].moved)
                run_staged_index(Partners::kOne, tools, longer, found[me].longest, own.blocks,
                                 false);
            const bool rest_is_empty = std::all_of(own.in[2].end() - 11, own.in[2].end(),
                                                   [](std::byte b) { return b == std::byte{}; });
            if (me == 1 ? !rest_is_empty : !own.right(lengths, me, 0)) ++wrong;
        });
        CHECK(wrong == 0);
        CHECK(found[0].ok());
        CHECK(found[2].ok());
        CHECK(!found[1].ok());
        CHECK(found[1].wrong.giver == 2);
        CHECK(found[1].wrong.came == came);
        CHECK(found[1].wrong.expected == came - 10);
    }
}

TEST_CASE("blocks of very unequal length are not balanced") {
    CHECK(are_balanced({1000, 12 * 1000, false, {}}, 4));
    CHECK(are_balanced({1000, 3 * 1000, false, {}}, 4));
    CHECK(!are_balanced({1000, 3 * 1000 - 1, false, {}}, 4));
    CHECK(!are_balanced({Bytes{1} << 32, 12 * (Bytes{1} << 32), false, {}}, 4));
}

TEST_CASE("an exchange of lengths has room for the lengths of all members") {
    for (std::uint32_t n = 2; n <= kMostIndexMembers; ++n) {
        const Bytes shorter = longest_carried(GroupSegment::kLong, n);
        const Bytes longer = longest_carried(GroupSegment::staged_of(n), n);
        CHECK(GroupSegment::kLong.room() >= n * (4 + shorter) + 16);
        CHECK(GroupSegment::common_piece(n) >= n * (4 + longer) + 16);
        CHECK(longer >= 64);
    }
}
