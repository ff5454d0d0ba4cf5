// Records that stand for several (kCall): they mean the same as these.
#include <map>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/played.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

constexpr std::uint32_t kWorld = 16;
constexpr std::uint32_t kTag = 5;

// In how many records a call is written.
enum class Form { kSeveral, kTwo, kOne };

class Calls {
  public:
    Calls(TaskId task, Form form) : out_(task_stream(task, 2)), form_(form) {}

    void send(std::uint64_t from, std::uint64_t to, std::uint32_t peer, std::uint16_t number,
              Bytes bytes) {
        const StreamCallLine line{kBsendCall, peer, kTag, kWorld, kNobody, 1};
        if (form_ == Form::kOne) return whole(from, to, line, CallPart::kSend, bytes, number);
        begin(from, line, CallPart::kSend, bytes, number);
        end(to, line, CallPart::kNone, bytes, 0);
    }
    void receive(std::uint64_t from, std::uint64_t to, std::uint32_t peer, std::uint16_t number,
                 Bytes bytes) {
        const StreamCallLine line{kBrecvCall, peer, kTag, kWorld, kNobody, 1};
        if (form_ == Form::kOne) return whole(from, to, line, CallPart::kReceive, bytes, number);
        begin(from, line, CallPart::kNone, 0, 0);
        end(to, line, CallPart::kReceive, bytes, number);
    }
    void sync(std::uint64_t from, std::uint64_t to, std::uint16_t number) {
        const StreamCallLine line{kSyncCall, kNobody, 0, kWorld, kNobody, 1};
        if (form_ == Form::kOne) return whole(from, to, line, CallPart::kCollective, 8, number);
        begin(from, line, CallPart::kCollective, 8, number);
        end(to, line, CallPart::kNone, 8, 0);
    }
    StreamWriter out() { return out_; }

  private:
    void whole(std::uint64_t from, std::uint64_t to, const StreamCallLine& line, CallPart part,
               Bytes bytes, std::uint16_t number) {
        const WholeCall call{.part = part, .duration = us(to - from), .bytes = bytes};
        REQUIRE(call.fits());
        out_.whole_call(us(from), defined(from, line), call, number);
    }
    void begin(std::uint64_t at, const StreamCallLine& line, CallPart part, Bytes bytes,
               std::uint16_t number) {
        if (form_ == Form::kTwo)
            return out_.call(us(at), defined(at, line), call_detail(part, true, false), bytes,
                             number);
        out_.enter(us(at), line.region, line.peer, line.type, line.site);
        out_.about(us(at), line.context, 0);
        add(at, line, part, bytes, number);
    }
    void end(std::uint64_t at, const StreamCallLine& line, CallPart part, Bytes bytes,
             std::uint16_t number) {
        if (form_ == Form::kTwo)
            return out_.call(us(at), defined(at, line), call_detail(part, false, true), bytes,
                             number);
        add(at, line, part, bytes, number);
        out_.leave(us(at), line.region);
    }
    void add(std::uint64_t at, const StreamCallLine& line, CallPart part, Bytes bytes,
             std::uint16_t number) {
        const Record end_of_message{.kind = part == CallPart::kSend ? Kind::kSend : Kind::kReceive,
                                    .detail = kNumberedByTag,
                                    .extra = number,
                                    .a = line.peer,
                                    .b = pair(line.type, static_cast<std::uint32_t>(bytes))};
        if (part == CallPart::kCollective)
            return out_.collective(us(at), number, line.root, group_of_context(line.context),
                                   bytes);
        if (part == CallPart::kNone) return;
        out_.put(us(at), end_of_message);
        out_.about(us(at), line.context, 0);
    }

    std::uint32_t defined(std::uint64_t at, const StreamCallLine& line) {
        std::uint32_t& number = lines_[line.region];
        if (number == 0) number = out_.call_line(us(at), line);
        return number;
    }

    StreamWriter out_;
    Form form_;
    std::map<std::uint32_t, std::uint32_t> lines_;  // by region
};

TraceSource two_tasks(Form form) {
    Calls first(0, form);
    Calls second(1, form);
    first.send(100, 110, 1, 2, 500);
    first.send(120, 400, 1, 3, 60);
    second.receive(90, 130, 0, 2, 500);
    second.receive(300, 410, 0, 3, 60);
    first.sync(500, 900, 1);
    second.sync(880, 900, 1);
    return TraceSource::from_bytes(gathered({first.out(), second.out()}), "calls");
}

}  // namespace

