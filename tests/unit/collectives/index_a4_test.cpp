// Irregular all-to-all: the claims of paper 4.
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/algorithms/staged_index.hpp"
#include "collectives/selection/catalogue.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

Shape irregular(std::uint32_t n, std::uint32_t unit, std::uint32_t most, unsigned seed) {
    std::minstd_rand random(seed);
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = n;
    shape.matrix.resize(std::size_t{n} * n);
    for (Bytes& bytes : shape.matrix) bytes = random() % 4 == 0 ? Bytes{random() % most} * unit : 0;
    return shape;
}

Bytes most_traffic(const Shape& shape) {
    Bytes most = 0;
    for (std::uint32_t r = 0; r < shape.n; ++r) {
        Bytes out = 0;
        Bytes in = 0;
        for (std::uint32_t other = 0; other < shape.n; ++other) {
            out += shape.between(r, other);
            in += shape.between(other, r);
        }
        most = std::max({most, out, in});
    }
    return most;
}

}  // namespace

TEST_CASE("figure 10: the priority schedule for 61 ranks") {
    const RankArray array(61);
    REQUIRE(array.columns == 8);
    REQUIRE(array.rows == 8);
    REQUIRE(array.rest == 5);
    // Who receives from the ranks 16 .. 23 and 58, step by step.
    const std::string expected =
        "17 18 19 20 21 22 23 16 59\n"
        "18 19 20 21 22 23 16 17 60\n"
        "19 20 X 22 23 16 17 18 21\n"
        "20 X 21 23 16 17 18 19 22\n"
        "X 21 22 16 17 18 19 20 23\n"
        "21 22 23 17 18 19 20 X 56\n"
        "22 23 16 18 19 20 X 21 57\n"
        "23 16 17 19 20 X 21 22 58\n"
        "16 17 18 - - 21 22 23 -\n";
    std::string table;
    for (int step = 1; step <= 9; ++step) {
        for (const std::uint32_t rank : {16u, 17u, 18u, 19u, 20u, 21u, 22u, 23u, 58u}) {
            std::string cell = step < 9 ? "X" : "-";
            for (std::uint32_t column = 0; column < 8; ++column) {
                if (array.step(rank, column) == step)
                    cell = std::to_string(array.via(rank, column));
            }
            table += cell + (rank == 58 ? "\n" : " ");
        }
    }
    CHECK(table == expected);
}

TEST_CASE("all forms move every byte to its place, whatever the number of ranks") {
    for (std::uint32_t n = 1; n <= 40; ++n) {
        const Shape shape = irregular(n, 1, 9, n);
        for (const Algorithm& algorithm : catalogue()) {
            if (algorithm.operation != Operation::kIndex) continue;
            for (const double parameter : {0.0, 1.0, 2.0}) {
                if (!algorithm.fits(shape, parameter)) continue;
                CAPTURE(n, algorithm.name, parameter);
                CHECK(verify(shape, algorithm.make(shape, parameter)) == "");
                if (algorithm.parameter == nullptr) break;
            }
        }
    }
}

TEST_CASE("no rank of the four-stage algorithm gets two messages in one step") {
    for (std::uint32_t n = 2; n <= 66; ++n) {
        const Shape shape = irregular(n, n, 3, n);
        INFO(n);
        CHECK(verify_one_port(n, index_a4(shape, StagedForm::kBlocking)) == "");
    }
}

TEST_CASE("the forms of the four-stage algorithm differ in their waits and buffers") {
    for (const std::uint32_t n : {9u, 16u, 25u, 40u, 61u}) {
        const Shape shape = irregular(n, n, 3, n);
        const auto waits_and_bytes = [&](StagedForm form) {
            Schedule schedule;
            index_a4(shape, form)(1, schedule);
            std::size_t waits = 0;
            for (const Step& step : schedule.steps()) waits += step.kind == StepKind::kWait ? 1 : 0;
            return std::pair(waits, schedule.work_bytes());
        };
        const auto [blocking, bytes] = waits_and_bytes(StagedForm::kBlocking);
        const auto [single, single_bytes] = waits_and_bytes(StagedForm::kSingleBuffer);
        const auto [dual, dual_bytes] = waits_and_bytes(StagedForm::kDualBuffer);
        CAPTURE(n, blocking, single, dual, bytes, single_bytes, dual_bytes);
        // One for each stage; for each message that has come; for each step.
        CHECK(single <= 4 + 1);
        CHECK(dual > 2 * single);
        CHECK(blocking > single);
        CHECK(bytes == single_bytes);
        CHECK(dual_bytes > single_bytes);
    }
}

TEST_CASE("lemma 1 and 3, theorem 1: messages and buffers of the four-stage algorithm") {
    for (std::uint32_t n = 2; n <= 130; ++n) {
        // Every message can be cut into n equal slices, as in the paper. Of the larger arrays other
        // ranks for each n: building all schedules takes n^3 steps.
        Shape shape = irregular(n, n, 3, n);
        const Bytes traffic = most_traffic(shape);
        const RankArray array(n);
        std::uint32_t root = 1;
        while (root * root < n) ++root;
        const std::uint32_t stride = n <= 48 ? 1 : n / 12;
        for (const StagedForm form :
             {StagedForm::kBlocking, StagedForm::kSingleBuffer, StagedForm::kDualBuffer}) {
            const Generator generate = index_a4(shape, form);
            // The theorem's buffers are one to send from and one to receive into; a second one to
            // send from makes three.
            const Bytes buffers = form == StagedForm::kDualBuffer ? 3 : 2;
            // Each starts on a cache line of its own.
            const Bytes bound = buffers * (Bytes{root} * root * traffic / n + 64);
            Schedule schedule;
            for (std::uint32_t rank = n % stride; rank < n; rank += stride) {
                schedule.clear();
                generate(static_cast<Rank>(rank), schedule);
                const bool complete = array.height(array.column(rank)) == array.rows;
                std::uint32_t received[4] = {};
                const int first[4] = {0, static_cast<int>(array.columns) + 1,
                                      static_cast<int>(array.columns + array.rows) + 1,
                                      static_cast<int>(2 * array.columns + array.rows) + 2};
                for (const Step& step : schedule.steps()) {
                    if (step.kind != StepKind::kReceive) continue;
                    int stage = 3;
                    while (step.round < first[stage]) --stage;
                    ++received[stage];
                    const Bytes slices = complete ? root : stage % 2 == 0 ? root - 1 : root + 1;
                    if (step.length * n > slices * traffic) {
                        CAPTURE(n, rank, stage, step.length, traffic);
                        FAIL("a message is longer than lemma 3 allows");
                    }
                }
                for (int stage = 0; stage < 4; ++stage) {
                    const std::uint32_t most = complete || stage % 2 != 0 ? root : root + 1;
                    if (received[stage] > most) {
                        CAPTURE(n, rank, stage, received[stage]);
                        FAIL("more messages than lemma 1 allows");
                    }
                }
                if (schedule.work_bytes() > bound) {
                    CAPTURE(n, rank, static_cast<int>(form), schedule.work_bytes(), bound);
                    FAIL("more buffer memory than theorem 1 allows");
                }
            }
        }
    }
    SUCCEED();
}
