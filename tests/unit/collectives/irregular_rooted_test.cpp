// Gathers and scatters with blocks of unequal length in shared memory, by threads, with many seeds.
#include "collectives/shm/irregular_rooted.hpp"

#include <catch2/catch.hpp>

#include "collectives/shm/irregular_index.hpp"
#include "tests/unit/collectives/calls_oracle.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

using namespace oracle;

using Block = std::vector<std::byte>;

Bytes random_length(std::minstd_rand& random) {
    constexpr Bytes kMost[] = {0, 1, 8, 48, 100, 600, kLongestRootedBlock};
    const Bytes most = kMost[random() % std::size(kMost)];
    if (random() % 12 == 0) return kLongestRootedBlock + 1 + random() % 5000;
    return random() % 3 == 0 ? most : random() % (most + 1);
}

// What one member sees of one call.
struct Part {
    // `lengths`: of all blocks, by rank.
    Part(const std::vector<Bytes>& lengths, std::uint32_t me, std::uint32_t root, bool gathers,
         unsigned call) {
        const bool is_root = me == root;
        sends = gathers != is_root;
        for (std::uint32_t m = is_root ? 0 : me; m < (is_root ? lengths.size() : me + 1); ++m) {
            const Block whole = bytes_of(m, call, 0, lengths[m]);
            wanted.push_back(whole);
            memory.push_back(sends ? whole : Block(lengths[m] + 1));
        }
        for (std::size_t i = 0; i < memory.size(); ++i)
            blocks.push_back({memory[i].data(), wanted[i].size()});
        own = is_root ? me : lengths.size();
    }
    bool right() {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (i == own) continue;
            const bool is_long = wanted[i].size() > kLongestRootedBlock;
            if (blocks[i].follows != (is_long ? wanted[i].size() : 0)) return false;
            if (sends) continue;
            Block expected = is_long ? Block(wanted[i].size()) : wanted[i];
            expected.emplace_back();
            if (memory[i] != expected || blocks[i].bytes != wanted[i].size()) return false;
        }
        return true;
    }
    std::vector<Block> wanted, memory;
    std::vector<RootedBlock> blocks;
    std::size_t own = 0;
    bool sends = false;
};

}  // namespace

TEST_CASE("random gathers and scatters with blocks of unequal length, between other calls") {
    for (const std::uint32_t n : {2u, 3u, 7u}) {
        for (unsigned seed = 1; seed <= 8; ++seed) {
            Memory short_memory(GroupSegment::short_of(n).bytes_for(n));
            Memory long_memory(GroupSegment::kLong.bytes_for(n));
            std::atomic<unsigned> wrong = 0;
            by_all(n, [&](std::uint32_t me) {
                YieldingHost host;
                GroupSegment shorter(short_memory.start(), n, me, GroupSegment::short_of(n), host);
                GroupSegment longer(long_memory.start(), n, me, GroupSegment::kLong, host);
                CallTools tools;
                std::minstd_rand same(seed);
                for (unsigned call = 0; call < 400; ++call) {
                    std::vector<Bytes> lengths(n);
                    for (Bytes& each : lengths) each = random_length(same);
                    const auto root = static_cast<std::uint32_t>(same() % n);
                    const unsigned kind = same() % 5;
                    if (kind == 0) {
                        // A call in which every member reads all slots.
                        std::vector<ExchangeBlock> blocks(n);
                        if (!exchange_lengths(tools, longer, blocks).ok()) ++wrong;
                        continue;
                    }
                    Part part(lengths, me, root, kind % 2 == 0, call);
                    const WrongBlock found = (kind % 2 == 0 ? gather_blocks : scatter_blocks)(
                        tools, {shorter, longer}, root, part.blocks);
                    if (!found.ok() || !part.right()) ++wrong;
                }
            });
            INFO("members " << n << " seed " << seed);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("a block that does not fit its memory is reported, and nothing is written past it") {
    constexpr std::uint32_t kMembers = 3;
    for (const bool gathers : {true, false}) {
        Memory short_memory(GroupSegment::short_of(kMembers).bytes_for(kMembers));
        Memory long_memory(GroupSegment::kLong.bytes_for(kMembers));
        std::vector<WrongBlock> found(kMembers);
        std::atomic<unsigned> wrong = 0;
        by_all(kMembers, [&](std::uint32_t me) {
            YieldingHost host;
            GroupSegment shorter(short_memory.start(), kMembers, me,
                                 GroupSegment::short_of(kMembers), host);
            GroupSegment longer(long_memory.start(), kMembers, me, GroupSegment::kLong, host);
            CallTools tools;
            const std::vector<Bytes> lengths(kMembers, 100);
            Part part(lengths, me, 1, gathers, 0);
            // The block between the root and the last member.
            const std::size_t at = me == 1 ? 2 : 0;
            const bool taker = gathers ? me == 1 : me == 2;
            if (taker) part.blocks[at].bytes = 90;
            found[me] = (gathers ? gather_blocks : scatter_blocks)(tools, {shorter, longer}, 1,
                                                                   part.blocks);
            if (taker && (part.blocks[at].bytes != 90 || part.memory[at][90] != std::byte{}))
                ++wrong;
            if (!taker && !part.right()) ++wrong;
        });
        CHECK(wrong == 0);
        const std::uint32_t taker = gathers ? 1 : 2;
        for (std::uint32_t m = 0; m < kMembers; ++m) CHECK(found[m].ok() == (m != taker));
        CHECK(found[taker].giver == (gathers ? 2 : 1));
        CHECK(found[taker].came == 100);
        CHECK(found[taker].expected == 90);
    }
}

namespace {

// Tells when its member waits.
struct TellingHost final : YieldingHost {
    explicit TellingHost(std::atomic<bool>& tells) : waits(tells) {}
    void wait(const std::atomic<std::uint64_t>& word, std::uint64_t call,
              const GroupSegment::AwaitedMember& whom) override {
        waits = true;
        YieldingHost::wait(word, call, whom);
    }
    std::atomic<bool>& waits;
};

}  // namespace

TEST_CASE("a member keeps a longer block until a root that is far behind has read it") {
    // A longer block, short ones while the set of its slot comes round twice, and a longer one for
    // the same slot. The root begins when the other member has made all calls, or waits.
    constexpr std::uint32_t kMembers = 2;
    constexpr unsigned kCalls = 2 * GroupSegment::kLong.depth + 1;
    Memory short_memory(GroupSegment::short_of(kMembers).bytes_for(kMembers));
    Memory long_memory(GroupSegment::kLong.bytes_for(kMembers));
    std::atomic<bool> ahead = false;
    std::atomic<unsigned> wrong = 0;
    by_all(kMembers, [&](std::uint32_t me) {
        TellingHost host(ahead);
        GroupSegment shorter(short_memory.start(), kMembers, me, GroupSegment::short_of(kMembers),
                             host);
        GroupSegment longer(long_memory.start(), kMembers, me, GroupSegment::kLong, host);
        CallTools tools;
        while (me == 0 && !ahead) ::sched_yield();
        for (unsigned call = 0; call < kCalls; ++call) {
            const Bytes bytes = call == 0 || call + 1 == kCalls ? 1000 : 8;
            Part part({bytes, bytes}, me, 0, true, call);
            gather_blocks(tools, {shorter, longer}, 0, part.blocks);
            if (!part.right()) ++wrong;
        }
        ahead = true;
    });
    CHECK(wrong == 0);
}
