// The pipelined broadcast for any number of ranks: which segment comes when, and that a long vector
// costs hardly more than its own length.
#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/algorithms/circulant_blocks.hpp"

using namespace poe;
using namespace poe::collectives;

TEST_CASE("in a phase a member receives one new segment and all old ones but one") {
    for (const std::uint32_t n : {2u, 3u, 7u, 16u, 17u, 100u, 255u, 257u, 1000u, 4096u, 5000u}) {
        const CirculantBlocks blocks(n);
        const auto q = static_cast<std::int32_t>(blocks.rounds());
        REQUIRE(q == log2_up(n));
        for (std::uint32_t member = 1; member < n; ++member) {
            CAPTURE(n, member);
            const std::vector<std::int32_t> received = blocks.received(member);
            const std::int32_t base = *std::max_element(received.begin(), received.end());
            std::set<std::int32_t> wanted{base};
            for (std::int32_t old = -q; old < 0; ++old) wanted.insert(old);
            wanted.erase(base - q);
            REQUIRE(base >= 0);
            REQUIRE(std::set<std::int32_t>(received.begin(), received.end()) == wanted);
            // What it sends it has: from an earlier round of this phase, or as its base segment.
            for (std::uint32_t k = 0; k < blocks.rounds(); ++k) {
                const std::uint32_t to = (member + blocks.distance(k)) % n;
                if (to == 0) continue;
                const std::int32_t sent = blocks.received(to)[k];
                const auto here = received.begin() + k;
                REQUIRE((sent == base - q || std::find(received.begin(), here, sent) != here));
            }
        }
    }
}

TEST_CASE("a broadcast in segments takes the vector and log n segments more, for any n") {
    for (std::uint32_t n = 2; n <= 300; ++n) {
        Shape shape;
        shape.operation = Operation::kBcast;
        shape.n = n;
        shape.root = static_cast<Rank>(n / 3);
        for (const std::uint32_t segments : {1u, 2u, 9u, 40u}) {
            shape.bytes = segments;  // of one byte
            CAPTURE(n, segments);
            const Generator generate = bcast_circulant(shape, segments);
            const auto log = static_cast<std::uint64_t>(log2_up(n));
            REQUIRE(count(n, generate).c2 == segments + log - 1);
            REQUIRE(verify(shape, generate) == "");
        }
    }
}
