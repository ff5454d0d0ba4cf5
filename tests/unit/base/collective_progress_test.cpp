// How a collective call is carried out, as one word.
#include "base/collective_progress.hpp"

#include <catch2/catch.hpp>

using namespace poe;

TEST_CASE("the word of a progress gives the same progress") {
    for (std::uint32_t path = 0; path <= static_cast<std::uint32_t>(kLastCollectivePath); ++path) {
        const CollectiveProgress one{static_cast<CollectivePath>(path), 3, 15};
        CHECK(progress_of(word_of(one)) == one);
        CHECK(collective_path_name(one.path).empty() == (path == 0));
    }
}

TEST_CASE("large numbers of rounds saturate, and an unknown path is none") {
    const CollectiveProgress many{CollectivePath::kSchedule, 5000, 100000};
    CHECK(progress_of(word_of(many)) == CollectiveProgress{CollectivePath::kSchedule, 4095, 4095});
    CHECK(progress_of(0xff003003u) == CollectiveProgress{});
}
