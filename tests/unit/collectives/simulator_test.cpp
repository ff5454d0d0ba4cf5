// The simulator against times that can be worked out by hand.
#include "collectives/mpsim/simulator.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "collectives/mpsim/message_drawing.hpp"
#include "collectives/schedule/postal.hpp"
#include "collectives/selection/catalogue.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

Shape shape_of(Operation operation, std::uint32_t n, Bytes bytes) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = bytes;
    shape.element = 1;
    shape.commutative = true;
    shape.exact = true;
    shape.step = 1;
    return shape;
}

Simulation run(const Shape& shape, const char* name, double number, const MessageModel& model) {
    const Choice choice{find_algorithm(shape.operation, name), number};
    REQUIRE(choice.algorithm != nullptr);
    return simulate(shape.n, choice.make(shape), model);
}

bool near(double a, double b) {
    return std::abs(a - b) < 1e-6 * (1 + std::abs(b));
}

}  // namespace

TEST_CASE("in the linear model the regular algorithms take C1 ts + C2 tc") {
    const MessageModel model = MessageModel::linear(10, 0.5);
    struct Row {
        Operation operation;
        const char* name;
        double number;
    };
    const Row rows[] = {{Operation::kBcast, "binomial", 0},    {Operation::kBcast, "edst", 16},
                        {Operation::kCombine, "butterfly", 0}, {Operation::kCombine, "halving", 0},
                        {Operation::kCombine, "ring", 0},      {Operation::kConcat, "circulant", 0},
                        {Operation::kConcat, "exchange", 0},   {Operation::kIndex, "radix", 4},
                        {Operation::kReduce, "binomial", 0},   {Operation::kScatter, "binomial", 0},
                        {Operation::kPrefix, "butterfly", 0}};
    for (const Row& row : rows) {
        const Shape shape = shape_of(row.operation, 16, 64);
        const Simulation result = run(shape, row.name, row.number, model);
        INFO(name_of(row.operation) << " " << row.name);
        CHECK(result.fault.empty());
        CHECK(near(result.time, 10.0 * static_cast<double>(result.counts.c1) +
                                    0.5 * static_cast<double>(result.counts.c2)));
        const Choice choice{find_algorithm(row.operation, row.name), row.number};
        CHECK(result.counts == choice.algorithm->counts(shape, row.number));
        CHECK(result.counts == count(16, choice.make(shape)));
    }
}

TEST_CASE("in the postal model a lambda tree takes T_lambda(n)") {
    for (const double value : {1.0, 1.8, 2.0, 3.0}) {
        const Lambda lambda = Lambda::nearest(value);
        for (const std::uint32_t n : {2u, 8u, 61u, 300u}) {
            const PostalTimes times(lambda, n);
            const double earliest = static_cast<double>(times.time(n)) / lambda.unit;
            const MessageModel model = MessageModel::postal(1, 0, value);
            const Shape shape = shape_of(Operation::kBcast, n, 8);
            CHECK(near(run(shape, "greedy", value, model).time, earliest));
            CHECK(near(run(shape, "lambda", value, model).time, earliest));
            CHECK(run(shape, "binomial", 0, model).time >= earliest - 1e-9);
        }
    }
}

// The integer lambda for which the schedule was made is the lambda of the model: nothing is
// delayed.
TEST_CASE("in the postal model a census takes combine_time()") {
    for (const double lambda : {1.0, 2.0, 3.0, 5.0}) {
        for (const std::uint32_t n : {2u, 8u, 13u, 61u, 200u}) {
            CAPTURE(lambda, n);
            const Shape shape = shape_of(Operation::kCombine, n, 8);
            CHECK(near(run(shape, "census", lambda, MessageModel::postal(1, 0, lambda)).time,
                       combine_time(lambda, n)));
        }
    }
    // Between two integers, the simulated ranks do not delay anything, and are never later.
    for (const double lambda : {1.3, 1.6, 2.4, 2.7}) {
        for (const std::uint32_t n : {8u, 61u, 200u}) {
            CAPTURE(lambda, n);
            const Shape shape = shape_of(Operation::kCombine, n, 8);
            CHECK(run(shape, "census", lambda, MessageModel::postal(1, 0, lambda)).time <=
                  combine_time(lambda, n) + 1e-6);
        }
    }
}

