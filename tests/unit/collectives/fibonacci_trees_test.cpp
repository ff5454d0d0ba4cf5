// The trees of the Fibonacci broadcast: every member gets every packet once, at most one in a
// round, and the rounds are within the bound of the paper.
#include "collectives/schedule/algorithms/fibonacci_trees.hpp"

#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

void check(std::uint32_t n, const FibonacciTrees& trees) {
    const std::uint32_t k = trees.trees();
    CAPTURE(n, k);
    std::uint32_t wrong = 0;
    for (std::uint32_t member = 0; member < n; ++member) {
        std::set<std::uint32_t> trees_received;
        std::set<std::uint32_t> in;
        std::set<std::uint32_t> out;
        std::uint32_t earliest[16] = {};
        for (const auto& each : trees.received(member)) {
            trees_received.insert(each.tree);
            in.insert(each.round % k);
            earliest[each.tree] = each.round + 1;
        }
        for (const auto& each : trees.sent(member)) {
            out.insert(each.round % k);
            wrong += each.round < earliest[each.tree] || each.peer == 0 ? 1 : 0;
        }
        wrong += trees_received.size() != (member == 0 ? 0 : k) ? 1 : 0;
        wrong += in.size() != trees.received(member).size() ? 1 : 0;
        wrong += out.size() != trees.sent(member).size() ? 1 : 0;
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every member gets one packet of each tree, at most one in a round") {
    for (std::uint32_t n = 2; n <= 130; ++n) {
        for (std::uint32_t k = 1; k < n && k <= 9; ++k) check(n, FibonacciTrees(n, k));
    }
    for (const std::uint32_t n : {255u, 256u, 257u, 511u, 700u, 1024u}) check(n, FibonacciTrees(n));
}

TEST_CASE("the broadcast stays below the bound of the CCL paper") {
    for (std::uint32_t n = 2; n <= 1024; n += n < 200 ? 1 : 59) {
        const double log = std::log2(n);
        const double bound = log + 3 * std::log2(std::max(log, 1.0)) + 15;
        CAPTURE(n);
        // m packets need m + delay rounds.
        CHECK(FibonacciTrees(n).delay() <= bound);
        for (const std::uint32_t segments : {1u, 7u, 40u}) {
            if (n > 64 && n % 16 != 0) continue;
            Shape shape;
            shape.operation = Operation::kBcast;
            shape.n = n;
            shape.bytes = segments;
            const Generator generate = bcast_fibonacci(shape, segments);
            CHECK(double(count(n, generate).c1) <= segments + bound);
            if (n <= 64) CHECK(verify_one_port(n, generate) == "");
        }
    }
}

TEST_CASE("a Fibonacci tree grows by the sum of the last k rounds") {
    // With two trees, the inner members of a tree are as many as Fibonacci's numbers: the member
    // that receives in round t sends in the rounds t + 1 and t + 2.
    const FibonacciTrees trees(41, 2);
    std::uint32_t new_ones[16] = {};
    for (std::uint32_t member = 1; member < 41; member += 2)
        for (const auto& each : trees.received(member))
            if (each.tree == 0 && each.round < 16) ++new_ones[each.round];
    const std::uint32_t expected[] = {1, 1, 2, 3, 5};
    for (std::uint32_t t = 0; t < 5; ++t) CHECK(new_ones[t] == expected[t]);
}
