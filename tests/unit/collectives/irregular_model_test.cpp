// The model of the irregular all-to-all paper (Liu, Wang, Prasanna) against the simulator:
// equations 1 to 4, Theorem 2, tables 3 and 4, and the order of the algorithms in its figures.
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "collectives/mpsim/simulator.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/selection/catalogue.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

// The SP2 of the paper's table 1: microseconds, and microseconds per byte.
constexpr double kStartUp = 44;
constexpr double kPerByte = 0.035;  // tc + td
constexpr Bytes kElement = 22;

Shape irregular(std::uint32_t n) {
    Shape shape;
    shape.operation = Operation::kIndex;
    shape.n = n;
    shape.matrix.resize(std::size_t{n} * n);
    shape.whole_matrix = true;
    return shape;
}

// Figure 14: one rank, chosen at random for each sender, gets `most` elements and all others one.
Shape one_spike(std::uint32_t n, Bytes most, unsigned seed) {
    std::minstd_rand random(seed);
    Shape shape = irregular(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t spike = random() % n;
        for (std::uint32_t j = 0; j < n; ++j)
            shape.matrix[std::size_t{i} * n + j] = (j == spike ? most : 1) * kElement;
    }
    return shape;
}
// Figure 14: rank i has `most` elements for the rank at the mirrored place of the square array.
Shape transpose(std::uint32_t side, Bytes most) {
    const std::uint32_t n = side * side;
    Shape shape = irregular(n);
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j)
            shape.matrix[std::size_t{i} * n + j] =
                (j == i % side * side + i / side ? most : 1) * kElement;
    return shape;
}

// The largest traffic of a rank with others, L_max of the paper.
Bytes most_traffic(const Shape& shape) {
    Bytes most = 0;
    for (std::uint32_t r = 0; r < shape.n; ++r) {
        Bytes out = 0;
        Bytes in = 0;
        for (std::uint32_t other = 0; other < shape.n; ++other) {
            if (other == r) continue;
            out += shape.between(r, other);
            in += shape.between(other, r);
        }
        most = std::max({most, out, in});
    }
    return most;
}

double time_of(const Shape& shape, const Generator& generate, const MessageModel& model) {
    const Simulation result = simulate(shape.n, generate, model);
    CHECK(result.fault == "");
    return result.time;
}

double root_up(std::uint32_t n) {
    return std::ceil(std::sqrt(n));
}

MessageModel blocking_model() {
    return MessageModel::linear(kStartUp, kPerByte);
}
// Half of the start-up at each end; the port carries td per byte.
MessageModel nonblocking_model(double start_up, double per_byte) {
    return MessageModel::loggp(0, start_up / 2, per_byte, per_byte);
}

}  // namespace

// A1 sends from the user's buffer and copies its own block only. Therefore it has P - 1 messages,
// and nothing is composed.
TEST_CASE("equation 1: A1 in blocking mode, blocks of one length") {
    for (const std::uint32_t n : {2u, 5u, 16u, 61u}) {
        for (const Bytes bytes : {Bytes{8}, Bytes{10000}}) {
            Shape shape = irregular(n);
            for (Bytes& each : shape.matrix) each = bytes;
            const double equation = (n - 1) * (kStartUp + double(bytes) * kPerByte);
            CHECK(std::abs(time_of(shape, index_pairwise(shape, 1), blocking_model()) - equation) <
                  1e-6 * equation);
        }
    }
}