TEST_CASE("with k ports, concat and index take as many rounds as the base k + 1 says") {
    for (const std::uint32_t ports : {1u, 2u, 3u, 7u}) {
        for (const std::uint32_t n : {2u, 9u, 16u, 27u, 61u}) {
            CAPTURE(ports, n);
            std::uint32_t rounds = 0;
            for (std::uint64_t ranks = 1; ranks < n; ranks *= ports + 1) ++rounds;
            MessageModel model = MessageModel::linear(10, 0.5);
            model.ports = ports;
            const Shape concat = shape_of(Operation::kConcat, n, 64);
            const Simulation result = run(concat, "multiport", ports, model);
            CHECK(result.counts.c1 == rounds);
            CHECK(result.counts.c2 == (n - 1 + ports - 1) / ports * 64);
            CHECK(near(result.time,
                       10.0 * double(result.counts.c1) + 0.5 * double(result.counts.c2)));
            const Shape index = shape_of(Operation::kIndex, n, 64);
            const Simulation other = run(index, "multiport", ports, model);
            CHECK(other.counts.c1 == rounds);
            CHECK(near(other.time, 10.0 * double(other.counts.c1) + 0.5 * double(other.counts.c2)));
            // A rank with one port sends the messages of a round one after the other.
            model.ports = 1;
            if (ports > 1 && n > 2)
                CHECK(run(concat, "multiport", ports, model).time > result.time + 1);
        }
    }
}

// Figure 14 of the postal paper: a lambda tree over ranks in the order of the rows of a mesh has no
// two messages on a link at the same time; in a random order it has.
TEST_CASE("on a mesh the order of the rows is free of congestion") {
    for (const double lambda : {1.0, 1.5, 2.0, 3.0}) {
        const MessageModel model = MessageModel::postal(70, 0.08, lambda);
        const Choice choice{find_algorithm(Operation::kBcast, "lambda"), lambda};
        double slowest = 0;
        for (const std::uint32_t source : {0u, 13u, 40u, 63u}) {
            const Generator generate = choice.make(shape_of(Operation::kBcast, 64, 65536));
            const double alone = simulate(64, generate, model).time;
            CAPTURE(lambda, source);
            // From the source on, and around the end.
            SimulatedMesh rows = mesh_in_order(8, 8);
            for (std::uint32_t& place : rows.place_of) place = (place + source) % 64;
            CHECK(near(simulate(64, generate, model, {}, {}, {}, rows).time, alone));
            for (unsigned seed = 1; seed <= 5; ++seed) {
                const double shuffled =
                    simulate(64, generate, model, {}, {}, {}, mesh_at_random(8, 8, seed)).time;
                CHECK(shuffled >= alone - 1e-6);
                slowest = std::max(slowest, shuffled / alone);
            }
        }
        CHECK(slowest > 1.05);
    }
}

// Two messages that share one link of a row wait for each other; opposite directions do not.
TEST_CASE("messages on one link of a mesh go one after the other") {
    const auto pair_of = [](Rank a, Rank b, Rank c, Rank d) {
        return Generator([=](Rank rank, Schedule& into) {
            const Place place{Buffer::kOutput, 0};
            if (rank == a) into.send(b, place, 100, 0);
            if (rank == c) into.send(d, place, 100, 0);
            if (rank == b) into.receive(a, place, 100, 0);
            if (rank == d) into.receive(c, place, 100, 0);
            into.wait();
        });
    };
    const MessageModel model = MessageModel::linear(1, 0.1);
    const auto time = [&](const Generator& generate) {
        return simulate(12, generate, model, {}, {}, {}, mesh_in_order(3, 4)).time;
    };
    CHECK(near(time(pair_of(0, 3, 4, 7)), 11));  // different rows
    CHECK(near(time(pair_of(0, 2, 1, 3)), 22));  // the link from 1 to 2
    CHECK(near(time(pair_of(0, 2, 3, 1)), 11));  // opposite directions
    CHECK(near(time(pair_of(0, 5, 1, 9)), 22));  // first along the row, then both down from 1
}

