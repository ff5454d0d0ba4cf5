// The phases of many-to-many communications, and the index algorithms that use them.
#include "collectives/schedule/phases.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "collectives/mpsim/simulator.hpp"
#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/chooser.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

constexpr Bytes kMegabyte = 1 << 20;
constexpr Bytes kTen = 10 << 10;

// The messages of figure 3 of the CC-MPI paper, in the order of its text.
std::vector<PhasedMessage> figure_3() {
    return {{0, 1, kMegabyte}, {1, 3, kMegabyte}, {0, 2, kTen},
            {2, 3, 100},       {1, 5, 100},       {2, 1, 100}};
}

Shape irregular(std::uint32_t n, unsigned seed) {
    std::minstd_rand random(seed);
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = n;
    shape.matrix.resize(std::size_t{n} * n);
    for (Bytes& bytes : shape.matrix) bytes = random() % 3 == 0 ? 0 : random() % 12;
    return shape;
}

// Describes the first rule that the phases break; empty: none.
std::string wrong_with(std::uint32_t n, const std::vector<PhasedMessage>& messages,
                       const std::vector<Phase>& phases, Bytes threshold) {
    std::vector<std::uint32_t> seen(std::size_t{n} * n);
    for (const PhasedMessage& each : messages) ++seen[std::size_t{each.from} * n + each.to];
    for (std::size_t k = 0; k < phases.size(); ++k) {
        if (phases[k].empty()) return "a phase is empty";
        std::vector<int> out(n);
        std::vector<int> in(n);
        Bytes longest = 0;
        bool conflict = false;
        for (const PhasedMessage& each : phases[k]) {
            if (seen[std::size_t{each.from} * n + each.to]-- != 1)
                return "a message is there twice";
            conflict = conflict || ++out[each.from] > 1 || ++in[each.to] > 1;
            longest = std::max(longest, each.bytes);
        }
        const bool last_short = k + 1 == phases.size() && longest < threshold;
        if (conflict && !last_short) return "two messages of a phase compete";
        if (longest < threshold && !last_short) return "short messages form several phases";
    }
    for (const std::uint32_t count : seen) {
        if (count != 0) return "a message is missing";
    }
    return {};
}

}  // namespace

TEST_CASE("figure 3: the phases of both methods") {
    const std::vector<Phase> greedy{{{0, 1, kMegabyte}, {1, 3, kMegabyte}},
                                    {{0, 2, kTen}, {2, 3, 100}, {1, 5, 100}},
                                    {{2, 1, 100}}};
    const std::vector<Phase> all_to_all{{{0, 1, kMegabyte}, {2, 3, 100}, {1, 5, 100}},
                                        {{1, 3, kMegabyte}, {0, 2, kTen}, {2, 1, 100}}};
    CHECK(greedy_phases(6, figure_3(), 0) == greedy);
    CHECK(all_to_all_phases(6, figure_3(), 0) == all_to_all);
    CHECK(bytes_in_order(6, greedy) == kMegabyte + kTen + 100);
    CHECK(bytes_in_order(6, all_to_all) == 2 * kMegabyte);
}

TEST_CASE("figure 3 with a threshold: short messages form one last phase") {
    const std::vector<Phase> phases = greedy_phases(6, figure_3(), 1000);
    REQUIRE(phases.size() == 2 + 1);
    CHECK(phases[2] == Phase{{2, 1, 100}});
    const std::vector<Phase> two = greedy_phases(6, figure_3(), kTen + 1);
    REQUIRE(two.size() == 2);
    CHECK(two[1] == Phase{{0, 2, kTen}, {2, 3, 100}, {1, 5, 100}, {2, 1, 100}});
    CHECK(greedy_phases(6, figure_3(), 2 * kMegabyte).size() == 1);
    CHECK(all_to_all_phases(6, figure_3(), 2 * kMegabyte).size() == 1);
    CHECK(greedy_phases(6, {}, 0).empty());
}

TEST_CASE("figure 2: all to all needs one phase for each distance") {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = 6;
    shape.bytes = 7;
    const std::vector<Phase> phases = all_to_all_phases(6, messages_between(shape), 0);
    REQUIRE(phases.size() == 5);
    for (std::uint32_t i = 0; i < 5; ++i) {
        Phase expected;
        for (std::uint32_t j = 0; j < 6; ++j) expected.push_back({j, (j + i + 1) % 6, 7});
        CHECK(phases[i] == expected);
    }
}

