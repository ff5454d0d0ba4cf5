// Damaged traces: nothing crashes, no time is absurd, and of a gathered trace every damage is told.
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/tracer/played.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/read/merge.hpp"
#include "tracer/read/repair.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kLength = 200'000;  // us

// Four tasks on two nodes that exchange messages for 200 ms; with the streams of both daemons.
std::vector<StreamWriter> busy_streams(std::uint32_t version = kVersion) {
    std::vector<StreamWriter> streams;
    for (NodeIndex node = 0; node < 2; ++node) {
        StreamFacts facts = daemon_facts(node, 4);
        facts.version = version;
        StreamWriter out(facts);
        for (std::uint64_t i = 0; i < 16; ++i)
            out.put(us(i < 8 ? 1 + i : kLength - 20 + i),
                    {.kind = Kind::kClock, .a = node == 0 ? 0u : 20'000u});
        streams.push_back(std::move(out));
    }
    for (TaskId task = 0; task < 4; ++task) {
        StreamWriter out = task_stream(task, 4, 0, task / 2, version);
        std::uint16_t round = 0;
        for (std::uint64_t at = 10; at + 200 < kLength; at += 200) {
            ++round;
            out.enter(us(at), kSolve);
            out.leave(us(at + 50), kSolve);
            send_call(out, at + 50, at + 60, (task + 1) % 4, 8000, round);
            receive_call(out, at + 60, at + 100, (task + 3) % 4, 8000, round);
            sync_call(out, at + 110, at + 130, round);
            out.counter(us(at + 140), kResidual, 1.0 / round);
        }
        streams.push_back(std::move(out));
    }
    return streams;
}

std::string busy_trace(std::uint32_t version = kVersion) {
    std::string bytes = job_bytes(4, version);
    for (const StreamWriter& stream : busy_streams(version)) bytes += stream.bytes();
    return bytes;
}

Summary sums_of(const TraceSource& source) {
    Symbols symbols;
    return summarize(source, symbols, [](double) {});
}

bool is_warned(const Summary& summary) {
    return !summary.problems.empty() || summary.holes > 0 || summary.implausible > 0;
}

void check_times(const Summary& summary, Time length) {
    CHECK(summary.end - summary.begin <= length);
    for (const TaskSum& task : summary.tasks)
        for (const Time spent : task.spent) CHECK((spent >= Time{0} && spent <= length));
    for (const WaitSum& wait : summary.waits)
        CHECK((wait.time >= Time{0} && wait.time <= 4 * length));
    for (const Stall& stall : summary.stalls) CHECK(stall.to - stall.from <= length);
    for (const CallSum& call : summary.calls) CHECK(call.longest <= length);
}

// What can happen to a file, by chance.
std::string damaged(const std::string& whole, std::mt19937& random) {
    std::string bytes = whole;
    const auto anywhere = [&] { return random() % bytes.size(); };
    switch (random() % 4) {
        case 0:
            bytes[anywhere()] ^= static_cast<char>(1u << random() % 8);
            break;
        case 1:
            for (int i = 0; i < 10; ++i) bytes[anywhere()] ^= static_cast<char>(1u << random() % 8);
            break;
        case 2:
            bytes.resize(anywhere());
            break;
        default: {
            const std::size_t at = anywhere();
            const std::size_t count = std::min<std::size_t>(1 + random() % 8192, bytes.size() - at);
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, '\0');
        }
    }
    return bytes;
}

}  // namespace

TEST_CASE("of a gathered trace every damage is told, and no time is absurd") {
    const std::string whole = busy_trace();
    const Summary sound = sums_of(TraceSource::from_bytes(whole, "sound"));
    REQUIRE_FALSE(is_warned(sound));
    const Time length = sound.end - sound.begin;
    std::mt19937 random(20261124);
    int refused = 0;
    for (int i = 0; i < 600; ++i) {
        const std::string bytes = damaged(whole, random);
        if (bytes == whole) continue;
        INFO("damage " << i);
        try {
            TraceSource source = TraceSource::from_bytes(bytes, "damaged");
            const Summary summary = sums_of(source);
            CHECK_FALSE(summary.problems.empty());
            check_times(summary, length);
            repair_clocks(source);
            CHECK(source.end() - source.begin() <= 2 * length);
        } catch (const Error&) {
            ++refused;  // nothing of it can be played, and that is said
        }
    }
    CHECK(refused < 60);
}

