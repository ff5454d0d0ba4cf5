// A user's regions are states: in sums, on the time line, one in another, from other tools' traces.
#include <filesystem>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tests/unit/tracer/views_maker.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/exchange/import_otf2.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

constexpr std::uint32_t kStep = kSolve + 1;
constexpr auto kComputing = static_cast<std::size_t>(State::kComputing);
constexpr auto kSending = static_cast<std::size_t>(State::kSending);

// One task: `step` from 100 to 900, within it `solve` from 200 to 600, within that a send from 300
// to 400; nothing before and behind.
std::vector<StreamWriter> nested_streams() {
    std::vector<StreamWriter> tasks{task_stream(0, 1)};
    StreamWriter& out = tasks[0];
    out.define(0, Defined::kRegion, kStep, "step", 2);
    out.put(0, {.kind = Kind::kTracing, .detail = 1});
    out.enter(us(100), kStep);
    for (std::uint64_t i = 0; i < 9; ++i)
        out.put(us(110 + 10 * i), {.kind = Kind::kProgress, .detail = 0, .b = i});
    out.enter(us(200), kSolve);
    send_call(out, 300, 400, 0);
    out.leave(us(600), kSolve);
    out.leave(us(900), kStep);
    out.put(us(1000), {.kind = Kind::kTracing, .detail = 0});
    return tasks;
}

TraceSource nested_trace() {
    return TraceSource::from_bytes(gathered(nested_streams()), "nested");
}

// The time of a part, by its name.
Time time_of(Session& session, const PartTimes& times, std::string_view name) {
    for (std::size_t part = 1; part < kParts; ++part)
        if (session.parts().name(part) == name) return times[part];
    return Time{-1};
}

void check_parts(Session& session) {
    const PartTimes times = session.part_bins(session.whole(), 0, 1, 1, 1).front().front();
    CHECK(times[kComputing] == microseconds(200));
    CHECK(times[kSending] == microseconds(100));
    CHECK(time_of(session, times, "step") == microseconds(400));
    CHECK(time_of(session, times, "solve") == microseconds(300));
    CHECK(computing_of(times) == microseconds(900));
    CHECK(session.spent(session.whole()).front()[kComputing] == microseconds(900));
}

}  // namespace

TEST_CASE("time in a region is its own part of the time, the innermost region's") {
    Session session(nested_trace(), {}, [](double) {});
    check_parts(session);
    const auto halves = session.part_bins(session.whole(), 0, 1, 1, 2).front();
    CHECK(time_of(session, halves[0], "solve") == microseconds(200));
    CHECK(time_of(session, halves[1], "solve") == microseconds(100));
}

TEST_CASE("regions of a stretch too long to replay come from sums, and are as long") {
    const auto between = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
    Session session(
        nested_trace(), {}, [](double) {}, between);
    if (between == 1) REQUIRE(session.step_of_sums(session.whole()));
    check_parts(session);
    CHECK(session.nested(session.whole(), 0, 1).empty() ==
          session.step_of_sums(session.whole()).has_value());
}

TEST_CASE("regions that are one in another are known with their depth") {
    Session session(nested_trace(), {}, [](double) {});
    const auto regions = session.nested({microseconds(250), microseconds(700)}, 0, 1);
    REQUIRE(regions.size() == 2);
    const auto& solve = regions[regions[0].depth == 1 ? 0 : 1];
    const auto& step = regions[regions[0].depth == 1 ? 1 : 0];
    CHECK(session.definitions().region(solve.region).name == "solve");
    CHECK(solve.from == microseconds(200));
    CHECK(solve.to == microseconds(600));
    CHECK(session.definitions().region(step.region).name == "step");
    CHECK(step.depth == 0);
    CHECK(step.to == microseconds(700));  // it goes on
}

TEST_CASE("if there are too many regions, the longest have a part of their own") {
    std::vector<StreamWriter> tasks{task_stream(0, 1)};
    StreamWriter& out = tasks[0];
    std::uint64_t now = 0;
    for (std::uint32_t i = 0; i < 20; ++i) {
        out.define(us(now), Defined::kRegion, kStep + i, "r" + std::to_string(i), 2);
        out.enter(us(now), kStep + i);
        now += i % 5 == 3 ? 100 : 10;
        out.leave(us(now), kStep + i);
    }
    Session session(TraceSource::from_bytes(gathered(tasks), "many"), {}, [](double) {});
    const PartTimes times = session.part_bins(session.whole(), 0, 1, 1, 1).front().front();
    for (const char* name : {"r3", "r8", "r13", "r18"})
        CHECK(time_of(session, times, name) == microseconds(100));
    // 20 and `solve`, of which seven have a part of their own.
    CHECK(time_of(session, times, "14 other regions") == microseconds(130));
}

TEST_CASE("the time line has a row, a shape and a legend for each region") {
    Playing playing(nested_trace());
    playing.look.panes = {ViewKind::kTimeline};
    const std::string text = playing.screen({65, 8}).text();
    INFO(text);
    CHECK(text.find("A solve") != std::string::npos);
    CHECK(text.find("B step") != std::string::npos);
    // A line for each depth, above the states: 60 columns of 1 ms.
    const auto line = [&](int number) {
        std::string found;
        std::istringstream in(text);
        for (int i = 0; i <= number; ++i) std::getline(in, found);
        return found.size() > 5 ? found.substr(5) : "";
    };
    CHECK(line(2) == std::string(6, ' ') + std::string(48, 'B'));
    CHECK(line(3) == std::string(12, ' ') + std::string(24, 'A'));
    CHECK(line(4).find("BBBBBBAAAAAA") != std::string::npos);
    // With a single line the innermost one is drawn.
    const std::string flat = playing.screen({65, 4}).text();
    CHECK(flat.find("BBBBBBAAAAAA") != std::string::npos);
    CHECK(flat.find("AAAAAAAAAAAABBBB") != std::string::npos);
}