TEST_CASE("LogGP: one message, and many to one port") {
    const double L = 5;
    const double G = 0.01;
    for (const double o : {2.0, 3.5}) {
        for (const double g : {0.5, 3.0}) {
            for (const Bytes bytes : {1u, 100u, 1000u}) {
                CAPTURE(o, g, bytes);
                const MessageModel model = MessageModel::loggp(L, o, g, G);
                const double stretch = static_cast<double>(bytes - 1) * G;
                const double one = o + stretch + L + o;
                const double apart = std::max(o, g + stretch);
                const Shape pair = shape_of(Operation::kBcast, 2, bytes);
                CHECK(near(run(pair, "binomial", 0, model).time, one));
                const Shape scatter = shape_of(Operation::kScatter, 9, bytes);
                CHECK(near(run(scatter, "direct", 0, model).time, 7 * apart + one));
                // All are on the way at once, and come in one by one.
                const Shape gather = shape_of(Operation::kGather, 9, bytes);
                CHECK(near(run(gather, "direct", 0, model).time, 7 * apart + one));
            }
        }
    }
    // Messages without data keep their distance, too.
    const Generator signals = [](Rank rank, Schedule& into) {
        for (int i = 0; i < 3; ++i) rank == 0 ? into.signal(1, i) : into.await_signal(0, i);
        into.wait();
    };
    CHECK(near(simulate(2, signals, MessageModel::loggp(L, 1, 4, G)).time, 2 * 4 + 1 + L + 1));
}

TEST_CASE("ranks that share nodes") {
    const MessageModel model = MessageModel::linear(10, 1);
    const SimulatedNodes nodes{{0, 0, 1, 1}, MessageModel::linear(1, 0.5)};
    const auto time = [&](const Shape& shape, const char* name) {
        const Choice choice{find_algorithm(shape.operation, name), 0};
        const Simulation result = simulate(4, choice.make(shape), model, {}, nodes);
        CHECK(result.fault.empty());
        return result.time;
    };
    // To the leader of the other node, and from both leaders to the other rank.
    Shape bcast = shape_of(Operation::kBcast, 4, 8);
    bcast.nodes = nodes.node_of;
    CHECK(near(time(bcast, "two-level"), 10 + 8 + 1 + 4));
    // Start-ups at once, and then 8 bytes of one rank and 8 of the other through the cable.
    Shape across = shape_of(Operation::kShift, 4, 8);
    across.step = 2;
    across.circular = true;
    CHECK(near(time(across, "direct"), 10 + 8 + 8));
    Shape next = across;
    next.step = 1;
    CHECK(near(time(next, "direct"), 10 + 8));
    // Who is first in the list may be late: others have the cable before.
    const Generator late = [](Rank rank, Schedule& into) {
        const Place block{Buffer::kScratch, 0};
        if (rank == 0) {
            into.receive(1, block, 100, 0);
            into.wait();
            into.send(2, block, 4, 1);
        } else if (rank == 1) {
            into.send(3, block, 4, 0);
            into.send(0, block, 100, 0);
        } else {
            into.receive(rank - 2, block, 4, rank == 2 ? 1 : 0);
        }
        into.wait();
    };
    const Simulation result = simulate(4, late, model, {}, nodes);
    CHECK(result.fault.empty());
    CHECK(near(result.time, 14 + 51 + 14));
}