TEST_CASE("random patterns: no phase has a conflict, and all-to-all needs at most n - 1 phases") {
    for (std::uint32_t n = 1; n <= 33; ++n) {
        const Shape shape = irregular(n, n);
        const std::vector<PhasedMessage> messages = messages_between(shape);
        for (const Bytes threshold : {Bytes{0}, Bytes{4}, Bytes{100}}) {
            CAPTURE(n, threshold);
            CHECK(wrong_with(n, messages, greedy_phases(n, messages, threshold), threshold) == "");
            const auto all_to_all = all_to_all_phases(n, messages, threshold);
            CHECK(wrong_with(n, messages, all_to_all, threshold) == "");
            CHECK(all_to_all.size() <= std::max(n, 2u) - 1);
        }
    }
}

TEST_CASE("phased schedules move every byte to its place and end") {
    for (std::uint32_t n = 1; n <= 33; ++n) {
        const Shape shape = irregular(n, 100 + n);
        for (const char* name : {"pieces", "phased", "phased-barrier", "greedy", "all-to-all"}) {
            for (const double limit : {0.0, 1.0, 5.0, 100.0}) {
                CAPTURE(n, name, limit);
                const Algorithm* algorithm = find_algorithm(Operation::kIndex, name);
                REQUIRE(algorithm != nullptr);
                if (limit == 0 && !algorithm->fits(shape, limit)) continue;
                REQUIRE(algorithm->fits(shape, limit));
                const Generator generate = algorithm->make(shape, limit);
                CHECK(verify(shape, generate) == "");
                const Simulation simulated = simulate(n, generate, MessageModel::linear(1, 0.01));
                CHECK(simulated.fault == "");
            }
        }
    }
}

// In a phase that a signal opens, a rank never receives two blocks at the same time.
TEST_CASE("signals and barriers keep blocks of different phases apart") {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = 9;
    shape.bytes = 1000;
    for (const Separation separation : {Separation::kSignals, Separation::kBarriers}) {
        std::vector<std::vector<SimulatedMessage>> received(shape.n);
        simulate(shape.n, index_phased(shape, 0, separation), MessageModel::linear(1, 0.01),
                 [&](const SimulatedMessage& message) {
                     if (message.bytes > 0)
                         received[static_cast<std::size_t>(message.to)].push_back(message);
                 });
        for (auto& messages : received) {
            REQUIRE(messages.size() == shape.n - 1);
            std::sort(messages.begin(), messages.end(),
                      [](const auto& a, const auto& b) { return a.sent < b.sent; });
            for (std::size_t i = 1; i < messages.size(); ++i)
                CHECK(messages[i].sent >= messages[i - 1].received);
        }
    }
}

TEST_CASE("blocks shorter than a piece cause no signals") {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = 5;
    shape.bytes = 10;
    const auto signals = [&](Bytes limit) {
        Schedule schedule;
        index_phased(shape, limit, Separation::kSignals)(2, schedule);
        std::size_t count = 0;
        for (const Step& step : schedule.steps()) count += step.is_message() && step.length == 0;
        return count;
    };
    CHECK(signals(11) == 0);
    // A signal in each phase but the first, in each direction.
    CHECK(signals(10) == 2 * 3);
    // Two pieces: only the first phase of the first piece has no signal.
    CHECK(signals(5) == 2 * 7);
}

// A member knows the lengths of its own blocks only, so the choice must not depend on them.
TEST_CASE("all members choose alike for an irregular index") {
    const Tuning tuning = built_in_tuning(2);
    for (const Bytes bytes : {Bytes{0}, Bytes{8}, Bytes{1} << 20}) {
        Shape shape;
        shape.operation = Operation::kIndex;
        shape.n = 4;
        shape.matrix.assign(16, bytes);
        CHECK(choose(catalogue(), shape, tuning, {}).text() == "pairwise:0");
        shape.nodes = {0, 1, 2, 3};
        CHECK(choose(catalogue(), shape, tuning, {}).text() == "pieces:32768");
    }
}

TEST_CASE("over a network, long blocks go in pieces and short ones do not") {
    const Tuning tuning = built_in_tuning(2);
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = 16;
    for (std::uint32_t node = 0; node < 16; ++node) shape.nodes.push_back(node);
    for (const Bytes bytes : {64u << 10, 256u << 10}) {
        shape.bytes = bytes;
        CHECK(choose(catalogue(), shape, tuning, {}).text() == "pieces:32768");
    }
    shape.bytes = 16 << 10;
    CHECK(choose(catalogue(), shape, tuning, {}).text() == "pairwise:0");
    shape.operation = Operation::kConcat;
    shape.bytes = 64 << 10;
    CHECK(choose(catalogue(), shape, tuning, {}).text() == "pieces:32768");
    shape.bytes = 1 << 10;
    CHECK(choose(catalogue(), shape, tuning, {}).text() != "pieces:32768");
}
