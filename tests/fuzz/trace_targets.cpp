// See trace_targets.hpp.
#include "tests/fuzz/trace_targets.hpp"

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/replay.hpp"
#include "tracer/diagnosis/diagnosis.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/read/event_merge.hpp"

namespace poe::fuzz {
namespace {

// Any bytes play up to their end: each record at most once, within the span of time that is told,
// no task for longer than that.
std::string play(const std::string& input) {
    try {
        const auto source = trace::TraceSource::from_bytes(input, "input");
        trace::Definitions definitions;
        trace::Replay replay(source, definitions);
        trace::EventMerge merge(source);
        std::size_t events = 0;
        for (trace::Event event; merge.next(event); ++events) {
            if (event.time > trace::kFarthest || event.time < -trace::kFarthest)
                return "a time is too far away";
            replay.apply(event);
        }
        if (events > input.size() / sizeof(trace::Record)) return "there are too many events";
        for (const trace::TaskTimeline& task : replay.state().tasks)
            for (const trace::Time spent : task.spent_until(replay.state().now))
                if (spent < trace::Time{0}) return "a task spent less than no time";
        trace::Symbols symbols;
        const trace::Analysis analysis = trace::analyse(source, symbols, [](double) {});
        const trace::Diagnosis& diagnosis = analysis.diagnosis;
        if (diagnosis.path_length() != diagnosis.job.efficiency.elapsed)
            return "the critical path does not cover the time of the job";
        double costs = 0;
        for (const trace::NamedCause& each : diagnosis.causes) costs += each.cause.cost();
        const double waited = static_cast<double>(diagnosis.waited().count());
        if (std::abs(costs - waited) > 1 + 1e-6 * waited)
            return "the costs of all causes are not the sum of all waits";
        std::uint64_t stacks = 0;
        for (const trace::StackSum& each : analysis.profile_sums.stacks) stacks += each.samples;
        if (analysis.profile.sampled() &&
            stacks != analysis.profile_sums.samples + analysis.profile_sums.waiting)
            return "the stacks are not all samples";
        return "";
    } catch (const Error&) {
        return "";
    }
}

// Counts what an export consists of.
class Counts : public trace::ExportSink {
  public:
    void enter(TaskId, trace::Time, const trace::Region&, const trace::Site&) override { ++open; }
    void leave(const trace::Interval&, const trace::Region&) override { --open; }
    void message(const trace::Message&, std::uint64_t number) override { messages = number; }
    void marker(TaskId, trace::Time, const std::string&) override {}
    void counter(TaskId, trace::Time, const std::string&, double) override {}
    void call_path(std::uint32_t path, std::uint32_t caller, const trace::Site&) override {
        if (path != paths + 1 || caller > paths) wrong = "a path is defined after its use";
        paths = path;
    }
    void sample(TaskId, trace::Time at, const trace::ExportedSample& sample) override {
        if (sample.path > paths) wrong = "a sample has a path that is not defined";
        if (at < last) wrong = "the samples are not in the order of time";
        last = at;
    }