TEST_CASE("ranks that share cores") {
    const MessageModel model = MessageModel::linear(3, 0.5);
    for (const Algorithm& algorithm : catalogue()) {
        for (const std::uint32_t n : {2u, 3u, 8u, 13u, 16u}) {
            Shape shape = shape_of(algorithm.operation, n, 40);
            shape.circular = true;
            const Choice choice{&algorithm, algorithm.fallback(shape)};
            if (!algorithm.fits(shape, choice.parameter)) continue;
            INFO(name_of(shape.operation) << " " << choice.text() << " of " << n);
            const Generator generate = choice.make(shape);
            const auto with = [&](std::uint32_t cores, double turn) {
                const Simulation result = simulate(n, generate, model, {}, {}, {cores, turn});
                CHECK(result.fault.empty());
                return result;
            };
            // A core each is as good as the own one. (Where messages meet at a port the one that
            // came first has it here, there the one that is waited for first.)
            const double alone = simulate(n, generate, model).time;
            const bool meet = n == 13 || choice.text() == "greedy:0";
            if (!meet) CHECK(near(with(n, 7).time, alone));
            // One core is never idle: what it waits for was sent by itself.
            const Simulation one = with(1, 0);
            const double work =
                3.0 * static_cast<double>(one.messages) + 0.5 * static_cast<double>(one.counts.c3);
            CHECK(near(one.time, work));
            CHECK(with(1, 2).time >= work + 2 * (n - 1));
            const double two = with(2, 0).time;
            CHECK(two >= work / 2 - 1e-9);
            CHECK(two <= work + 1e-9);
        }
    }
    // Pieces cost something, too.
    Shape copies = shape_of(Operation::kIndex, 4, 8);
    MessageModel pieces;
    pieces.work_per_piece = 10;
    const Choice pairwise{find_algorithm(Operation::kIndex, "pairwise"), 0};
    CHECK(near(simulate(4, pairwise.make(copies), pieces).time, 10));
}

TEST_CASE("schedules that never end are told") {
    const Generator waits = [](Rank rank, Schedule& into) {
        if (rank == 1) into.receive(0, {Buffer::kOutput, 0}, 1, 0);
        into.wait();
    };
    for (const std::uint32_t cores : {0u, 1u}) {
        const Simulation result =
            simulate(2, waits, MessageModel::linear(1, 0), {}, {}, {cores, 1});
        CHECK(result.fault == "rank 1 waits forever");
    }
}

TEST_CASE("drawings") {
    std::vector<SimulatedMessage> messages;
    const auto drawn = [&](Operation operation, const char* name, Rank root = 0) {
        Shape shape = shape_of(operation, 4, 8);
        shape.root = root;
        const Choice choice{find_algorithm(operation, name), 0};
        messages.clear();
        simulate(4, choice.make(shape), MessageModel::linear(1, 0),
                 [&](const SimulatedMessage& each) { messages.push_back(each); });
        return messages_text(shape, messages);
    };
    CHECK(drawn(Operation::kReduce, "binomial") == "0\n   1 at 1\n   2 at 2\n      3 at 1\n");
    CHECK(drawn(Operation::kGather, "direct", 2) == "2\n   3 at 1\n   0 at 2\n   1 at 3\n");
    const std::string rounds = "at 1: 1 to 0, 3 to 2\nat 2: 2 to 0\nat 3: 0 to 2\n";
    CHECK(drawn(Operation::kCombine, "tree") == rounds + "at 4: 0 to 1, 2 to 3\n");
    CHECK(drawn(Operation::kSync, "tree") == rounds + "at 4: 0 to 1, 2 to 3\n");
    CHECK(drawn(Operation::kConcat, "ring").starts_with("at 1: 0 to 1, 1 to 2, 2 to 3, 3 to 0\n"));
    CHECK(drawn(Operation::kBcast, "binomial") == "0\n   2 at 1\n      3 at 2\n   1 at 2\n");
    const std::string svg = messages_svg(4, 2, messages);
    CHECK(svg.find("<svg ") == 0);
    CHECK(svg.find("2 to 3, 8 bytes, 1 to 2") != std::string::npos);
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("a hundred thousand ranks") {
    const Shape shape = shape_of(Operation::kCombine, 100'000, 8);
    const Simulation result = run(shape, "butterfly", 0, MessageModel::linear(1, 0));
    CHECK(result.fault.empty());
    CHECK(near(result.time, 18));
}
