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

// Writes each call in one or in several records.
class Calls {
  public:
    Calls(TaskId task, bool in_one) : out_(task_stream(task, 2)), in_one_(in_one) {}

    void send(std::uint64_t from, std::uint64_t to, std::uint32_t peer, std::uint16_t number,
              Bytes bytes) {
        const StreamCallLine line{kBsendCall, peer, kTag, kWorld, kNobody, 1};
        begin(from, line, CallPart::kSend, bytes, number);
        end(to, line, CallPart::kNone, bytes, 0);
    }
    void receive(std::uint64_t from, std::uint64_t to, std::uint32_t peer, std::uint16_t number,
                 Bytes bytes) {
        const StreamCallLine line{kBrecvCall, peer, kTag, kWorld, kNobody, 1};
        begin(from, line, CallPart::kNone, 0, 0);
        end(to, line, CallPart::kReceive, bytes, number);
    }
    void sync(std::uint64_t from, std::uint64_t to, std::uint16_t number) {
        const StreamCallLine line{kSyncCall, kNobody, 0, kWorld, kNobody, 1};
        begin(from, line, CallPart::kCollective, 8, number);
        end(to, line, CallPart::kNone, 8, 0);
    }
    StreamWriter out() { return out_; }

  private:
    void begin(std::uint64_t at, const StreamCallLine& line, CallPart part, Bytes bytes,
               std::uint16_t number) {
        if (in_one_)
            return out_.call(us(at), defined(at, line), call_detail(part, true, false), bytes,
                             number);
        out_.enter(us(at), line.region, line.peer, line.type, line.site);
        out_.about(us(at), line.context, 0);
        add(at, line, part, bytes, number);
    }
    void end(std::uint64_t at, const StreamCallLine& line, CallPart part, Bytes bytes,
             std::uint16_t number) {
        if (in_one_)
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
    bool in_one_;
    std::map<std::uint32_t, std::uint32_t> lines_;  // by region
};

TraceSource two_tasks(bool in_one) {
    Calls first(0, in_one);
    Calls second(1, in_one);
    first.send(100, 110, 1, 2, 500);
    first.send(120, 400, 1, 3, 60);
    second.receive(90, 130, 0, 2, 500);
    second.receive(300, 410, 0, 3, 60);
    first.sync(500, 900, 1);
    second.sync(880, 900, 1);
    return TraceSource::from_bytes(gathered({first.out(), second.out()}), "calls");
}

}  // namespace

TEST_CASE("a call in one record means the same as in several") {
    const Played several(two_tasks(false));
    const Played one(two_tasks(true));
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
