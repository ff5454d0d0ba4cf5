// Clocks of nodes: how messages bound them, and what the bounds are worth. All true times are
// known.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/played.hpp"
#include "tracer/analysis/session.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/read/clock_bounds.hpp"
#include "tracer/read/repair.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

StreamWriter daemon_stream(NodeIndex node, std::uint64_t origin) {
    StreamFacts facts = daemon_facts(node, 2);
    facts.origin = origin;
    return StreamWriter(facts);
}

void clock(StreamWriter& daemon, std::uint64_t at, std::int64_t offset, std::uint32_t round_trip) {
    daemon.put(at,
               {.kind = Kind::kClock, .a = round_trip, .b = static_cast<std::uint64_t>(offset)});
}

// A job of 40 ms on two nodes whose clocks are the same. The measurement of node 1 is off by
// `wrong` ns, within its round trip of 20 us. Task 1 waits for each of 50 messages of task 0, and
// task 0 for each answer: 250 and 150 us.
std::string short_job(std::int64_t wrong) {
    StreamWriter home = task_stream(0, 2);
    StreamWriter away = task_stream(1, 2, 0, 1);
    StreamWriter first = daemon_stream(0, kOrigin);
    StreamWriter second = daemon_stream(1, kOrigin);
    clock(first, 0, 0, 0);
    clock(second, us(10), wrong, 20'000);
    clock(second, us(39'000), wrong, 20'000);
    for (std::uint64_t round = 0; round < 50; ++round) {
        const std::uint64_t at = 1000 + round * 700;
        receive_call(away, at, at + 252, 0);
        send_call(home, at + 250, at + 251, 1);
        receive_call(home, at + 260, at + 412, 1);
        send_call(away, at + 410, at + 411, 0);
    }
    return job_bytes(2) + first.bytes() + second.bytes() + home.bytes() + away.bytes();
}

}  // namespace

TEST_CASE("what came before what bounds the clocks") {
    ClockBounds bounds(3);
    bounds.before(0, 1, Time{30});   // x1 <= 30
    bounds.before(1, 0, Time{-10});  // x1 >= 10
    bounds.before(1, 2, Time{5});    // x2 <= x1 + 5
    bounds.before(2, 1, Time{100});  // x2 >= x1 - 100
    bounds.before(0, 1, Time{50});   // says less than the first
    CHECK_FALSE(bounds.holds());
    const auto ranges = bounds.solve(0);
    REQUIRE(ranges);
    CHECK((*ranges)[1].least == Time{10});
    CHECK((*ranges)[1].most == Time{30});
    CHECK((*ranges)[2].least == Time{-90});
    CHECK((*ranges)[2].most == Time{35});
    bounds.before(2, 0, Time{-200});  // x2 >= 200
    CHECK_FALSE(bounds.solve(0));
    ClockBounds open(2);
    open.before(0, 1, Time{7});
    CHECK_FALSE(open.solve(0)->at(1).least);
}

TEST_CASE("messages of both directions say how far a clock is off") {
    const auto wrong = GENERATE(std::int64_t{0}, std::int64_t{9000}, std::int64_t{-9000});
    TraceSource source = TraceSource::from_bytes(short_job(wrong), "short");
    REQUIRE(source.clock_doubts().size() == 1);
    CHECK(source.clock_doubts()[0].within == microseconds(10));
    const Repaired repaired = repair_clocks(source);
    CHECK(repaired.all);
    CHECK(repaired.messages == (wrong == 0 ? 0 : 50));
    // Nobody had to be moved: the clocks themselves are right now, as far as messages of 2 us tell.
    CHECK(repaired.farthest == Time{0});
    CHECK(source.clock_doubts()[0].within <= microseconds(3));
    const Played played(std::move(source));
    CHECK(played.replay.state().backwards == 0);
    const Time late = waited(played, Wait::Why::kLateSender);
    CHECK(late >= 50 * microseconds(250 + 150 - 4));
    CHECK(late <= 50 * microseconds(250 + 150 + 4));
}

TEST_CASE("the summary states how far clocks may be off") {
    TraceSource source = TraceSource::from_bytes(short_job(5000), "short");
    Symbols symbols;
    const Summary before = summarize(source, symbols, [](double) {});
    REQUIRE(before.clocks.size() == 1);
    CHECK(before.clocks[0].node == "n1");
    CHECK(summary_text(before).find("n1                         10.00 us\n") != std::string::npos);
    repair_clocks(source);
    const Summary after = summarize(source, symbols, [](double) {});
    CHECK(after.clocks[0].within <= microseconds(3));
    CHECK(summary_text(after).find("CLOCKS: times of a node are off by at most\n  n1") !=
          std::string::npos);
}

TEST_CASE("a clock that drifts between measurements is followed by messages") {
    // Node 1 is right when it is measured, at 0 and 100 s, and 60 us ahead in the middle.
    const auto ahead = [](std::uint64_t at) -> std::uint64_t {
        const std::uint64_t half = us(50'000'000);
        const std::uint64_t way = at < half ? at : 2 * half - at;
        return us(60) * (way / 1000) / (half / 1000);
    };
    StreamWriter home = task_stream(0, 2);
    StreamWriter away = task_stream(1, 2, 0, 1);
    StreamWriter first = daemon_stream(0, kOrigin);
    StreamWriter second = daemon_stream(1, kOrigin);
    clock(first, 0, 0, 0);
    clock(second, 0, 0, 200'000);
    clock(second, us(100'000'000), 0, 200'000);
    for (std::uint64_t at = us(50'000); at < us(100'000'000); at += us(50'000)) {
        home.send(at, 1, 0, 8);
        away.receive(at + us(5) + ahead(at), 0, 0, 8);
        away.send(at + us(10) + ahead(at), 0, 0, 8);
        home.receive(at + us(15), 1, 0, 8);
    }
    TraceSource source = TraceSource::from_bytes(
        job_bytes(2) + first.bytes() + second.bytes() + home.bytes() + away.bytes(), "drift");
    repair_clocks(source);
    // The tightest that messages of 5 us can tell, and what a clock drifts in a part of the trace.
    CHECK(source.clock_doubts()[0].within <= microseconds(20));
    EventMerge merge(source);
    Time worst{0};
    std::uint64_t sent = 0;
    for (Event event; merge.next(event);) {
        if (event.record.kind != Kind::kSend || source.task_of(event.stream) != 1) continue;
        const Time right(static_cast<std::int64_t>(us(50'000) * ++sent + us(10)));
        worst = std::max(worst, std::chrono::abs(event.time - right));
    }
    CHECK(worst < microseconds(20));
}

TEST_CASE("an index keeps what was found out by reading all of a trace") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("vt_findings_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::string trace = (folder / "run.trc").string();
    std::string bytes = short_job(9000);
    bytes[bytes.size() - 2 * kHeaderBytes + 250] ^= 4;
    std::ofstream(trace, std::ios::binary) << bytes;
    const auto times_of = [](const TraceSource& source) {
        std::vector<Time> times;
        EventMerge merge(source);
        for (Event event; merge.next(event);) times.push_back(event.time);
        return times;
    };
    const auto open = [&] {
        return TraceSource::open(trace, nullptr, TraceSource::Checks::kLater);
    };
    TraceSource first = open();
    CHECK(first.problems().empty());
    first.check();
    REQUIRE(first.problems().size() == 1);
    repair_clocks(first);
    const auto problems = first.problems();
    const auto times = times_of(first);
    const Time end = first.end();
    const Index::Places places = index_places(trace, "", first.identity());
    {
        const Session session(std::move(first), places, [](double) {});
    }
    TraceSource again = open();
    CHECK_FALSE(Index::kept_findings(again, places, false));
    const auto kept = Index::kept_findings(again, places, true);
    REQUIRE(kept);
    CHECK(kept->repaired->messages >= 40);
    REQUIRE(again.take(*kept));
    CHECK(again.problems() == problems);
    CHECK(times_of(again) == times);
    CHECK(again.end() == end);
    CHECK(again.clock_doubts()[0].within <= microseconds(3));
    CHECK_FALSE(Index::open(again, places, [](double) {}).was_made());
    std::filesystem::remove_all(folder);
}
