// What mptune makes of the times that it measures, with times that are made up: then it is known
// what must come out.
#include "collectives/mptune/experiments.hpp"

#include <catch2/catch.hpp>

#include "collectives/mptune/postal_text.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/chooser.hpp"
#include "collectives/selection/multicast_cost.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

// What the postal model gives for k = 1 to `most` (paper 001, 2.2), if both experiments see the
// same t0 but lambdas of their own.
Times times_of(double t0, double first_lambda, double second_lambda, int most) {
    Times times;
    for (int k = 1; k <= most; ++k) {
        times.first.push_back(t0 * (k - 1 + 2 * first_lambda));
        times.second.push_back(2 * t0 * (k - 1 + second_lambda));
    }
    return times;
}

}  // namespace

TEST_CASE("both experiments give the t0 and the lambda that the times were made of") {
    for (const double t0 : {0.3, 1.0, 250.0}) {
        for (const double lambda : {1.0, 1.7, 6.0, 40.0}) {
            for (const int most : {2, 3, 7}) {
                CAPTURE(t0, lambda, most);
                const Postal postal = postal_of(times_of(t0, lambda, lambda, most));
                CHECK(postal.first_t0 == Approx(t0));
                CHECK(postal.second_t0 == Approx(t0));
                CHECK(postal.first_lambda == Approx(lambda));
                CHECK(postal.second_lambda == Approx(lambda));
                CHECK(postal.lambda() == Approx(lambda));
                CHECK_FALSE(postal.disagree());
            }
        }
    }
}

TEST_CASE("experiments that say different lambdas disagree, by more than a quarter") {
    const auto disagree = [](double first, double second) {
        return postal_of(times_of(2, first, second, 7)).disagree();
    };
    CHECK(postal_of(times_of(2, 2, 4, 7)).lambda() == Approx(3));
    CHECK(disagree(2, 2.6));
    CHECK(disagree(2.6, 2));
    CHECK_FALSE(disagree(2, 2.4));
    CHECK_FALSE(disagree(2.4, 2));
    CHECK(disagree(10, 13));
    CHECK_FALSE(disagree(10, 12));
}

TEST_CASE("times that fit no line of the model count as lambda 1") {
    // With one other task there is no line.
    Postal postal = postal_of(times_of(3, 5, 5, 1));
    CHECK(postal.lambda() == 1);
    CHECK(postal.first_t0 == Approx(15));
    // More others are not slower.
    postal = postal_of({{8, 6, 4}, {8, 8, 8}});
    CHECK(postal.lambda() == 1);
    CHECK_FALSE(postal.disagree());
    // A message is there before its sender is through with it.
    postal = postal_of(times_of(2, 0.5, 0.5, 5));
    CHECK(postal.first_t0 == Approx(2));
    CHECK(postal.lambda() == 1);
}

TEST_CASE("start-up and time of a byte come from the line through the one-way times") {
    CostModel model;
    model.transfer = 77;
    std::vector<LengthMeasured> lengths;
    for (const Bytes bytes : {8, 256, 65536, 1048576})
        lengths.push_back({bytes, {}, 1.5 + 0.0002 * static_cast<double>(bytes)});
    fit_messages(lengths, model);
    CHECK(model.start_up == Approx(1.5));
    CHECK(model.transfer == Approx(0.0002));
    // Two lengths are enough; one says nothing of a line.
    model = {};
    fit_messages({lengths[0], lengths[1]}, model);
    CHECK(model.start_up == Approx(1.5));
    CHECK(model.transfer == Approx(0.0002));
    const CostModel before = model;
    fit_messages({lengths[2]}, model);
    CHECK(model == before);
    fit_messages({}, model);
    CHECK(model == before);
}

TEST_CASE("a network that lets short bursts pass costs what the longest messages say") {
    CostModel model;
    const std::pair<Bytes, double> times[] = {{8, 18},         {256, 37},       {1024, 32},
                                              {4096, 14},      {16384, 690},    {65536, 2767},
                                              {262144, 19885}, {1048576, 90791}};
    std::vector<LengthMeasured> lengths;
    for (const auto& [bytes, time] : times) lengths.push_back({bytes, {}, time});
    fit_messages(lengths, model);
    CHECK(model.transfer == Approx((90791.0 - 19885) / (1048576 - 262144)));
    CHECK(model.start_up < 30);
    // Times that do not grow are start-ups only.
    fit_messages({{8, {}, 20}, {1024, {}, 20}, {4096, {}, 19}}, model);
    CHECK(model.transfer == 0);
    CHECK(model.start_up == Approx(19.66).epsilon(0.01));
}