TEST_CASE("equation 2: A1 in non-blocking mode, blocks of one length") {
    for (const std::uint32_t n : {2u, 5u, 16u, 61u}) {
        // Start-ups dominate, then the data.
        for (const Bytes bytes : {Bytes{8}, Bytes{100'000}}) {
            Shape shape = irregular(n);
            for (Bytes& each : shape.matrix) each = bytes;
            const double one = std::max(kStartUp, double(bytes) * kPerByte);
            const double time =
                time_of(shape, index_pairwise(shape, 0), nonblocking_model(kStartUp, kPerByte));
            CAPTURE(n, bytes, time);
            CHECK(time >= (n - 1) * one - 1e-6);
            // The last message is not hidden by others.
            CHECK(time <= (n - 1) * one + kStartUp + double(bytes) * kPerByte);
        }
    }
}

// The contention factor f of equations 3 and 4 is what the simulated time says it is. It is 1
// without contention and never smaller.
TEST_CASE("equations 3 and 4: irregular blocks, and the contention factor") {
    const auto factor_blocking = [](const Shape& shape) {
        const double time = time_of(shape, index_pairwise(shape, 1), blocking_model());
        return (time - (shape.n - 1) * kStartUp) / (double(most_traffic(shape)) * kPerByte);
    };
    const auto factor_nonblocking = [](const Shape& shape) {
        // The data dominate.
        const double time = time_of(shape, index_pairwise(shape, 0), nonblocking_model(1, 1));
        return time / double(most_traffic(shape));
    };
    Shape equal = irregular(16);
    for (Bytes& each : equal.matrix) each = 1000;
    CHECK(std::abs(factor_blocking(equal) - 1) < 1e-6);
    CHECK(factor_nonblocking(equal) >= 1);
    CHECK(factor_nonblocking(equal) < 1.01);
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        const Shape spikes = one_spike(16, 1024, seed);
        CHECK(factor_blocking(spikes) >= 1 - 1e-9);
        CHECK(factor_nonblocking(spikes) >= 1 - 1e-9);
    }
    // All ranks have a long message in different steps: in blocking mode everybody waits for each
    // of them in turn.
    Shape steps = irregular(16);
    for (std::uint32_t i = 0; i < 16; ++i)
        for (std::uint32_t j = 0; j < 16; ++j)
            steps.matrix[i * 16 + j] = j == (i + 1 + i % 8) % 16 ? 100'000 : 10;
    CHECK(factor_blocking(steps) > 1.5);
    CHECK(factor_nonblocking(steps) < factor_blocking(steps));
}

TEST_CASE("theorem 2: the time of the four-stage algorithm") {
    constexpr double kCopy = 0.01;  // tm; half of it for each of composing and decomposing
    MessageModel model = blocking_model();
    model.work_per_byte = kCopy / 2;
    for (const std::uint32_t n : {4u, 7u, 9u, 16u, 18u, 40u, 61u, 64u}) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            // Every message can be cut into n slices of one length.
            Shape shape = one_spike(n, 50, seed);
            for (Bytes& each : shape.matrix) each *= n;
            Bytes traffic = 0;  // L_max, which includes what a rank keeps
            for (std::uint32_t r = 0; r < n; ++r) {
                Bytes out = 0;
                Bytes in = 0;
                for (std::uint32_t other = 0; other < n; ++other) {
                    out += shape.between(r, other);
                    in += shape.between(other, r);
                }
                traffic = std::max({traffic, out, in});
            }
            const double c = root_up(n);
            const double bound =
                (4 * c + 2) * kStartUp + 4 * (c + 1) * c * double(traffic) / n * (kCopy + kPerByte);
            CAPTURE(n, seed, bound);
            CHECK(time_of(shape, index_a4(shape, StagedForm::kBlocking), model) <= bound);
        }
    }
}

