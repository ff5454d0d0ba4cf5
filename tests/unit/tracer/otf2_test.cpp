// OTF2: what is exported comes back the same; what others have written plays.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/tracer/folder.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/exchange/import_otf2.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

Summary sums_of(const TraceSource& source) {
    Symbols symbols;
    return summarize(source, symbols, [](double) {});
}

void export_small(const std::string& folder) {
    const TraceSource source = small_trace();
    export_trace(source, {{source.begin(), source.end()}, std::nullopt}, *otf2_sink(folder),
                 [](double) {});
}

// What otf2-print says about an archive.
std::string printed(const Folder& folder, const std::string& archive) {
    const std::string text = (folder.path / "print.txt").string();
    REQUIRE(std::system(("otf2-print " + archive + "/trace.otf2 >" + text + " 2>&1").c_str()) == 0);
    std::ifstream file(text);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t lines_of(const std::string& text, const std::string& what) {
    std::size_t lines = 0;
    for (std::size_t at = text.find("\n" + what); at != std::string::npos;
         at = text.find("\n" + what, at + 1))
        ++lines;
    return lines;
}

}  // namespace

TEST_CASE("a trace exported to OTF2 and read back has the same sums") {
    const Folder folder;
    const std::string archive = (folder.path / "out").string();
    export_small(archive);
    const Summary before = sums_of(small_trace());
    const Summary after = sums_of(import_otf2(archive + "/trace.otf2"));
    CHECK(after.problems.empty());
    REQUIRE(after.tasks.size() == 4);
    CHECK(after.messages == before.messages);
    CHECK(after.facts.nodes == before.facts.nodes);
    REQUIRE(after.calls.size() == before.calls.size());
    for (std::size_t i = 0; i < before.calls.size(); ++i) {
        CHECK(after.calls[i].name == before.calls[i].name);
        CHECK(after.calls[i].time == before.calls[i].time);
        CHECK(after.calls[i].calls == before.calls[i].calls);
    }
    for (std::size_t why = 0; why < 3; ++why)
        CHECK(after.waits[why].time == before.waits[why].time);
    for (std::size_t task = 0; task < 4; ++task)
        CHECK(after.tasks[task].bytes_sent == before.tasks[task].bytes_sent);
    CHECK_THROWS_WITH(otf2_sink(archive), Catch::Contains("it is there already"));
}

TEST_CASE("otf2-print reads what is exported") {
    const Folder folder;
    const std::string archive = (folder.path / "out").string();
    export_small(archive);
    const std::string text = printed(folder, archive);
    CHECK(lines_of(text, "ENTER ") == 9);
    CHECK(lines_of(text, "LEAVE ") == 9);
    CHECK(lines_of(text, "MPI_SEND ") == 2);
    CHECK(lines_of(text, "MPI_RECV ") == 2);
    CHECK(lines_of(text, "MPI_COLLECTIVE_END ") == 4);
    CHECK(lines_of(text, "METRIC ") == 4);
    CHECK(text.find("warning") == std::string::npos);
    CHECK(text.find("UNKNOWN") == std::string::npos);
}

