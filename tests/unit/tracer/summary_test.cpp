// The sums of a trace, against what was put in.
#include "tracer/analysis/summary.hpp"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/demangled.hpp"
#include "tests/unit/poe/golden.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/playback/vt_options.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

Summary sums_of(const TraceSource& source) {
    Symbols symbols;
    return summarize(source, symbols, [](double) {});
}

}  // namespace

TEST_CASE("a summary names the late, and adds up") {
    const Summary summary = sums_of(small_trace());
    REQUIRE(summary.waits.size() == Wait::kWhys);
    CHECK(summary.waits[0].time == microseconds(300));
    CHECK(summary.waits[1].time == microseconds(200));
    CHECK(summary.waits[2].time == microseconds(750));
    CHECK(summary.waits[3].count == 0);
    CHECK(summary.stalls.front().task == 1);
    CHECK(summary.stalls.front().whom == 0);
    CHECK(summary.stalls.front().line == "solver+0x1234");
    CHECK(summary.pairs.front().bytes == 100'000);
    CHECK(summary.busiest() == 3);
    Time whole{0};
    for (const Time time : summary.spent()) whole += time;
    CHECK(whole == 4 * microseconds(1000));
    const std::string text = summary_text(summary);
    CHECK(text == poe::test::golden_text("trace/summary.txt", text));
}

TEST_CASE("a summary as JSON") {
    const auto json = nlohmann::json::parse(summary_json(sums_of(small_trace())));
    CHECK(json["tasks"].size() == 4);
    CHECK(json["waits"][0]["why"] == "late sender");
    CHECK(json["stalls"][0]["seconds"] == Approx(300e-6));
    CHECK(json["problems"].empty());
}

TEST_CASE("the text has the ten longest sums of waits, and the JSON has all") {
    // Each of twelve tasks waits for task 0 for another time.
    constexpr TaskId kWaiting = 12;
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task <= kWaiting; ++task)
        tasks.push_back(task_stream(task, kWaiting + 1));
    for (TaskId task = 1; task <= kWaiting; ++task) {
        const auto sent = 100 * static_cast<std::uint64_t>(task);
        send_call(tasks[0], sent, sent + 2, task);
        receive_call(tasks[static_cast<std::size_t>(task)], 1, sent + 10, 0);
    }
    const Summary summary = sums_of(TraceSource::from_bytes(gathered(tasks), "many"));
    const auto blame = nlohmann::json::parse(summary_json(summary))["blame"];
    REQUIRE(blame.size() == kWaiting);
    CHECK(blame.front()["task"] == kWaiting);
    CHECK(blame.back()["task"] == 1);
    const std::string text = summary_text(summary);
    CHECK(text.find("task 3 for task 0:") != std::string::npos);
    CHECK(text.find("task 2 for task 0:") == std::string::npos);
}

TEST_CASE("calls that never ended, and what is missing, are told") {
    StreamWriter out = task_stream(0, 2);
    out.enter(us(10), kBrecvCall, 1, 5, 1);
    const Summary summary = sums_of(TraceSource::from_bytes(out.bytes(), "stuck"));
    REQUIRE(summary.unfinished.size() == 1);
    CHECK(summary.unfinished[0].peer == 1);
    const std::string text = summary_text(summary);
    CHECK(text.find("task 0 is in mpc_brecv with task 1 from solver+0x1234") != std::string::npos);
    CHECK(text.find("1 of 2 tasks have no stream, the first is task 1") != std::string::npos);
}

TEST_CASE("two traces compared") {
    auto slower = small_streams();
    send_call(slower[0], 1100, 2100, 1);
    const std::string text = diff_text(sums_of(small_trace()),
                                       sums_of(TraceSource::from_bytes(gathered(slower), "slow")));
    CHECK(text.find("sending                      400.0 us   1.400 ms  +250.0%") !=
          std::string::npos);
}

TEST_CASE("source lines come from debugging information") {
    Symbols symbols;
    Dl_info about{};
    REQUIRE(::dladdr(reinterpret_cast<void*>(&summary_json), &about) != 0);
    const auto address = reinterpret_cast<std::uintptr_t>(&summary_json) -
                         reinterpret_cast<std::uintptr_t>(about.dli_fbase);
    CHECK(symbols.line_of({"/proc/self/exe", address + 4}).function == "poe::trace::summary_json");
    const CodeLine& line = symbols.line_of({"/nowhere", 5});
    CHECK(line.file.empty());
    CHECK(line.words({"/x/prog", 0x20}) == "prog+0x20");
}

// A C function with the name of a type in the encoding of C++.
extern "C" __attribute__((noinline, visibility("default"))) int f(int x) {
    return x + 1;
}

TEST_CASE("only names that begin with _Z are names of C++") {
    CHECK(demangled("f") == "f");
    CHECK(demangled("v") == "v");
    CHECK(demangled("_ZN3poe5trace12summary_jsonERKNS0_7SummaryE") ==
          "poe::trace::summary_json(poe::trace::Summary const&)");
    CHECK(demangled("_Znonsense") == "_Znonsense");
    Symbols symbols;
    Dl_info about{};
    REQUIRE(::dladdr(reinterpret_cast<void*>(&f), &about) != 0);
    const auto address =
        reinterpret_cast<std::uintptr_t>(&f) - reinterpret_cast<std::uintptr_t>(about.dli_fbase);
    CHECK(symbols.line_of({"/proc/self/exe", address}).function == "f");
}

TEST_CASE("times as they are typed and shown") {
    const Time end = std::chrono::seconds(10);
    CHECK(read_time("1.5", Time{0}, end) == std::chrono::milliseconds(1500));
    CHECK(read_time("300ms", Time{0}, end) == std::chrono::milliseconds(300));
    CHECK(read_time("2:05", Time{0}, end) == std::chrono::seconds(125));
    CHECK(read_time("40%", Time{0}, end) == std::chrono::seconds(4));
    CHECK(read_time("7ns", Time{0}, end) == Time{7});
    for (const char* wrong : {"", "s", "1x", "-1", "120%", "1e300", ":", "inf"})
        CHECK_FALSE(read_time(wrong, Time{0}, end));
    CHECK(span_words(Time{12}) == "12 ns");
    CHECK(span_words(microseconds(1234)) == "1.234 ms");
    CHECK(span_words(std::chrono::seconds(125)) == "2:05.0");
    CHECK(moment_words(microseconds(1234567), microseconds(1)) == "1.234567 s");
}

TEST_CASE("arguments of vt") {
    const auto read = [](std::vector<std::string> words) { return read_vt_options(words); };
    CHECK(read({"-summary", "x"}).value().request == VtOptions::Request::kSummary);
    CHECK(read({"--summary", "-json", "x"}).value().json);
    CHECK(read({"-summary", "x"}).value().repair);
    CHECK_FALSE(read({"-summary", "-norepair", "x"}).value().repair);
    CHECK(read({"-diff", "a", "b"}).value().traces.size() == 2);
    CHECK(read({"-sumary", "x"}).error().str().find("did you mean -summary?") != std::string::npos);
    CHECK_FALSE(read({}));
    CHECK_FALSE(read({"a", "b"}));
    CHECK_FALSE(read({"-diff", "a"}));
}