TEST_CASE("a long broadcast takes the way that was fastest on a network that lets bursts pass") {
    // Measured between 16 hosts at 100 Mbit/s, bursts of 64 KB: a broadcast of 1 MB took 91 ms by
    // multicast and 117 ms or more by messages along several trees, which the round trips alone
    // made seem to take 52 ms.
    Tuning tuning = built_in_tuning(2);
    fit_messages({{8, {}, 21.3},
                  {256, {}, 19.9},
                  {1024, {}, 40.3},
                  {4096, {}, 173.3},
                  {16384, {}, 684.1},
                  {65536, {}, 2778},
                  {262144, {}, 16869},
                  {1048576, {}, 82654}},
                 tuning.network);
    fit_multicast({{65536, 5561}, {131072, 11213}, {262144, 22673}, {1048576, 91313}}, 16,
                  tuning.network);
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = 16;
    shape.bytes = 1 << 20;
    for (std::uint32_t host = 0; host < shape.n; ++host) shape.nodes.push_back(host);
    const Choice by_messages = choose(catalogue(), shape, tuning, {});
    CHECK(predicted_multicast(tuning, shape) < predicted(tuning, shape, by_messages));
}

TEST_CASE("the costs of multicast come from the line through the times of broadcasts") {
    CostModel model;
    std::vector<MulticastMeasured> lengths;
    for (const Bytes bytes : {65536, 262144, 1048576})
        lengths.push_back({bytes, 300 + 0.09 * static_cast<double>(bytes)});
    fit_multicast({lengths[0]}, 5, model);
    CHECK(model == CostModel{});
    // The root, and one level of reports for up to 4 others, two for up to 20.
    fit_multicast(lengths, 5, model);
    CHECK(model.multicast == Approx(150));
    CHECK(model.multicast_byte == Approx(0.09));
    fit_multicast(lengths, 16, model);
    CHECK(model.multicast == Approx(100));
    // The prediction uses them in place of those of messages.
    Tuning tuning = built_in_tuning(2);
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = 16;
    shape.bytes = 1 << 20;
    const double before = predicted_multicast(tuning, shape);
    tuning.network = model;
    CHECK(predicted_multicast(tuning, shape) == Approx(300 + 0.09 * (1 << 20)));
    CHECK(before != Approx(300 + 0.09 * (1 << 20)));
    // A wait takes at least a message, however steep the line is.
    model.start_up = 40;
    fit_multicast({{65536, 1000}, {262144, 5000}, {1048576, 30080}}, 5, model);
    CHECK(model.multicast == 40);
    CHECK(model.multicast_byte == Approx(30000.0 / 1048576));
    // Longer messages would take no longer: that is no line.
    const CostModel kept = model;
    fit_multicast({{65536, 100}, {1048576, 90}}, 5, model);
    CHECK(model == kept);
}

TEST_CASE("a lambda is used only where the two experiments agree") {
    const auto measured = [](Bytes bytes, double first, double second) {
        return LengthMeasured{bytes, postal_of(times_of(2, first, second, 7)), 1};
    };
    CostModel model;
    model.lambdas = {{8, 1.5}, {64, 1.6}, {1024, 1.7}};
    const auto old = model.lambdas;
    fit_lambdas({measured(8, 2, 9), measured(64, 9, 2)}, model);
    CHECK(model.lambdas == old);
    // 8 agrees, 64 keeps its value, 512 has none, and 1024 was not measured.
    fit_lambdas({measured(8, 3, 3.2), measured(64, 2, 9), measured(512, 2, 9)}, model);
    REQUIRE(model.lambdas.size() == 2);
    CHECK(model.lambdas[0].bytes == 8);
    CHECK(model.lambdas[0].lambda == Approx(3.1));
    CHECK(model.lambdas[1] == old[1]);
    fit_lambdas({measured(8, 5000, 5000)}, model);
    CHECK(model.lambdas == std::vector<MeasuredLambda>{{8, 1000}});
}

TEST_CASE("the tables of the postal model as mptune prints them") {
    const std::string text = postal_tables_text();
    CHECK(text.find("     1    2.000        1.440\n     2    1.618        2.518\n") !=
          std::string::npos);
    CHECK(text.find("    10    1.197\n") != std::string::npos);
    const std::string rows = alpha_text({{0.5, 30, 40}, {0.58, 24, 33}, {0.9, 50, 31}});
    CHECK(rows.find("  0.50        30.00         40.00 \n") != std::string::npos);
    CHECK(rows.find("  0.58        24.00*        33.00 \n") != std::string::npos);
    CHECK(rows.find("  0.90        50.00         31.00*\n") != std::string::npos);
}
