// Bursts of announced messages: one way for all of them, measured as a whole.
#include "comm/matching/transfer_burst.hpp"

#include <catch2/catch.hpp>

using namespace poe::comm;

namespace {

constexpr poe::Bytes kLength = 1 << 20;

// A burst of `messages` messages that are all accepted at once. A message costs as much as its way
// says, and the transfers follow each other. Returns the way.
CopyMethod crowd(TransferBurst& burst, SingleCopyTuner& costs, int messages, std::uint64_t& now,
                 std::uint64_t fetch_ns, std::uint64_t stream_ns) {
    const CopyMethod way = burst.begin(kLength, now, costs);
    for (int i = 1; i < messages; ++i) CHECK(burst.begin(kLength, now, costs) == way);
    for (int i = 0; i < messages; ++i) {
        now += way == CopyMethod::kFetch ? fetch_ns : stream_ns;
        burst.end(kLength, now, costs);
    }
    CHECK(!burst.in_progress());
    return way;
}

int fetched(int messages, std::uint64_t fetch_ns, std::uint64_t stream_ns) {
    TransferBurst burst;
    SingleCopyTuner costs;
    std::uint64_t now = 1000;
    int count = 0;
    for (int i = 0; i < 320; ++i)
        if (crowd(burst, costs, messages, now, fetch_ns, stream_ns) == CopyMethod::kFetch) ++count;
    return count;
}

}  // namespace

TEST_CASE("bursts take the cheaper way, however many messages they have") {
    const int messages = GENERATE(1, 4, 64);
    CHECK(fetched(messages, 40000, 70000) > 300);
    CHECK(fetched(messages, 70000, 40000) < 20);
}

TEST_CASE("the cost is that of a message, not of its wait for the others") {
    TransferBurst burst;
    SingleCopyTuner costs;
    std::uint64_t now = 1000;
    const CopyMethod way = crowd(burst, costs, 64, now, 40000, 40000);
    const WayCosts& found = costs.costs(kLength);
    CHECK((way == CopyMethod::kFetch ? found.fetch : found.stream) ==
          Approx(40000.0 / static_cast<double>(kLength)));
}

TEST_CASE("a burst that was disturbed, given up or mixed is not measured") {
    TransferBurst burst;
    SingleCopyTuner costs;
    burst.begin(kLength, 0, costs);
    burst.disturb();
    burst.end(kLength, 100, costs);
    burst.begin(kLength, 200, costs);
    burst.begin(kLength, 200, costs);
    burst.abandon();
    burst.end(kLength, 300, costs);
    burst.begin(kLength, 400, costs);
    burst.begin(kLength * 16, 400, costs);
    burst.end(kLength, 500, costs);
    burst.end(kLength * 16, 600, costs);
    CHECK(!burst.in_progress());
    CHECK(costs.costs(kLength).fetch == 0);
    CHECK(costs.costs(kLength).stream == 0);
}

TEST_CASE("a burst that never ends is measured and decided again") {
    TransferBurst burst;
    SingleCopyTuner costs;
    std::uint64_t now = 1000;
    burst.begin(kLength, now, costs);
    int fetches = 0;
    for (int i = 0; i < 10000; ++i) {
        const CopyMethod way = burst.begin(kLength, now, costs);
        if (way == CopyMethod::kFetch) ++fetches;
        now += way == CopyMethod::kFetch ? 70000 : 40000;
        burst.end(kLength, now, costs);
    }
    CHECK(fetches < 1000);
}

TEST_CASE("a forced way is taken and measured") {
    TransferBurst burst;
    SingleCopyTuner costs;
    CHECK(burst.begin(kLength, 0, costs, CopyMethod::kStream) == CopyMethod::kStream);
    burst.end(kLength, 1000, costs);
    CHECK(costs.costs(kLength).stream > 0);
    CHECK(costs.costs(kLength).fetch == 0);
}