TEST_CASE("a call in one or two records means the same as in several") {
    const Form form = GENERATE(Form::kTwo, Form::kOne);
    const Played several(two_tasks(Form::kSeveral));
    const Played one(two_tasks(form));
    CHECK(one.source.end() == several.source.end());
    CHECK(one.source.records() < several.source.records());
    for (const Played* each : {&several, &one}) {
        CHECK(each->notes.messages.size() == 2);
        CHECK(each->replay.state().tasks[0].collectives == 1);
        CHECK(each->replay.messages().size() == 0);
    }
    for (std::size_t task = 0; task < 2; ++task)
        CHECK(one.replay.state().tasks[task].spent == several.replay.state().tasks[task].spent);
    for (std::size_t i = 0; i < several.notes.messages.size(); ++i) {
        const Message& a = several.notes.messages[i];
        const Message& b = one.notes.messages[i];
        CHECK(std::tie(a.from, a.to, a.type, a.line, a.bytes, a.sent, a.received) ==
              std::tie(b.from, b.to, b.type, b.line, b.bytes, b.sent, b.received));
        CHECK(b.line == kWorld);
        CHECK(b.send_in.since == a.send_in.since);
    }
    REQUIRE(one.notes.waits.size() == several.notes.waits.size());
    CHECK_FALSE(one.notes.waits.empty());
    for (std::size_t i = 0; i < one.notes.waits.size(); ++i) {
        const Wait& a = several.notes.waits[i];
        const Wait& b = one.notes.waits[i];
        CHECK(std::tie(a.why, a.task, a.whom, a.from, a.to, a.site) ==
              std::tie(b.why, b.task, b.whom, b.from, b.to, b.site));
    }
}

TEST_CASE("a call whose line is not defined is left out") {
    StreamWriter out = task_stream(0, 1);
    const std::uint32_t no_line = static_cast<std::uint32_t>(out.records());
    out.enter(us(5), kBrecvCall);
    out.leave(us(6), kBrecvCall);
    for (const std::uint32_t line : {no_line, 0u, 0xffffffffu})
        out.call(us(10), line, call_detail(CallPart::kSend, true, true));
    out.call(us(20), out.call_line(us(20), {kBsendCall, 0, kTag, kWorld, kNobody, 0}), 0xff);
    const Played played(TraceSource::from_bytes(gathered({out}), "undefined"));
    CHECK(played.replay.state().tasks[0].sends == 0);
    CHECK(played.replay.state().tasks[0].frames.empty());
}

TEST_CASE("a whole call holds what fits its bits") {
    const WholeCall calls[] = {
        {.part = CallPart::kSend, .duration = 0xffffffff, .bytes = kManyBytes - 1},
        {.part = CallPart::kReceive,
         .request = (1u << WholeCall::kRequestBits) - 1,
         .duration = (1u << WholeCall::kShortDurationBits) - 1,
         .bytes = (1u << WholeCall::kShortBytesBits) - 1},
        {.part = CallPart::kCollectiveEnds, .request = 1}};
    for (const WholeCall& call : calls) {
        REQUIRE(call.fits());
        const WholeCall read = WholeCall::unpacked(call.detail(), call.packed());
        CHECK(std::tie(read.part, read.request, read.duration, read.bytes) ==
              std::tie(call.part, call.request, call.duration, call.bytes));
    }
    CHECK_FALSE(WholeCall{.duration = std::uint64_t{1} << 32}.fits());
    CHECK_FALSE(WholeCall{.bytes = kManyBytes}.fits());
    CHECK_FALSE(WholeCall{.request = 1u << WholeCall::kRequestBits}.fits());
    CHECK_FALSE(WholeCall{.request = 1, .duration = 1u << WholeCall::kShortDurationBits}.fits());
    CHECK_FALSE(WholeCall{.request = 1, .bytes = 1u << WholeCall::kShortBytesBits}.fits());
}

TEST_CASE("an iteration goes on between the beginning and the end of a whole call") {
    const TraceSource source = two_tasks(Form::kOne);
    EventMerge all(source);
    std::vector<Event> events;
    std::vector<EventMerge::Positions> positions;
    for (Event event; all.next(event);) {
        events.push_back(event);
        positions.push_back(all.positions());
    }
    for (std::size_t from = 0; from < positions.size(); ++from) {
        EventMerge merge(source, positions[from]);
        std::size_t at = from;
        for (Event event; merge.next(event);) {
            REQUIRE(++at < events.size());
            CHECK(event.time == events[at].time);
            CHECK(event.number == events[at].number);
            CHECK(event.record.detail == events[at].record.detail);
        }
        CHECK(at + 1 == events.size());
    }
}
