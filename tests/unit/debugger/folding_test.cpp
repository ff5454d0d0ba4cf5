// Folding: equal answers, tables of different ones, and statistics of numbers.
#include "debugger/folding.hpp"

#include <cmath>

#include <catch2/catch.hpp>

namespace poe::debugger {

TEST_CASE("equal answers appear once with their tasks") {
    const Answers answers{{0, "5"}, {1, "5"}, {2, "7"}, {3, "5"}};
    const std::vector<Folded> folded = fold(answers);
    CHECK(folded == std::vector<Folded>{{{0, 1, 3}, "5"}, {{2}, "7"}});
    CHECK(lines_of(folded) == std::vector<std::string>{"0,1,3: 5", "2:     7"});
}

TEST_CASE("an answer of several lines is indented") {
    CHECK(lines_of(fold({{0, "a\nb\n"}, {1, "a\nb\n"}})) ==
          std::vector<std::string>{"0,1:", "  a", "  b"});
}

TEST_CASE("numbers are found in gdb's answers") {
    CHECK(number_in("5") == 5.0);
    CHECK(number_in("-1.5e3") == -1500.0);
    CHECK(number_in("97 'a'") == 97.0);
    CHECK(std::isnan(*number_in("-nan(0x8000000000000)")));
    CHECK(std::isinf(*number_in("inf")));
    CHECK_FALSE(number_in("{1, 2}"));
    CHECK_FALSE(number_in("<optimized out>"));
    CHECK_FALSE(number_in("5abc"));
}

TEST_CASE("a summary has extremes, mean and outliers with their tasks") {
    Answers answers;
    for (TaskId task = 0; task < 10; ++task)
        answers.emplace_back(task, std::to_string(100 + task % 3));
    answers.emplace_back(10, "-nan(0x8000000000000)");
    answers.emplace_back(11, "5000");
    answers.emplace_back(12, "<optimized out>");
    const NumberSummary summary = summarize(answers);
    CHECK(summary.count == 11);
    CHECK(summary.min == 100);
    CHECK(summary.at_min == TaskSet{0, 3, 6, 9});
    CHECK(summary.max == 5000);
    CHECK(summary.at_max == TaskSet{11});
    CHECK(summary.not_finite == TaskSet{10});
    CHECK(summary.not_numbers == TaskSet{12});
    CHECK(summary.outliers == Answers{{11, "5000"}});
    CHECK(summary.mean == Approx((1009.0 + 5000.0) / 11));
}

TEST_CASE("one different number among equal ones is an outlier") {
    const NumberSummary summary = summarize({{0, "1"}, {1, "1"}, {2, "1"}, {3, "2"}, {4, "1"}});
    CHECK(summary.outliers == Answers{{3, "2"}});
}

TEST_CASE("no numbers are no summary") {
    const NumberSummary summary = summarize({{0, "x"}});
    CHECK(summary.count == 0);
    CHECK(lines_of(summary) == std::vector<std::string>{"no number: task 0"});
}

}  // namespace poe::debugger
