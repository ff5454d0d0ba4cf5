// Standard input over several readers.
#include "partition_manager/launch/stdin_merge.hpp"

#include <catch2/catch.hpp>

using namespace poe::pm;

TEST_CASE("the slowest reader that still reads holds back the flow", "[stdin_merge]") {
    StdinMerge merge;
    for (const int reader : {0, 4, 7}) merge.add(reader);
    CHECK(merge.all().wanted);
    CHECK(merge.all().delivered == 0);
    merge.set(0, {100, 50, true});
    merge.set(4, {70, 60, true});
    CHECK(merge.all().delivered == 0);  // the third has said nothing
    CHECK(merge.all().consumed == 60);
    merge.set(7, {90, 0, true});
    CHECK(merge.all().delivered == 70);
    merge.set(4, {70, 60, false});
    CHECK(merge.all().delivered == 90);
    merge.remove(7);
    CHECK(merge.all().delivered == 100);
    merge.set(9, {1, 1, true});  // nobody we know
    CHECK(merge.all().delivered == 100);
    merge.remove(0);
    CHECK_FALSE(merge.all().wanted);
    CHECK(merge.all().consumed == 60);
}