TEST_CASE("with colours each region has one, and its name stands on it") {
    Playing playing(nested_trace());
    const terminal::Glyphs glyphs(true);
    const Grid grid =
        draw_view(ViewKind::kTimeline, playing.look, {65, 8}, playing.easel(glyphs, true));
    const terminal::Cell& step = grid.at(1, 5 + 30);
    const terminal::Cell& solve = grid.at(2, 5 + 30);
    CHECK(step.style.ink == terminal::Ink::kSeries);
    CHECK(solve.style.ink == terminal::Ink::kSeries);
    CHECK(step.style.value != solve.style.value);
    const std::string text = grid.text();
    CHECK(text.find(" solve ") != std::string::npos);
    CHECK(text.find("\u2588 step") != std::string::npos);
}

TEST_CASE("regions in a trace of another tool are states, too") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("vt_regions_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    {
        const TraceSource source = nested_trace();
        export_trace(source, {{source.begin(), source.end()}, std::nullopt},
                     *otf2_sink(folder.string()), [](double) {});
    }
    Session session(import_otf2((folder / "trace.otf2").string()), {}, [](double) {});
    std::filesystem::remove_all(folder);
    const PartTimes times = session.part_bins(session.whole(), 0, 1, 1, 1).front().front();
    CHECK(time_of(session, times, "step") == microseconds(400));
    CHECK(time_of(session, times, "solve") == microseconds(300));
}

TEST_CASE("the summary tells the regions among the states") {
    Symbols symbols;
    const std::string text = summary_text(summarize(nested_trace(), symbols, [](double) {}));
    INFO(text);
    CHECK(text.find("  computing      90.0%    900.0 us\n") != std::string::npos);
    CHECK(text.find("    step         40.0%    400.0 us\n") != std::string::npos);
    CHECK(text.find("    solve        30.0%    300.0 us\n") != std::string::npos);
}

TEST_CASE(
    "the rounds of a collective call are known with their times, also across a stored state") {
    constexpr std::uint32_t kBarrier = static_cast<std::uint32_t>(Call::kSync);
    std::vector<StreamWriter> tasks{task_stream(0, 1)};
    StreamWriter& out = tasks[0];
    out.define(0, Defined::kRegion, kFirstPathRegion, "ring", 1);
    out.enter(us(100), kBarrier);
    out.carried_out(us(100), kFirstPathRegion, 1, 2);
    for (std::uint64_t i = 0; i < 40; ++i)
        out.put(us(110 + i), {.kind = Kind::kProgress, .detail = 0, .b = i});
    out.carried_out(us(300), kFirstPathRegion, 2, 2);
    out.leave(us(600), kBarrier);
    const auto between = static_cast<std::uint64_t>(GENERATE(5, 1000));
    Session session(
        TraceSource::from_bytes(gathered(tasks), "rounds"), {}, [](double) {}, between);
    const auto rounds = session.nested({microseconds(150), microseconds(700)}, 0, 1);
    REQUIRE(rounds.size() == 2);
    CHECK(session.definitions().region(rounds[0].region).name == "ring 1/2");
    CHECK(rounds[0].from == microseconds(100));
    CHECK(rounds[0].to == microseconds(300));
    CHECK(session.definitions().region(rounds[1].region).name == "ring 2/2");
    CHECK(rounds[1].to == microseconds(600));
    CHECK(session.part_of_nested(rounds[1].region) == static_cast<std::size_t>(State::kCollective));
}

TEST_CASE("a summary says how collective calls were carried out") {
    constexpr std::uint32_t kBarrier = static_cast<std::uint32_t>(Call::kSync);
    std::vector<StreamWriter> tasks{task_stream(0, 1)};
    StreamWriter& out = tasks[0];
    out.define(0, Defined::kRegion, kFirstPathRegion, "ring", 1);
    out.define(0, Defined::kRegion, kFirstPathRegion + 1, "multicast", 1);
    std::uint64_t now = 100;
    for (const std::uint32_t path : {0u, 1u, 0u}) {
        out.enter(us(now), kBarrier);
        out.carried_out(us(now), kFirstPathRegion + path, path == 0 ? 1 : 0, path == 0 ? 3 : 0);
        now += 100;
        out.leave(us(now), kBarrier);
    }
    const TraceSource source = TraceSource::from_bytes(gathered(tasks), "paths");
    Symbols symbols;
    const Summary summary = summarize(source, symbols, [](double) {});
    REQUIRE(summary.paths.size() == 2);
    CHECK(summary.paths[0].path == "ring");
    CHECK(summary.paths[0].calls == 2);
    CHECK(summary.paths[0].rounds == 3);
    CHECK(summary.paths[0].time == microseconds(200));
    CHECK(summary.paths[1].path == "multicast");
    CHECK(summary.paths[1].rounds == 0);
}
