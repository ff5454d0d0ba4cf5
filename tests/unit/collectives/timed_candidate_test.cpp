// The verdicts of mptune, with times that are made up, so that the right verdict is known.
#include "collectives/mptune/timed_candidate.hpp"

#include <catch2/catch.hpp>

using namespace poe::collectives;

namespace {

TimedCandidate candidate(double measured, bool again = true) {
    TimedCandidate made;
    made.measured = measured;
    made.again = again;
    return made;
}

}  // namespace

TEST_CASE("the best is the fastest of those that were measured again") {
    CHECK(best_of({candidate(3), candidate(2), candidate(4)}).measured == 2);
    CHECK(best_of({candidate(3), candidate(1, false), candidate(2)}).measured == 2);
    CHECK(best_of({candidate(3, false), candidate(1, false), candidate(2, false)}).measured == 1);
}

TEST_CASE("a choice is good up to 10 % above the best") {
    CHECK(is_nearly_best(candidate(1), candidate(1)));
    CHECK(is_nearly_best(candidate(1.099), candidate(1)));
    CHECK_FALSE(is_nearly_best(candidate(1.101), candidate(1)));
    // Both are printed as 0.19 and 0.17, so what is printed does not tell them apart.
    CHECK(is_nearly_best(candidate(0.1870), candidate(0.1710)));
    CHECK_FALSE(is_nearly_best(candidate(0.1930), candidate(0.1670)));
}

TEST_CASE("a better way is recorded from 5 % on") {
    CHECK_FALSE(is_worth_recording(candidate(1), candidate(1)));
    CHECK_FALSE(is_worth_recording(candidate(1.049), candidate(1)));
    CHECK(is_worth_recording(candidate(1.051), candidate(1)));
}
