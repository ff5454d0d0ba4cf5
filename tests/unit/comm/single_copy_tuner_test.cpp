// Which way long messages take.
#include "comm/matching/single_copy_tuner.hpp"

#include <catch2/catch.hpp>

using namespace poe::comm;

namespace {

// Of `messages` messages, how many are fetched when each way costs that much.
int fetched(SingleCopyTuner& choice, poe::Bytes length, int messages, std::uint64_t fetch_ns,
            std::uint64_t stream_ns) {
    int count = 0;
    for (int i = 0; i < messages; ++i) {
        const CopyMethod way = choice.choose(length);
        if (way == CopyMethod::kFetch) ++count;
        choice.took(way, length, way == CopyMethod::kFetch ? fetch_ns : stream_ns);
    }
    return count;
}

}  // namespace

TEST_CASE("the cheaper way is taken, and the other tried now and then") {
    SingleCopyTuner choice;
    const int cheap = fetched(choice, 1 << 20, 1000, 100, 200);
    CHECK(cheap > 950);
    CHECK(cheap < 1000);
    SingleCopyTuner other;
    const int dear = fetched(other, 1 << 20, 1000, 200, 100);
    CHECK(dear < 50);
    CHECK(dear > 0);
}

TEST_CASE("a change is noticed") {
    SingleCopyTuner choice;
    fetched(choice, 1 << 20, 200, 100, 200);
    fetched(choice, 1 << 20, 1500, 500, 200);
    CHECK(fetched(choice, 1 << 20, 1000, 500, 200) < 100);
}

TEST_CASE("a power of two and the lengths just below it are one class") {
    SingleCopyTuner choice;
    choice.took(CopyMethod::kFetch, 16384, 1000);
    CHECK(choice.costs(16000).fetch > 0);
    CHECK(choice.costs(8193).fetch > 0);
    CHECK(choice.costs(8192).fetch == 0);
    CHECK(choice.costs(16385).fetch == 0);
}

TEST_CASE("lengths are judged apart") {
    SingleCopyTuner choice;
    fetched(choice, 1 << 12, 200, 200, 100);
    fetched(choice, 1 << 22, 200, 100, 200);
    CHECK(fetched(choice, 1 << 12, 320, 200, 100) < 30);
    CHECK(fetched(choice, 1 << 22, 320, 100, 200) > 290);
}

TEST_CASE("one slow message, because the sender was away, does not decide") {
    SingleCopyTuner choice;
    fetched(choice, 1 << 20, 200, 200, 100);
    choice.took(CopyMethod::kStream, 1 << 20, 150);
    CHECK(fetched(choice, 1 << 20, 100, 200, 100) < 10);
}
