// Statistics of the system as rates: never more of a processor than there is.
#include "tracer/playback/strips.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/tracer/views_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

constexpr std::uint64_t ms(std::uint64_t count) {
    return count * 1'000'000;
}

Record statistic(Metric metric, std::uint32_t owner, std::uint64_t sum) {
    return {
        .kind = Kind::kSystem, .detail = static_cast<std::uint8_t>(metric), .a = owner, .b = sum};
}

// Two tasks that compute all the time, for a second. The kernel tells their time in ticks of 10 ms,
// every 100 ms; when they end, 4 ms after the last sample, their exact time, a tick more.
std::string busy_trace(bool processors) {
    const StreamFacts facts = daemon_facts(0, 2);
    StreamWriter node(facts);
    std::vector<StreamWriter> tasks{task_stream(0, 2), task_stream(1, 2)};
    for (StreamWriter& task : tasks) task.enter(0, kSolve);
    if (processors) node.put(0, statistic(Metric::kProcessors, kNobody, 2));
    for (std::uint64_t now = 0; now <= 1000; now += 100) {
        // Two ticks too many at times, as if there were more processors.
        const std::uint64_t wrong = now % 300 == 0 ? 20 : 0;
        node.put(ms(now), statistic(Metric::kCpuUser, kNobody, ms(2 * now + wrong)));
        for (std::uint32_t task = 0; task < 2; ++task)
            node.put(ms(now), statistic(Metric::kCpuUser, task, ms(now)));
    }
    for (std::uint32_t task = 0; task < 2; ++task)
        node.put(ms(1004), statistic(Metric::kCpuUser, task, ms(1012)));
    for (StreamWriter& task : tasks) task.leave(ms(1004), kSolve);
    return job_bytes(2) + node.bytes() + tasks[0].bytes() + tasks[1].bytes();
}

const StripRow& row_of(const std::vector<StripRow>& rows, std::string_view name) {
    for (const StripRow& row : rows)
        if (row.name == name) return row;
    FAIL("no strip " << name);
    return rows.front();
}

}  // namespace

TEST_CASE("a sample soon after another one makes no processors that do not exist") {
    Playing playing(TraceSource::from_bytes(busy_trace(false), "busy"));
    const auto rows = strips_of(playing.look, playing.session, 100);
    CHECK(row_of(rows, "cpu user of all").highest() / 1e9 < 2.2);
    CHECK(row_of(rows, "cpu user of task 0").highest() / 1e9 < 1.1);
    // And it is the mean where all is steady.
    CHECK(row_of(rows, "cpu user of all").values[50] / 1e9 == Approx(2));
}

TEST_CASE("the CPU time of a node is at most that of its processors") {
    Playing playing(TraceSource::from_bytes(busy_trace(true), "busy"));
    const auto rows = strips_of(playing.look, playing.session, 100);
    CHECK(row_of(rows, "cpu user of node n0").most == "200.0%");
    CHECK(row_of(rows, "cpu user of all").highest() / 1e9 <= 2);
    for (const StripRow& row : rows) CHECK(row.name.find("processors") == std::string::npos);
}
