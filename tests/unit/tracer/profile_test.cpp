// Profiles: which samples belong to which state, phase and function, and what damaged streams leave
// of them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/diagnosis/diagnosis.hpp"
#include "tracer/playback/flame_layout.hpp"

namespace poe::trace {
namespace {

using namespace test;

constexpr std::uint64_t kMs = 1'000'000;

// Task 0 is in the phase "solve" from 0 to 50 ms and in mpc_brecv from 60 to 90 ms.
StreamWriter task_with_phase() {
    StreamWriter task = task_stream(0, 1);
    task.enter(0, kSolve);
    task.leave(50 * kMs, kSolve);
    task.enter(60 * kMs, kBrecvCall, 0, 7);
    task.leave(90 * kMs, kBrecvCall);
    task.enter(100 * kMs, kSolve);
    task.leave(100 * kMs, kSolve);
    return task;
}

void sample(StreamWriter& stream, std::uint64_t time, std::uint32_t path, std::uint8_t flags = 0,
            std::uint16_t count = 1, std::uint32_t task = 0) {
    stream.put(
        time,
        {.kind = Kind::kSample, .detail = flags, .extra = count, .a = task, .b = pair(path, 99)});
}

void path(StreamWriter& stream, std::uint32_t id, std::uint32_t caller, std::uint32_t site) {
    stream.put(0, {.kind = Kind::kDefine,
                   .detail = static_cast<std::uint8_t>(Defined::kPath),
                   .a = id,
                   .b = pair(caller, site)});
}

// main calls solve and input. Sites have known lines, so that no object file is read.
StreamWriter sample_stream() {
    StreamFacts facts = daemon_facts(0, 1);
    facts.kind = StreamKind::kSamples;
    StreamWriter stream(facts);
    stream.put(0, {.kind = Kind::kSampling,
                   .detail = static_cast<std::uint8_t>(SamplingFact::kPeriod),
                   .a = kNobody,
                   .b = 10 * kMs});
    stream.define(0, Defined::kLine, 1, "main.c", 10);
    stream.define(0, Defined::kLine, 2, "solve.c", 20);
    stream.define(0, Defined::kLine, 3, "input.c", 30);
    path(stream, 1, 0, 1);
    path(stream, 2, 1, 2);
    path(stream, 3, 1, 3);
    return stream;
}

Analysis analysis_of(const StreamWriter& samples) {
    const std::string bytes = job_bytes(1) + task_with_phase().bytes() + samples.bytes();
    const TraceSource source = TraceSource::from_bytes(bytes, "test");
    Symbols symbols;
    return analyse(source, symbols, [](double) {});
}

}  // namespace

TEST_CASE("samples have the state and the phase of their task") {
    StreamWriter stream = sample_stream();
    sample(stream, 10 * kMs, 2);
    sample(stream, 20 * kMs, 2);
    sample(stream, 55 * kMs, 3);
    sample(stream, 70 * kMs, 1, kSampleWaiting, 2);
    const StackProfile profile = analysis_of(stream).profile;
    REQUIRE(profile.samples.size() == 4);
    CHECK(profile.period == Time{10 * kMs});
    CHECK(profile.samples[0].state == State::kComputing);
    CHECK(profile.regions[profile.samples[0].phase] == "solve");
    CHECK(profile.samples[2].phase == 0);
    CHECK(profile.samples[3].state == State::kReceiving);
    CHECK(profile.samples[3].waiting());
    CHECK(profile.samples[3].count == 2);

    const auto count = [&profile](const SampleFilter& filter) {
        std::uint64_t sum = 0;
        for (const StackSample& each : profile.samples)
            if (filter.takes(each, profile)) sum += each.count;
        return sum;
    };
    CHECK(count({}) == 3);
    CHECK(count({.phase = "solve"}) == 2);
    CHECK(count({.phase = "second"}) == 0);
    CHECK(count({.waiting = true}) == 2);
    CHECK(count({.state = State::kReceiving, .waiting = true}) == 2);
    CHECK(count({.state = State::kReceiving}) == 0);
    CHECK(count({.tasks = {1}}) == 0);
    CHECK(count({.window = Stretch{Time{15 * kMs}, Time{60 * kMs}}}) == 2);
}

TEST_CASE("lines have the time of their state") {
    StreamWriter stream = sample_stream();
    for (int i = 1; i <= 3; ++i) sample(stream, i * 10 * kMs, 2);
    sample(stream, 55 * kMs, 3);
    const Analysis found = analysis_of(stream);
    CHECK(found.profile_sums.samples == 4);
    REQUIRE(found.profile_sums.lines.size() >= 2);
    CHECK(found.profile_sums.lines[0].line == "solve.c:20");
    CHECK(found.profile_sums.lines[0].time == Time{30 * kMs});
    CHECK(found.profile_sums.lines[1].line == "input.c:30");
    const std::string text = analysis_text(found);
    CHECK(text.find("SAMPLES: 4 stacks") != std::string::npos);
    CHECK(text.find("solve.c:20") != std::string::npos);
    const auto json = nlohmann::json::parse(analysis_json(found));
    CHECK(json["samples"]["count"] == 4);
    CHECK(json["lines"][0]["seconds"] == 0.03);
}

TEST_CASE("counters are divided among the states by time") {
    StreamWriter stream = sample_stream();
    const auto reading = [&stream](std::uint64_t time, std::uint64_t value) {
        stream.put(time, {.kind = Kind::kSystem,
                          .detail = static_cast<std::uint8_t>(Metric::kInstructions),
                          .a = 0,
                          .b = value});
    };
    reading(50 * kMs, 1000);
    reading(70 * kMs, 3000);  // 10 ms of computing, 10 ms in mpc_brecv
    const StackProfile profile = analysis_of(stream).profile;
    const CounterSums& sums = profile.counters.at(Metric::kInstructions);
    CHECK(sums.counts[static_cast<std::size_t>(State::kComputing)] == Approx(2000));
    CHECK(sums.counts[static_cast<std::size_t>(State::kReceiving)] == Approx(1000));
    CHECK(sums.times[static_cast<std::size_t>(State::kReceiving)] == Time{10 * kMs});
}

TEST_CASE("samples of tasks and paths that do not exist do no harm") {
    StreamWriter stream = sample_stream();
    path(stream, 7, 6, 1);  // its caller is not defined
    sample(stream, 10 * kMs, 7);
    sample(stream, 11 * kMs, 1000);
    sample(stream, 12 * kMs, 1, 0, 1, 77);
    const Analysis found = analysis_of(stream);
    CHECK(found.profile.samples.size() == 2);
    CHECK(found.profile.samples[1].path == 0);
    Symbols symbols;
    const FlameNode root = make_flame(found.profile, {}, symbols);
    CHECK(root.samples == 2);
    CHECK(root.self == 1);
}

TEST_CASE("a flame has the callers of each function, and its boxes their shares") {
    StackProfile profile;
    profile.period = Time{kMs};
    profile.sites = {Site{}, Site{"[main]", 1}, Site{"[solve]", 2}, Site{"[input]", 3},
                     Site{"[solve]", 4}};
    profile.paths = {{0, 0}, {0, 1}, {1, 2}, {1, 3}, {1, 4}};
    for (const std::uint32_t number : {2, 2, 3, 4}) {
        StackSample each;
        each.path = number;
        profile.samples.push_back(each);
    }
    Symbols symbols;
    const FlameNode root = make_flame(profile, {}, symbols);
    REQUIRE(root.callees.size() == 1);
    REQUIRE(root.callees[0].callees.size() == 2);
    // Two places of one function are one node.
    CHECK(root.callees[0].callees[0].name == "[solve]");
    CHECK(root.callees[0].callees[0].samples == 3);
    CHECK(root.callees[0].callees[1].samples == 1);
    const auto boxes = flame_boxes(root, 0);
    REQUIRE(boxes.size() == 4);
    CHECK(boxes[2].name == "[solve]");
    CHECK(boxes[2].depth == 2);
    CHECK(boxes[2].to == Approx(0.75));
    CHECK(boxes[3].from == Approx(0.75));
    CHECK(boxes[3].to == Approx(1));
    CHECK(flame_boxes(root, 0.5).size() == 3);
    CHECK(flame_boxes(FlameNode{}, 0).empty());
    CHECK(folded_stacks(root) == "[main];[solve] 3\n[main];[input] 1\n");
    CHECK(folded_stacks(FlameNode{}).empty());
}

TEST_CASE("the summary in JSON has the stacks of each task and phase") {
    StackProfile profile;
    profile.period = Time{kMs};
    profile.sites = {Site{}, Site{"[main]", 1}, Site{"[solve]", 2}, Site{"[solve]", 4}};
    profile.paths = {{0, 0}, {0, 1}, {1, 2}, {1, 3}};
    profile.regions = {"", "heat"};
    const auto add = [&profile](TaskId task, std::uint32_t phase, std::uint32_t path,
                                std::uint16_t count, std::uint8_t flags = 0) {
        StackSample each;
        each.task = task;
        each.phase = phase;
        each.path = path;
        each.count = count;
        each.flags = flags;
        profile.samples.push_back(each);
    };
    add(1, 0, 1, 1);
    add(0, 1, 2, 2);
    add(0, 1, 3, 1);  // the same function, called from another line
    add(0, 0, 2, 5);
    add(0, 1, 1, 1);
    add(0, 1, 1, 7, kSampleWaiting);
    Symbols symbols;
    const nlohmann::json stacks = profile_json(profile, sum_profile(profile, symbols))["stacks"];
    const auto stack = [](TaskId task, const nlohmann::json& phase, bool slept,
                          std::vector<std::string> functions, int samples) {
        return nlohmann::json{{"task", task},
                              {"phase", phase},
                              {"slept", slept},
                              {"functions", std::move(functions)},
                              {"samples", samples}};
    };
    REQUIRE(stacks.size() == 5);
    CHECK(stacks[0] == stack(0, nullptr, false, {"[main]", "[solve]"}, 5));
    CHECK(stacks[1] == stack(0, "heat", false, {"[main]", "[solve]"}, 3));
    CHECK(stacks[2] == stack(0, "heat", false, {"[main]"}, 1));
    CHECK(stacks[3] == stack(0, "heat", true, {"[main]"}, 7));
    CHECK(stacks[4] == stack(1, nullptr, false, {"[main]"}, 1));
}

}  // namespace poe::trace
