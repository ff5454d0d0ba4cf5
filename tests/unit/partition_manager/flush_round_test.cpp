// When a flush is complete.
#include "partition_manager/home/flush_round.hpp"

#include <catch2/catch.hpp>

using namespace poe::pm;
using Kind = StdoutMode::Kind;

TEST_CASE("a flush is complete when all have asked", "[flush_round]") {
    FlushRound round(3);
    for (int again = 0; again < 3; ++again) {
        CHECK_FALSE(round.on_mark(2, {}));
        CHECK_FALSE(round.on_mark(2, {}));  // asks twice, counts once
        CHECK_FALSE(round.on_mark(0, {}));
        CHECK(round.on_mark(1, {}));
        CHECK_FALSE(round.on_mark(1, {}));
        const auto result = round.finish();
        CHECK(result.agreed);
        CHECK_FALSE(result.mode);
    }
}

TEST_CASE("who has ended need not ask", "[flush_round]") {
    FlushRound round(3);
    CHECK_FALSE(round.on_exit(1));
    CHECK_FALSE(round.on_exit(1));
    CHECK_FALSE(round.on_mark(0, {}));
    CHECK(round.on_exit(2));
    round.finish();
    CHECK(round.on_mark(0, {}));
    // A task that ends while it waits.
    CHECK_FALSE(round.on_exit(0));
    round.finish();
    CHECK(round.on_mark(0, {}));  // late: nobody is left to wait for
}

TEST_CASE("tasks that end without asking complete nothing", "[flush_round]") {
    FlushRound round(2);
    CHECK_FALSE(round.on_exit(0));
    CHECK_FALSE(round.on_exit(1));
    FlushRound one(1);
    CHECK(one.on_mark(0, {}));
}

TEST_CASE("the mode that tasks agree on", "[flush_round]") {
    struct Case {
        std::optional<StdoutMode> first;
        std::optional<StdoutMode> second;
        bool agreed;
        std::optional<Kind> kind;
    };
    const Case cases[] = {
        {{}, {}, true, {}},
        {StdoutMode{Kind::kOrdered, 0}, StdoutMode{Kind::kOrdered, 0}, true, Kind::kOrdered},
        {{}, StdoutMode{Kind::kOne, 1}, true, Kind::kOne},
        {StdoutMode{Kind::kOne, 1}, StdoutMode{Kind::kOne, 0}, false, {}},
        {StdoutMode{Kind::kOne, 0}, StdoutMode{Kind::kUnordered, 0}, false, {}},
    };
    FlushRound round(2);
    for (const Case& one : cases) {
        round.on_mark(0, one.first);
        REQUIRE(round.on_mark(1, one.second));
        const auto result = round.finish();
        CHECK(result.agreed == one.agreed);
        CHECK(result.mode.has_value() == one.kind.has_value());
        if (result.mode && one.kind) CHECK(result.mode->kind == *one.kind);
    }
}