    std::int64_t open = 0;
    std::uint64_t messages = 0;
    std::uint32_t paths = 0;
    trace::Time last = -trace::kFarthest;
    std::string wrong;
};

// What is exported of any bytes, and of a part of their time: each call that is entered is left,
// and samples have paths that were defined before them.
std::string export_any(const std::string& input) {
    try {
        const auto source = trace::TraceSource::from_bytes(input, "input");
        const trace::Time middle = source.begin() + (source.end() - source.begin()) / 2;
        for (const trace::Time from : {source.begin(), middle}) {
            Counts counts;
            std::ostringstream text;
            const trace::ExportRange range{{from, source.end()}, std::nullopt};
            export_trace(source, range, counts, [](double) {});
            export_trace(source, range, *trace::chrome_sink(text), [](double) {});
            export_trace(source, range, *trace::perfetto_sink(text), [](double) {});
            if (!counts.wrong.empty()) return counts.wrong;
            if (counts.open != 0) return "a call is not left, or left twice";
        }
        return "";
    } catch (const Error&) {
        return "";
    }
}

// Two tasks of an observed library: each call is one record for its beginning and one for its end.
// They have every part, and calls whose line is not defined or is another record.
std::string observed_streams() {
    using namespace trace;
    using namespace trace::test;
    constexpr std::uint32_t kWorld = 16;
    constexpr std::uint32_t kTag = 5;
    constexpr auto detail = [](CallPart part, bool begins, bool ends) {
        return call_detail(part, begins, ends);
    };
    std::string both;
    for (TaskId task = 0; task < 2; ++task) {
        StreamWriter out = task_stream(task, 2);
        const auto peer = static_cast<std::uint32_t>(1 - task);
        const std::uint64_t late = task == 0 ? 0 : 70;
        const auto defined = [&](std::uint32_t region, std::uint32_t to) {
            return out.call_line(us(5), {region, to, kTag, kWorld, kNobody, 1});
        };
        const std::uint32_t message = defined(task == 0 ? kBsendCall : kBrecvCall, peer);
        const std::uint32_t request = defined(kNonBlocking + kCollwaitCall, peer);
        const std::uint32_t operation = defined(kSyncCall, kNobody);
        const std::uint32_t started = defined(kIbcastCall, kNobody);
        for (std::uint16_t number = 1; number <= 4; ++number) {
            const std::uint64_t at = 100 * std::uint64_t{number} + late;
            out.call(us(at), message,
                     detail(task == 0 ? CallPart::kSend : CallPart::kNone, true, false), 500,
                     number, number);
            out.call(us(at + 20), message,
                     detail(task == 0 ? CallPart::kNone : CallPart::kReceive, false, true), 500,
                     number);
            out.call(us(at + 25), request, detail(CallPart::kNone, true, false));
            if (task == 0)
                out.call(us(at + 26), request, detail(CallPart::kSendEnded, false, false), 500,
                         number, number);
            out.call(us(at + 28), request, detail(CallPart::kNone, false, true));
        }
        out.call(us(600 + late), operation, detail(CallPart::kCollective, true, false), 8, 1);
        out.call(us(680), operation, detail(CallPart::kNone, false, true));
        out.call(us(700 + late), started, detail(CallPart::kCollectiveStarts, true, true), 8, 2);
        out.call(us(780 + late), request, detail(CallPart::kNone, true, false));
        out.call(us(790 + late), request, detail(CallPart::kCollectiveEnds, false, true), 8, 2);
        for (std::uint16_t number = 5; number <= 8; ++number) {
            const CallPart part = task == 0 ? CallPart::kSend : CallPart::kReceive;
            const std::uint32_t asked = number % 2 == 0 ? number : 0;
            out.whole_call(us(820 + 10 * std::uint64_t{number} + late / 10), message,
                           {.part = part, .request = asked, .duration = us(8), .bytes = 40},
                           number);
        }
        out.call(us(900), message + 1, detail(CallPart::kSend, true, true), 1, 9);
        out.call(us(901), 4'000'000'000u, detail(CallPart::kReceive, true, true), 1, 9);
        out.call(us(902), message, 0xff);
        both += out.bytes(task == 0);
    }
    return both;
}

// A task, and the samples of its stacks.
std::string sampled_streams() {
    using namespace trace;
    using namespace trace::test;
    StreamWriter task = task_stream(0, 1);
    task.enter(us(10), kSolve);
    task.enter(us(20), kBrecvCall, 0, 7);
    task.leave(us(30), kBrecvCall);
    task.leave(us(90), kSolve);
    StreamFacts facts;
    facts.kind = StreamKind::kSamples;
    facts.tasks = 1;
    StreamWriter out(facts);
    out.put(0, {.kind = Kind::kSampling,
                .detail = static_cast<std::uint8_t>(SamplingFact::kPeriod),
                .extra = 1,
                .a = kNobody,
                .b = 1'000'000});
    for (std::uint32_t site = 1; site <= 3; ++site)
        out.define(0, Defined::kLine, site, "solve.c", 10 * site);
    for (std::uint32_t path = 1; path <= 3; ++path)
        out.put(0, {.kind = Kind::kDefine,
                    .detail = static_cast<std::uint8_t>(Defined::kPath),
                    .a = path,
                    .b = pair(path - 1, path)});
    for (std::uint64_t i = 0; i < 12; ++i)
        out.put(us(5 + 8 * i),
                {.kind = Kind::kSample,
                 .detail = static_cast<std::uint8_t>(i % 4 == 3 ? kSampleWaiting : 0),
                 .extra = static_cast<std::uint16_t>(i % 3),
                 .a = 0,
                 .b = pair(static_cast<std::uint32_t>(i % 5), 40 + i % 2)});
    return task.bytes() + out.bytes();
}

}  // namespace

const std::vector<FuzzTarget>& trace_targets() {
    static const std::vector<FuzzTarget> targets{
        {"trace", play, {"POETRACE", std::string_view("\0\0\0\0\0\0\0\0", 8), "\xff\xff\xff\xff"}},
        {"trace_export",
         export_any,
         {"POETRACE", std::string_view("\0\0\0\0\0\0\0\0", 8), "\xff\xff\xff\xff"}}};
    return targets;
}

void write_trace_corpus(const std::string& folder) {
    const auto write = [&folder](const std::string& name, const std::string& bytes) {
        std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    };
    const auto streams = trace::test::small_streams();
    write("open_task", streams[1].bytes(false));
    write("two_tasks", streams[2].bytes() + streams[3].bytes(false).substr(0, 7000));
    trace::StreamWriter wrapped = trace::test::task_stream(0, 1, 40);
    for (std::uint64_t i = 0; i < 30; ++i) trace::test::send_call(wrapped, i * 10, i * 10 + 5, 0);
    write("wrapped", trace::test::job_bytes(1) + wrapped.bytes(false));
    trace::StreamFacts facts;
    facts.kind = trace::StreamKind::kNode;
    facts.node = 1;
    trace::StreamWriter node(facts);
    for (std::uint64_t i = 0; i < 20; ++i) {
        node.put(i * 3'000'000'000, {.kind = trace::Kind::kClock, .a = 100, .b = i});
        node.put(i, {.kind = trace::Kind::kSystem, .detail = 1, .a = trace::kNobody, .b = i});
        node.put(i, {.kind = trace::Kind::kDoing, .detail = 2, .a = 0});
    }
    node.put(9, {.kind = trace::Kind::kEnded, .a = 0});
    write("node", node.bytes() + streams[0].bytes(false));
    // Calls of all kinds that depend on another task.
    using namespace trace::test;
    std::string calls;
    for (std::uint64_t task = 0; task < 2; ++task) {
        trace::StreamWriter out = task_stream(static_cast<TaskId>(task), 2);
        const std::uint64_t late = task * 50;
        out.enter(us(10 + late), kIbcastCall, trace::kNobody, 0, 1);
        out.collective(us(10 + late), 0, 1, 0, 8, trace::Phase::kStarts);
        out.leave(us(11 + late), kIbcastCall);
        for (const std::uint64_t at : {100, 110}) {
            out.enter(us(at), trace::kNonBlocking + kCollwaitCall, trace::kNobody, 0, 1);
            if (at > 100) out.collective(us(at), 0, trace::kNobody, 0, 0, trace::Phase::kEnds);
            out.leave(us(at + 5), trace::kNonBlocking + kCollwaitCall);
        }
        sync_call(out, 200 + late, 260, 1);
        if (task == 0) send_call(out, 300, 390, 1);
        if (task == 1) receive_call(out, 380, 391, 0);
        calls += out.bytes(task == 0);
    }
    write("calls", calls);
    write("observed", observed_streams());
    write("samples", sampled_streams());
}

}  // namespace poe::fuzz
