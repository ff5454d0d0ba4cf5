// Who held the lock of a window for which a task has waited.
#include "tracer/analysis/window_locks.hpp"

#include <catch2/catch.hpp>

using namespace poe;
using namespace poe::trace;

namespace {

constexpr std::uint32_t kWindow = 40;
constexpr LockedPart kPart{kWindow, 0};
constexpr LockedPart kOtherPart{kWindow, 1};
constexpr LockedPart kAllParts{kWindow, LockedPart::kAll};

constexpr bool kExclusive = true;
constexpr bool kShared = false;

// The task that was waited for and until when; -1 if there was none.
std::pair<TaskId, int> of(const std::optional<WindowLocks::Holder>& holder) {
    if (!holder) return {-1, 0};
    return {holder->task, static_cast<int>(holder->until.count())};
}
const std::pair<TaskId, int> kNone{-1, 0};

void hold(WindowLocks& locks, TaskId task, LockedPart part, bool exclusive, int from, int to) {
    locks.taken(task, part, exclusive, Time{from}, Time{from});
    locks.giving_back(task, part);
    locks.given_back(task, part, Time{to});
}

}  // namespace

TEST_CASE("a task waits for the last one that excludes it", "[locks]") {
    WindowLocks locks;
    hold(locks, 1, kPart, kExclusive, 10, 50);
    hold(locks, 2, kPart, kExclusive, 51, 70);
    CHECK(of(locks.taken(3, kPart, kShared, Time{20}, Time{71})) == std::pair<TaskId, int>{2, 70});
    // A lock that was given back before the call began is no reason, and neither is an own one.
    CHECK(of(locks.taken(4, kPart, kShared, Time{72}, Time{73})) == kNone);
    hold(locks, 5, kOtherPart, kExclusive, 80, 90);
    CHECK(of(locks.taken(5, kOtherPart, kExclusive, Time{85}, Time{95})) == kNone);
    CHECK(of(locks.taken(6, {kWindow + 1, 1}, kExclusive, Time{85}, Time{95})) == kNone);
}

TEST_CASE("shared locks exclude exclusive ones only", "[locks]") {
    WindowLocks locks;
    hold(locks, 1, kPart, kShared, 10, 50);
    CHECK(of(locks.taken(2, kPart, kShared, Time{20}, Time{60})) == kNone);
    locks.given_back(2, kPart, Time{65});
    CHECK(of(locks.taken(3, kPart, kExclusive, Time{30}, Time{66})) ==
          std::pair<TaskId, int>{2, 65});
}

TEST_CASE("the end of giving back may be recorded late", "[locks]") {
    WindowLocks locks;
    locks.taken(1, kPart, kExclusive, Time{10}, Time{11});
    CHECK(of(locks.taken(2, kPart, kExclusive, Time{5}, Time{12})) ==
          kNone);  // still held: not by 1
    locks.giving_back(1, kPart);
    CHECK(of(locks.taken(2, kPart, kExclusive, Time{20}, Time{60})) ==
          std::pair<TaskId, int>{1, 60});
    locks.given_back(1, kPart, Time{61});
    locks.giving_back(2, kPart);
    locks.given_back(2, kPart, Time{80});
    CHECK(of(locks.taken(1, kPart, kExclusive, Time{62}, Time{81})) ==
          std::pair<TaskId, int>{2, 80});
}

TEST_CASE("locks of all parts meet the exclusive locks of each", "[locks]") {
    WindowLocks locks;
    hold(locks, 1, kOtherPart, kExclusive, 10, 50);
    hold(locks, 2, kPart, kShared, 10, 55);
    CHECK(of(locks.taken(3, kAllParts, kShared, Time{20}, Time{56})) ==
          std::pair<TaskId, int>{1, 50});
    locks.giving_back(3, kAllParts);
    locks.given_back(3, kAllParts, Time{90});
    CHECK(of(locks.taken(4, kPart, kExclusive, Time{60}, Time{91})) ==
          std::pair<TaskId, int>{3, 90});
    CHECK(of(locks.taken(5, kOtherPart, kShared, Time{60}, Time{91})) == kNone);
}