TEST_CASE("samples are exported with their calling contexts, beside the calls of their task") {
    StreamWriter task = task_stream(0, 1);
    task.enter(10'000, kSolve);
    task.enter(20'000, kBrecvCall, 0, 7);
    task.leave(30'000, kBrecvCall);
    task.leave(90'000, kSolve);
    StreamFacts facts = daemon_facts(0, 1);
    facts.kind = StreamKind::kSamples;
    StreamWriter samples(facts);
    const auto put = [&samples](std::uint64_t time, Kind kind, int detail, std::uint16_t extra,
                                std::uint32_t a, std::uint64_t b) {
        samples.put(time, {.kind = kind,
                           .detail = static_cast<std::uint8_t>(detail),
                           .extra = extra,
                           .a = a,
                           .b = b});
    };
    const auto path = [&put](std::uint32_t id, std::uint32_t caller, std::uint32_t site) {
        put(0, Kind::kDefine, static_cast<int>(Defined::kPath), 0, id, pair(caller, site));
    };
    put(0, Kind::kSampling, static_cast<int>(SamplingFact::kPeriod), 0, kNobody, 10'000'000);
    samples.define(0, Defined::kLine, 1, "main.c", 10);
    samples.define(0, Defined::kLine, 2, "solve.c", 20);
    samples.define(0, Defined::kLine, 3, "input.c", 30);
    path(1, 0, 1);
    path(2, 1, 2);
    path(3, 1, 3);
    put(15'000, Kind::kSample, 0, 1, 0, pair(2, 71));
    put(25'000, Kind::kSample, 0, 3, 0, pair(2, 71));
    put(26'000, Kind::kSample, kSampleWaiting, 1, 0, pair(1, 72));
    put(40'000, Kind::kSample, 0, 1, 0, pair(3, 71));
    put(50'000, Kind::kSample, 0, 1, 7, pair(3, 71));  // a task that does not exist
    put(60'000, Kind::kSample, 0, 1, 0, pair(9, 71));  // a path that does not exist
    const std::string bytes = job_bytes(1) + task.bytes() + samples.bytes();
    const Folder folder;
    const std::string archive = (folder.path / "out").string();
    const auto exported = [&](Time from) {
        std::filesystem::remove_all(archive);
        const TraceSource source = TraceSource::from_bytes(bytes, "test");
        export_trace(source, {{from, source.end()}, std::nullopt}, *otf2_sink(archive),
                     [](double) {});
        return printed(folder, archive);
    };
    const std::string text = exported(Time{0});
    CHECK(lines_of(text, "CALLING_CONTEXT_ENTER ") == 2);
    CHECK(lines_of(text, "CALLING_CONTEXT_LEAVE ") == 2);
    CHECK(lines_of(text, "ENTER ") == 0);  // not allowed beside samples
    CHECK(lines_of(text, "CALLING_CONTEXT_SAMPLE ") == 4);
    CHECK(text.find("warning") == std::string::npos);
    CHECK(text.find("UNKNOWN") == std::string::npos);
    // Of the first sample two contexts are new, of the second none, of the last one its innermost.
    std::vector<std::string> distances;
    for (std::size_t at = 0; (at = text.find("Unwind Distance: ", at)) != std::string::npos;) {
        at += 17;
        distances.push_back(text.substr(at, text.find_first_of(", \n", at) - at));
    }
    CHECK(distances == std::vector<std::string>{"2", "3", "2", "1", "2", "2"});
    CHECK(text.find("(\"samples\" <1>; UINT32; 3)") != std::string::npos);
    CHECK(text.find("elapsed time while the thread sleeps") != std::string::npos);
    // What was defined before the range is known in it.
    CHECK(lines_of(exported(Time{30'000}), "CALLING_CONTEXT_SAMPLE ") == 1);

    const Summary again = sums_of(import_otf2(archive + "/trace.otf2"));
    REQUIRE(again.tasks.size() == 1);  // the threads' locations are no tasks
}

TEST_CASE("an archive of another tool plays") {
    const Folder folder;
    const std::string archive = (folder.path / "theirs").string();
    REQUIRE(
        std::system(("/usr/bin/python3 " POE_SOURCE "/tests/unit/tracer/write_otf2.py " + archive)
                        .c_str()) == 0);
    const TraceSource source = import_otf2(archive + "/traces.otf2");
    const Summary summary = sums_of(source);
    CHECK(summary.problems.empty());
    REQUIRE(summary.tasks.size() == 3);  // every thread is one, the helper is the second
    CHECK(summary.messages == 1);
    CHECK(summary.tasks[0].bytes_sent == 1024);
    CHECK(summary.waits[0].time == microseconds(300));  // 1 in MPI_Recv from 100, 0 sends at 400
    CHECK(summary.facts.nodes == std::vector<std::string>{"node0"});
    const auto call = std::find_if(summary.calls.begin(), summary.calls.end(),
                                   [](const CallSum& c) { return c.name == "MPI_Recv"; });
    REQUIRE(call != summary.calls.end());
    CHECK(call->time == microseconds(450));
    CHECK(call->state == State::kReceiving);
    std::ostringstream csv;
    export_trace(source, {{source.begin(), source.end()}, std::nullopt}, *csv_sink(csv),
                 [](double) {});
    CHECK(csv.str().find("counter,2,,0.000900000,,temperature,,,40.5\n") != std::string::npos);
}

TEST_CASE("what is no archive is refused") {
    const Folder folder;
    const std::string file = (folder.path / "bad.otf2").string();
    std::ofstream(file) << "nonsense";
    CHECK_THROWS_AS(import_otf2(file), Error);
    CHECK_THROWS_AS(import_otf2("/nowhere.otf2"), Error);
}