TEST_CASE("tables 3 and 4: messages, traffic, irregularity and buffers of A1 to A4") {
    for (const std::uint32_t side : {2u, 4u, 6u, 8u}) {
        const std::uint32_t n = side * side;
        Shape shape = transpose(side, 64);
        for (Bytes& each : shape.matrix) each *= n;
        Bytes all = 0;
        Bytes longest = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < n; ++j) {
                all += shape.between(i, j);
                longest = std::max(longest, shape.between(i, j));
            }
        }
        const Bytes traffic = most_traffic(shape) + longest;  // a rank may keep its longest block
        struct Row {
            const char* name;
            Generator generate;
            std::uint32_t start_ups;
            Bytes stages;   // every byte is sent at most so many times
            Bytes buffers;  // to send from and to receive into
            bool evens_out;
        };
        const Bytes square = Bytes{side} * side;
        const Row rows[] = {
            {"A1", index_pairwise(shape, 1), n, 1, longest * n + traffic, false},
            {"A2", index_a2(shape, StagedForm::kBlocking), 2 * n, 2, 2 * traffic, true},
            {"A3", index_a3(shape, StagedForm::kBlocking), 2 * side, 2, 2 * longest * n, false},
            {"A4", index_a4(shape, StagedForm::kBlocking), 4 * side + 2, 4,
             2 * square * traffic / n, true},
        };
        for (const Row& row : rows) {
            CAPTURE(row.name, n);
            Bytes sent = 0;
            Bytes longest_sent = 0;
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                Schedule schedule;
                row.generate(static_cast<Rank>(rank), schedule);
                std::uint32_t sends = 0;
                for (const Step& step : schedule.steps()) {
                    if (step.kind != StepKind::kSend) continue;
                    ++sends;
                    sent += step.length;
                    longest_sent = std::max(longest_sent, step.length);
                }
                CHECK(sends <= row.start_ups);
                // Each buffer begins on a cache line of its own.
                CHECK(schedule.work_bytes() <= row.buffers + 2 * 64);
            }
            CHECK(sent <= row.stages * all);
            if (n > 4) CHECK((longest_sent < longest) == row.evens_out);
        }
    }
}

TEST_CASE("A2 and A3 have the blocking and non-blocking forms of A4") {
    // Non-blocking forms start all messages of a stage at once, so that a message start-up hides
    // behind the data of others.
    const Shape shape = one_spike(64, 1024, 3);
    const MessageModel model = nonblocking_model(kStartUp, kPerByte);
    for (const bool a3 : {false, true}) {
        const auto time = [&](StagedForm form) {
            return time_of(shape, a3 ? index_a3(shape, form) : index_a2(shape, form), model);
        };
        CAPTURE(a3);
        CHECK(time(StagedForm::kSingleBuffer) < time(StagedForm::kBlocking));
        CHECK(time(StagedForm::kDualBuffer) <= time(StagedForm::kBlocking));
    }
}

TEST_CASE("figures 17 and 18: in blocking mode A4 is ahead of A1, and A1 of A2") {
    for (const std::uint32_t side : {5u, 8u, 10u}) {
        const std::uint32_t n = side * side;
        for (const bool spike : {true, false}) {
            const Shape shape = spike ? one_spike(n, 1024, 3) : transpose(side, 1024);
            const double a1 = time_of(shape, index_pairwise(shape, 1), blocking_model());
            const double a2 =
                time_of(shape, index_a2(shape, StagedForm::kBlocking), blocking_model());
            const double a4 =
                time_of(shape, index_a4(shape, StagedForm::kBlocking), blocking_model());
            CAPTURE(n, spike, a1, a2, a4);
            CHECK(a4 < a1);
            CHECK(a4 < a2);
        }
    }
}

TEST_CASE("figures 21 and 22: A3-n1 has fewer messages, A4-n2 no hot spots") {
    const MessageModel model = nonblocking_model(kStartUp, kPerByte);
    // Short messages: start-ups decide.
    const Shape small = one_spike(64, 32, 1);
    CHECK(time_of(small, index_a3(small, StagedForm::kSingleBuffer), model) <
          time_of(small, index_a4(small, StagedForm::kDualBuffer), model));
    // Transposition: the ranks on the diagonal get all data of their row in A3.
    const Shape large = transpose(8, 4096);
    CHECK(time_of(large, index_a4(large, StagedForm::kDualBuffer), model) <
          time_of(large, index_a3(large, StagedForm::kSingleBuffer), model));
}