TEST_CASE("one bit of a time in a gathered trace") {
    const std::string whole = busy_trace();
    const Summary sound = sums_of(TraceSource::from_bytes(whole, "sound"));
    const Time length = sound.end - sound.begin;
    // Records of task 2: behind the job, two daemons, two tasks.
    const std::size_t task = whole.find("POETRACE", whole.size() * 6 / 10);
    REQUIRE(task != std::string::npos);
    for (int bit = 0; bit < 48; ++bit) {
        std::string bytes = whole;
        const std::size_t at = task + kHeaderBytes + 24 * 2000 + static_cast<std::size_t>(bit / 8);
        bytes[at] ^= static_cast<char>(1 << bit % 8);
        const Summary summary = sums_of(TraceSource::from_bytes(bytes, "flipped"));
        REQUIRE(summary.problems.size() == 1);
        CHECK(summary.problems[0].find("blocks of task") != std::string::npos);
        check_times(summary, length);
        if (bit >= 21) CHECK(summary.implausible == 1);
    }
}

TEST_CASE("a trace of version 1 plays, and its times are checked by what is around them") {
    const std::string whole = busy_trace(1);
    const Summary sound = sums_of(TraceSource::from_bytes(whole, "version 1"));
    CHECK_FALSE(is_warned(sound));
    const Summary now = sums_of(TraceSource::from_bytes(busy_trace(), "version 2"));
    CHECK(summary_text(sound) == summary_text(now));
    const std::size_t task = whole.find("POETRACE", whole.size() * 6 / 10);
    REQUIRE(task != std::string::npos);
    for (int bit = 31; bit < 48; ++bit) {
        std::string bytes = whole;
        const std::size_t at = task + kHeaderBytes + 24 * 2000 + static_cast<std::size_t>(bit / 8);
        bytes[at] ^= static_cast<char>(1 << bit % 8);
        const Summary summary = sums_of(TraceSource::from_bytes(bytes, "flipped"));
        CHECK(summary.implausible == 1);
        check_times(summary, sound.end - sound.begin);
    }
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
        try {
            sums_of(TraceSource::from_bytes(damaged(whole, random), "damaged"));
        } catch (const Error&) {
        }
    }
}

TEST_CASE("whoever gathers a trace adds the sums") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("vt_sums_" + std::to_string(::getpid()));
    const std::string parts = (folder / "run.trc.job.parts").string();
    const std::string merged = (folder / "run.trc").string();
    std::filesystem::create_directories(parts);
    const std::uint32_t version = GENERATE(1u, 2u);
    const auto streams = busy_streams(version);
    std::ofstream(parts + "/job.stream", std::ios::binary) << job_bytes(4, version);
    for (std::size_t i = 0; i < streams.size(); ++i)
        std::ofstream(parts + "/" + std::to_string(i) + ".stream", std::ios::binary)
            << streams[i].bytes(false);
    // A stream in which nobody has recorded, and one that wraps.
    const auto report = merge_trace(parts, merged);
    REQUIRE(report.ok());
    const TraceSource source = TraceSource::open(merged);
    CHECK(source.problems().empty());
    CHECK(source.streams().size() == streams.size());
    for (const Stream& stream : source.streams()) {
        CHECK_FALSE(stream.sums.empty());
        CHECK(stream.latest.has_value());
    }
    std::ifstream file(merged, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    std::mt19937 random(3);
    for (int i = 0; i < 100; ++i) {
        std::string bytes = whole;
        bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
        try {
            CHECK_FALSE(TraceSource::from_bytes(bytes, "flipped").problems().empty());
        } catch (const Error&) {
        }
    }
    std::filesystem::remove_all(folder);
}
