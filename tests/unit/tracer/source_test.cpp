// Reading streams: whole ones, and all that can be wrong with them.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/read/event_merge.hpp"
#include "tracer/read/trace_source.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

std::vector<Event> all_events(const TraceSource& source) {
    std::vector<Event> events;
    EventMerge merge(source);
    for (Event event; merge.next(event);) events.push_back(event);
    return events;
}

bool tells(const TraceSource& source, const std::string& part) {
    for (const std::string& problem : source.problems())
        if (problem.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("a gathered trace: facts, order, times") {
    const TraceSource source = small_trace();
    CHECK(source.problems().empty());
    CHECK(source.facts().tasks == 4);
    CHECK(source.facts().program == "solver");
    CHECK(source.facts().nodes == std::vector<std::string>{"n0"});
    CHECK(source.begin() == Time(0));
    CHECK(source.end() == std::chrono::microseconds(1000));
    const auto events = all_events(source);
    CHECK(std::is_sorted(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; }));
    std::size_t markers = 0;
    for (const Event& event : events)
        if (event.record.kind == Kind::kMarker) {
            ++markers;
            CHECK(source.text_of(event, event.record.a) == "after meeting");
        }
    CHECK(markers == 4);
}

TEST_CASE("any beginning of a trace plays, and says what is missing") {
    const std::string whole = gathered(small_streams());
    std::size_t before = 0;
    for (std::size_t size = 2 * kHeaderBytes + kHeaderBytes; size + kHeaderBytes < whole.size();
         size += 1000) {
        const auto source = TraceSource::from_bytes(std::string_view(whole).substr(0, size), "cut");
        const std::size_t count = all_events(source).size();
        CHECK(count >= before);
        CHECK_FALSE(source.problems().empty());
        before = count;
    }
    const auto cut =
        TraceSource::from_bytes(std::string_view(whole).substr(0, 3 * kHeaderBytes + 100), "cut");
    CHECK(tells(cut, "the file ends before"));
    CHECK(tells(cut, "3 of 4 tasks have no stream, the first is task 1"));
}

TEST_CASE("holes are passed over") {
    StreamWriter out = task_stream(0, 1);
    send_call(out, 10, 20, 0);
    out.leave_hole();
    send_call(out, 30, 40, 0);
    const auto source = TraceSource::from_bytes(out.bytes(), "holes");
    EventMerge merge(source);
    std::size_t sends = 0;
    for (Event event; merge.next(event);) sends += event.record.kind == Kind::kSend ? 1 : 0;
    CHECK(sends == 2);
    CHECK(merge.holes() == 1);
}

TEST_CASE("a stream without records hides none behind it") {
    StreamWriter full = task_stream(1, 2);
    send_call(full, 10, 20, 0);
    const std::string bytes = gathered({StreamWriter(StreamFacts{}), full});
    const auto source = TraceSource::from_bytes(bytes, "empty");
    REQUIRE(source.streams().size() == 2);
    CHECK(source.streams()[0].end == 0);
    CHECK(source.streams()[1].end == full.records());
    CHECK(source.problems().empty());
}

TEST_CASE("of a stream that wraps the last part is there") {
    constexpr std::uint64_t kCapacity = 100;
    StreamWriter out = task_stream(0, 2, kCapacity);
    for (std::uint64_t i = 0; i < 1000; ++i) out.send(us(i), 1, 0, i);
    const auto source = TraceSource::from_bytes(out.bytes(), "wrapped");
    const auto events = all_events(source);
    REQUIRE(events.size() == kCapacity);
    CHECK(low(events.front().record.b) == 900);
    CHECK(low(events.back().record.b) == 999);
    CHECK(source.begin() == std::chrono::microseconds(900));
}

TEST_CASE("times are unwrapped, forwards and a little backwards") {
    constexpr std::uint64_t kDay = 86'400'000'000'000;
    StreamWriter out = task_stream(0, 1);
    for (std::uint64_t day = 0; day < 10; ++day) {
        out.counter(day * kDay, kResidual, 1);
        out.counter(day * kDay - (day > 0 ? 1000 : 0), kResidual, 2);
    }
    const auto source = TraceSource::from_bytes(out.bytes(), "long");
    CHECK(all_events(source).back().time ==
          std::chrono::hours(9 * 24) - std::chrono::microseconds(1));
    CHECK(all_events(source).size() == 26);
}

TEST_CASE("the context and request of a message are found behind it") {
    StreamWriter out = task_stream(0, 1);
    out.send(us(1), 0, 7, 100, 1);
    out.send(us(2), 0, 7, 100, 2);
    out.about(us(2), 16, 3);
    out.receive(us(3), 0, 7, Bytes{6} << 30, 1);
    out.about(us(3), 0xfffffff0u, 0);
    const auto source = TraceSource::from_bytes(out.bytes(), "contexts");
    std::vector<Event> messages;
    for (const Event& event : all_events(source)) {
        CHECK(event.record.kind != Kind::kContext);
        if (event.record.kind == Kind::kSend || event.record.kind == Kind::kReceive)
            messages.push_back(event);
    }
    REQUIRE(messages.size() == 3);
    CHECK(source.about_of(messages[0]).context == 0);
    CHECK(source.about_of(messages[1]).context == 16);
    CHECK(source.about_of(messages[1]).request == 3);
    CHECK(source.about_of(messages[2]).context == 0xfffffff0u);
    CHECK(source.bytes_of(messages[2]) == Bytes{6} << 30);
}

TEST_CASE("damage in the middle costs one stream") {
    std::string bytes = gathered(small_streams());
    const std::size_t second = 3 * kHeaderBytes + kHeaderBytes;
    REQUIRE(bytes.substr(second, 8) == "POETRACE");
    bytes[second] = 'X';
    const auto source = TraceSource::from_bytes(bytes, "damaged");
    CHECK(source.streams().size() == 3);
    CHECK(tells(source, "not of a trace, or damaged"));
}

TEST_CASE("what is no trace is refused") {
    CHECK_THROWS_AS(TraceSource::from_bytes("", "empty"), Error);
    CHECK_THROWS_AS(TraceSource::from_bytes(std::string(10'000, 'x'), "text"), Error);
    CHECK_THROWS_AS(TraceSource::open("/nowhere/trace"), Error);
    std::string later = small_streams()[0].bytes();
    later[8] = static_cast<char>(kVersion + 1);
    CHECK_THROWS_WITH(
        TraceSource::from_bytes(later, "later"),
        Catch::Contains("has version " + std::to_string(kVersion + 1) + " of the format"));
}

TEST_CASE("a folder of parts, with other files in it") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("vt_parts_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const auto streams = small_streams();
    for (std::size_t i = 0; i < streams.size(); ++i)
        std::ofstream(folder / ("task" + std::to_string(i)), std::ios::binary)
            << streams[i].bytes(i % 2 == 0);
    std::ofstream(folder / "notes.txt") << "hello";
    const TraceSource source = TraceSource::open(folder.string());
    CHECK(source.facts().tasks == 4);
    CHECK(source.open_ended());
    CHECK(all_events(source).size() == all_events(small_trace()).size());
    std::filesystem::remove_all(folder);
}

TEST_CASE("clocks of nodes are fitted: nothing arrives before it was sent") {
    // Node 1 is 7 ms ahead and gains 20 us in a second; some measurements took long and lie.
    constexpr std::int64_t kAhead = 7'000'000;
    const auto of_node_1 = [](std::uint64_t time) {
        return time + static_cast<std::uint64_t>(kAhead) + time / 50'000;
    };
    std::string bytes;
    StreamWriter home = task_stream(0, 2);
    StreamWriter away = task_stream(1, 2, 0, 1);
    StreamFacts of_daemon;
    of_daemon.kind = StreamKind::kNode;
    of_daemon.node = 1;
    of_daemon.tasks = 2;
    of_daemon.origin = kOrigin;
    StreamWriter daemon(of_daemon);
    for (std::uint64_t s = 0; s <= 30; s += 10)
        for (std::uint64_t i = 0; i < 5; ++i) {
            const std::uint64_t at = s * 1'000'000'000 + i * 1'000'000;
            const auto offset = static_cast<std::int64_t>(of_node_1(at) - at);
            const bool good = i == 3;
            daemon.put(of_node_1(at),
                       {.kind = Kind::kClock,
                        .a = good ? 20'000u : 900'000u,
                        .b = static_cast<std::uint64_t>(offset + (good ? 0 : 400'000))});
        }
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::uint64_t at = i * 10'000'000 + 5'000'000;
        home.send(at, 1, 0, 8);
        away.receive(of_node_1(at + 20'000), 0, 0, 8);
        away.send(of_node_1(at + 40'000), 0, 0, 8);
        home.receive(at + 60'000, 1, 0, 8);
    }
    bytes = home.bytes() + away.bytes() + daemon.bytes();
    const auto source = TraceSource::from_bytes(bytes, "clocks");
    Time last{-1};
    std::size_t in_order = 0;
    std::size_t messages = 0;
    for (const Event& event : all_events(source)) {
        if (event.record.kind != Kind::kSend && event.record.kind != Kind::kReceive) continue;
        ++messages;
        in_order += event.time >= last + std::chrono::microseconds(10) ? 1 : 0;
        last = event.time;
    }
    CHECK(messages == 12'000);
    CHECK(in_order == messages);
}

TEST_CASE("a file of another kind is said to be no trace") {
    const auto path =
        std::filesystem::temp_directory_path() / ("vt_readme_" + std::to_string(::getpid()) + ".c");
    for (const std::size_t bytes : {0, 20, 100'000}) {
        std::ofstream(path) << std::string(bytes, 'x');
        std::string error;
        try {
            TraceSource::open(path.string());
        } catch (const Error& caught) {
            error = caught.what();
        }
        INFO(error);
        CHECK(error.find("it is not a trace (poe -tracelevel writes traces") != std::string::npos);
    }
    std::filesystem::remove(path);
}
