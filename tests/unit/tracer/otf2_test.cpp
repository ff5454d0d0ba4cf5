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
    const std::string text = (folder.path / "print.txt").string();
    REQUIRE(std::system(("otf2-print " + archive + "/trace.otf2 >" + text + " 2>&1").c_str()) == 0);
    std::ifstream file(text);
    const std::string printed{std::istreambuf_iterator<char>(file), {}};
    const auto count = [&printed](const std::string& what) {
        std::size_t lines = 0;
        for (std::size_t at = printed.find("\n" + what); at != std::string::npos;
             at = printed.find("\n" + what, at + 1))
            ++lines;
        return lines;
    };
    CHECK(count("ENTER ") == 9);
    CHECK(count("LEAVE ") == 9);
    CHECK(count("MPI_SEND ") == 2);
    CHECK(count("MPI_RECV ") == 2);
    CHECK(count("MPI_COLLECTIVE_END ") == 4);
    CHECK(count("METRIC ") == 4);
    CHECK(printed.find("warning") == std::string::npos);
    CHECK(printed.find("UNKNOWN") == std::string::npos);
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
