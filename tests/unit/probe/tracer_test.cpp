// The tracer: levels, definitions before use, laps, names from many threads, and when it opens
// what.
#include "tracer/probe/tracer.hpp"

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/probe/recorded.hpp"
#include "tracer/read/definitions.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::testing;

namespace {

// A job's directory with one generation of streams of task 0.
class TracedJob {
  public:
    // NOLINTNEXTLINE(bugprone-easily-swappable-parameters)
    explicit TracedJob(std::uint64_t capacity, bool wraps = false) {
        add_generation(1, capacity, wraps);
    }
    void add_generation(std::uint32_t generation, std::uint64_t capacity, bool wraps = false) {
        const std::string folder = directory_.file(generation_name(generation));
        std::filesystem::create_directory(folder);
        std::filesystem::rename(make_task_stream(directory_, capacity, wraps),
                                folder + "/task-0.stream");
    }
    Recorded recorded(std::uint32_t generation = 1) const {
        return read_stream(directory_.file(generation_name(generation)) + "/task-0.stream");
    }
    const std::string& path() const { return directory_.path(); }

  private:
    TestDirectory directory_;
};

// A tracer never ends: threads may be recording when the program does.
Tracer& new_tracer() {
    static auto& all = *new std::vector<std::unique_ptr<Tracer>>;
    return *all.emplace_back(std::make_unique<Tracer>());
}

std::size_t count_of(const Recorded& found, Kind kind) {
    std::size_t count = 0;
    for (const Record& record : found.records) count += record.kind == kind ? 1 : 0;
    return count;
}

// Calls use(definition, text) for each definition.
void for_definitions(const Recorded& found, auto use) {
    for (std::size_t i = 0; i < found.records.size(); ++i) {
        const Record& record = found.records[i];
        if (record.kind != Kind::kDefine) continue;
        std::string text;
        for (std::size_t k = i + 1;
             k < found.records.size() && found.records[k].kind == Kind::kText; ++k)
            text += text_of(found.records[k]);
        use(record, text);
    }
}

// id -> text, of definitions of that kind.
std::map<std::uint32_t, std::string> names(const Recorded& found, Defined what) {
    std::map<std::uint32_t, std::string> known;
    for_definitions(found, [&](const Record& record, const std::string& text) {
        if (record.detail != static_cast<std::uint8_t>(what)) return;
        CHECK(text.size() == record.extra);
        known[record.a] = text;
    });
    return known;
}

}  // namespace

TEST_CASE("a tracer records what the level wants", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{0};
    Tracer& tracer = new_tracer();
    CHECK_FALSE(tracer.on());
    tracer.attach(word, job.path(), 0);
    CHECK_FALSE(tracer.on());
    CHECK(job.recorded().process == 0);
    word = trace_word(1, 1);
    REQUIRE(tracer.on());
    CHECK(tracer.enter(Call::kBsend, 3, 7, &word));
    tracer.sent(0, 3, 7, 100, 1);
    tracer.sent(0, 3, 7, Bytes{6} << 30, 65536);
    tracer.leave(Call::kBsend, 100);
    CHECK_FALSE(tracer.enter(Call::kBcast, -1, 0, &word));
    CHECK_FALSE(tracer.enter_region("region", &word));
    word = trace_word(1, 9);
    CHECK(tracer.enter(Call::kBcast, -1, 0, &word));
    tracer.collective(2, 0, 8, 5);
    CHECK(tracer.enter_region("region", nullptr));
    CHECK(tracer.leave_region("region"));
    CHECK(tracer.count("counter", 2.5));
    tracer.marker(-1, 200, "text");
    word = 0;
    CHECK_FALSE(tracer.on());

    const Recorded found = job.recorded();
    CHECK(found.process == ::getpid());
    std::vector<Record> messages;
    for (std::size_t i = 0; i < found.records.size(); ++i)
        if (found.records[i].kind == Kind::kSend || found.records[i].kind == Kind::kBytes)
            messages.push_back(found.records[i]);
    REQUIRE(messages.size() == 3);
    CHECK(messages[0].a == 3);
    CHECK(messages[0].b == pair(7, 100));
    CHECK(messages[0].extra == 2);
    CHECK(messages[1].b == pair(7, kManyBytes));
    CHECK(messages[1].extra == 2);  // 65535 messages later
    CHECK(messages[2].b == Bytes{6} << 30);
    CHECK(count_of(found, Kind::kCollective) == 1);
    CHECK(names(found, Defined::kCounter) == std::map<std::uint32_t, std::string>{{1, "counter"}});
    const auto regions = names(found, Defined::kRegion);
    CHECK(regions.at(kFirstUserRegion) == "region");
    CHECK(regions.at(static_cast<std::uint32_t>(Call::kBsend)) == "mpc_bsend");
    CHECK(names(found, Defined::kSite).size() == 1);
}

TEST_CASE("what is about a communicator or request is followed by these", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    REQUIRE(tracer.on());
    tracer.sent(0, 3, 7, 100, 1, {1, 0});
    tracer.sent(0, 3, 7, 100, 2, {16, 0});
    tracer.received(1, 3, 7, Bytes{6} << 30, 3, {0xfffffff0u, 5});
    tracer.send_ended(0, 3, 7, 2, {0, 6});
    CHECK(tracer.enter(static_cast<std::uint32_t>(Call::kWait), -1, 0, nullptr, {17, 7}));
    std::vector<Record> records;
    for (const Record& record : job.recorded().records) {
        const bool definition = record.kind == Kind::kDefine || record.kind == Kind::kText ||
                                record.kind == Kind::kTracing || record.kind == Kind::kNone;
        if (!definition) records.push_back(record);
    }
    const Kind kinds[] = {Kind::kSend,  Kind::kSend,    Kind::kContext,   Kind::kReceive,
                          Kind::kBytes, Kind::kContext, Kind::kSendEnded, Kind::kContext,
                          Kind::kEnter, Kind::kContext};
    REQUIRE(records.size() == std::size(kinds));
    for (std::size_t i = 0; i < records.size(); ++i) CHECK(records[i].kind == kinds[i]);
    CHECK(records[2].b == 16);
    CHECK(records[5].b == 0xfffffff0u);
    CHECK(records[5].a == 5);
    CHECK(records[7].a == 6);
    CHECK(records[9].b == 17);
}

TEST_CASE("the beginning of a call and its message are one record", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    CallRecord call{.line = {.region = kFirstMpiRegion,
                             .peer = 3,
                             .type = 7,
                             .context = 16,
                             .root = -1,
                             .site = &word},
                    .part = CallPart::kSend,
                    .begins = true,
                    .number = 2,
                    .request = 4,
                    .bytes = 100};
    CHECK(tracer.call(call));
    CHECK(tracer.call(call));
    const Recorded found = job.recorded();
    CHECK(count_of(found, Kind::kEnter) + count_of(found, Kind::kSend) == 0);
    REQUIRE(count_of(found, Kind::kCall) == 2);
    const Record last = found.records[found.reserved - 1];
    CHECK(last.detail == call_detail(CallPart::kSend, true, false));
    CHECK(last.extra == 3);
    CHECK(last.b == pair(4, 100));
    const Record line = found.records[last.a];
    CHECK(line.kind == Kind::kDefine);
    CHECK(line.detail == static_cast<std::uint8_t>(Defined::kCallLine));
    CHECK(line.b == pair(3, 7));
    const Record rest = found.records[last.a + 1];
    CHECK(rest.kind == Kind::kContext);
    CHECK(rest.a == kNobody);
    CHECK(low(rest.b) == 16);
    CHECK(names(found, Defined::kSite).contains(high(rest.b)));
    // A length that does not fit.
    call.bytes = Bytes{6} << 30;
    CHECK(tracer.call(call));
    CHECK(count_of(job.recorded(), Kind::kBytes) == 1);
    // No sites and collective operations at the lowest level.
    word = trace_word(1, kMessagesLevel);
    call = {.line = {.region = static_cast<std::uint32_t>(Call::kBcast)},
            .part = CallPart::kCollective,
            .begins = true};
    CHECK_FALSE(tracer.call(call));
}

TEST_CASE("the start of a persistent operation tells its data flow", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    CallRecord start{.line = {.region = kFirstMpiRegion, .context = 16, .root = 1, .site = &word},
                     .part = CallPart::kCollectiveStarts,
                     .number = 2,
                     .bytes = 100,
                     .flow = DataFlow::kOneToAll};
    CHECK(tracer.call(start));
    const Recorded one = job.recorded();
    const Record call = one.records[one.reserved - 1];
    CHECK(call.kind == Kind::kCall);
    CHECK(part_of_call(call.detail) == static_cast<std::uint8_t>(CallPart::kCollectiveStarts));
    CHECK(flow_of_call(call.detail) == DataFlow::kOneToAll);
    start.bytes = Bytes{6} << 30;
    CHECK(tracer.call(start));
    tracer.collective(1, 0, 8, 3, Phase::kStarts, DataFlow::kPrefix);
    const Recorded all = job.recorded();
    std::vector<DataFlow> flows;
    for (std::size_t i = 0; i < all.reserved; ++i) {
        if (all.records[i].kind != Kind::kCollective) continue;
        CHECK(phase_of_collective(all.records[i].detail) == Phase::kStarts);
        flows.push_back(flow_of_collective(all.records[i].detail));
    }
    CHECK(flows == std::vector{DataFlow::kOneToAll, DataFlow::kPrefix});
}

TEST_CASE("a call that ends before anything else is recorded is one record", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    CallRecord begin{.line = {.region = kFirstMpiRegion, .peer = 3, .type = 7, .context = 16},
                     .begins = true};
    CallRecord end{
        .line = begin.line, .part = CallPart::kReceive, .ends = true, .number = 2, .bytes = 100};
    OpenCall open;
    REQUIRE(tracer.call(begin, &open));
    const Record begun = job.recorded().records[open.number];
    CHECK(begun.kind == Kind::kCall);
    CHECK(tracer.end_call(open, end));
    Record whole = job.recorded().records[open.number];
    CHECK(whole.kind == Kind::kWholeCall);
    CHECK(whole.stamp == begun.stamp);
    CHECK(whole.a == begun.a);
    CHECK(whole.extra == 3);
    WholeCall call = WholeCall::unpacked(whole.detail, whole.b);
    CHECK(call.part == CallPart::kReceive);
    CHECK(call.request == 0);
    CHECK(call.bytes == 100);
    // The message of the beginning stays.
    begin.part = CallPart::kSend;
    begin.number = 9;
    begin.bytes = 50;
    REQUIRE(tracer.call(begin, &open));
    CHECK_FALSE(tracer.end_call(open, end));
    end.part = CallPart::kNone;
    CHECK(tracer.end_call(open, end));
    whole = job.recorded().records[open.number];
    call = WholeCall::unpacked(whole.detail, whole.b);
    CHECK(whole.extra == 10);
    CHECK(call.part == CallPart::kSend);
    CHECK(call.request == 0);
    CHECK(call.bytes == 50);
    CHECK(job.recorded().records.size() == job.recorded().reserved);

    // Another record is between, a length does not fit, recording has stopped, there is no record.
    REQUIRE(tracer.call(begin, &open));
    CHECK(tracer.count("between", 1));
    CHECK_FALSE(tracer.end_call(open, end));
    begin.part = CallPart::kNone;
    end.bytes = std::uint64_t{1} << 40;
    REQUIRE(tracer.call(begin, &open));
    CHECK_FALSE(tracer.end_call(open, end));
    end.bytes = 0;
    CHECK(tracer.stop());
    CHECK_FALSE(tracer.end_call(open, end));
    CHECK_FALSE(tracer.end_call({}, end));
    CHECK(count_of(job.recorded(), Kind::kWholeCall) == 2);

    // A call that is about a request is one record only if it is short.
    REQUIRE(tracer.start(9));
    end.request = 4;
    bool ended = false;
    for (int attempts = 0; attempts < 1000 && !ended; ++attempts) {
        REQUIRE(tracer.call(begin, &open));
        ended = tracer.end_call(open, end);
    }
    REQUIRE(ended);
    whole = job.recorded().records[open.number];
    CHECK(WholeCall::unpacked(whole.detail, whole.b).request == 4);
}

TEST_CASE("a stream that wraps has calls in several records", "[tracer]") {
    const TracedJob job(4096, true);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    for (int i = 0; i < 3000; ++i) {
        CHECK(tracer.call({.line = {.region = kFirstMpiRegion, .context = 16},
                           .part = CallPart::kCollective,
                           .begins = true}));
        CHECK(tracer.call({.line = {.region = kFirstMpiRegion, .context = 16}, .ends = true}));
    }
    const Recorded found = job.recorded();
    CHECK(count_of(found, Kind::kCall) == 0);
    CHECK(count_of(found, Kind::kCollective) > 500);
    CHECK(count_of(found, Kind::kLeave) > 500);
}

TEST_CASE("the program begins and ends recording itself", "[tracer]") {
    const TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 2)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    CHECK(tracer.stop());
    CHECK_FALSE(tracer.enter(Call::kBsend, 3, 7, nullptr));
    CHECK(tracer.start(9));
    CHECK(tracer.count("counter", 1));
    CHECK(tracer.start(0));
    CHECK_FALSE(tracer.count("counter", 2));
    CHECK(tracer.enter(Call::kBcast, 3, 7, nullptr));
    const Recorded found = job.recorded();
    CHECK(count_of(found, Kind::kTracing) == 3);
    CHECK(count_of(found, Kind::kCounter) == 1);
}

TEST_CASE("each trace of a job explains itself", "[tracer]") {
    TracedJob job(100'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    CHECK(tracer.enter_region("one", nullptr));
    word = 0;
    job.add_generation(2, 100'000);
    word = trace_word(2, 9);
    CHECK(tracer.enter_region("two", nullptr));
    const Recorded found = job.recorded(2);
    const auto regions = names(found, Defined::kRegion);
    CHECK(regions.at(kFirstUserRegion) == "one");
    CHECK(regions.at(kFirstUserRegion + 1) == "two");
    CHECK(count_of(found, Kind::kEnter) == 1);
    CHECK(count_of(job.recorded(1), Kind::kEnter) == 1);
}

TEST_CASE("contexts have names, also those that were named before recording began", "[tracer]") {
    const bool wraps = GENERATE(false, true);
    const TracedJob job(4096, wraps);
    std::atomic<std::uint32_t> word{0};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    tracer.begin_context(20);
    tracer.name_context(20, "rows");
    word = trace_word(1, 9);
    for (int i = 0; i < (wraps ? 20'000 : 1); ++i) CHECK(tracer.count("counter", i));
    tracer.name_context(21, "window of rows");
    tracer.name_context(21, "window table");
    tracer.name_context(22, "file a");
    tracer.begin_context(22);
    tracer.name_context(22, "file a");
    tracer.name_context(23, "columns");
    tracer.begin_context(23);
    tracer.name_context(24, "first");
    tracer.begin_context(24);
    tracer.name_context(24, "second");
    const Recorded found = job.recorded();
    Definitions told;
    for_definitions(found, [&](const Record& record, const std::string& text) {
        told.define(0, record, text);
    });
    CHECK(told.name_of_context(19).empty());
    CHECK(told.name_of_context(20) == "rows");
    CHECK(told.name_of_context(21) == "window table");
    CHECK(told.name_of_context(22) == "file a");
    CHECK(told.name_of_context(23) == "columns and others");
    CHECK(told.name_of_context(24) == "first and others");
}

TEST_CASE("the last part of a stream that wraps has all definitions", "[tracer]") {
    const TracedJob job(4096, true);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    for (int i = 0; i < 100; ++i) CHECK(tracer.count("counter " + std::to_string(i), i));
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) tracer.count("counter " + std::to_string(i % 100), i);
        });
    for (std::thread& thread : threads) thread.join();
    const Recorded found = job.recorded();
    CHECK(found.reserved > 10 * found.capacity);
    CHECK(names(found, Defined::kCounter).size() == 100);
}

TEST_CASE("threads that use a name first at once agree on its number", "[tracer]") {
    const TracedJob job(1'000'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) tracer.enter_region("r" + std::to_string(i), nullptr);
        });
    for (std::thread& thread : threads) thread.join();
    const Recorded found = job.recorded();
    const auto regions = names(found, Defined::kRegion);
    std::set<std::string> texts;
    std::map<std::uint32_t, int> entered;
    std::set<std::uint32_t> defined;
    for (const auto& [id, text] : regions) texts.insert(text);
    CHECK(texts.size() == regions.size());
    for (const Record& record : found.records) {
        if (record.kind == Kind::kDefine) defined.insert(record.a);
        if (record.kind != Kind::kEnter) continue;
        REQUIRE(defined.contains(record.a));
        ++entered[record.a];
    }
    REQUIRE(entered.size() == 2000);
    for (const auto& [id, count] : entered) REQUIRE(count == 4);
}

TEST_CASE("more names than there is room for are not recorded", "[tracer]") {
    const TracedJob job(1'000'000);
    std::atomic<std::uint32_t> word{trace_word(1, 9)};
    Tracer& tracer = new_tracer();
    tracer.attach(word, job.path(), 0);
    std::size_t recorded = 0;
    for (int i = 0; i < 5000; ++i) recorded += tracer.count(std::to_string(i), i) ? 1 : 0;
    CHECK(recorded == NameTable::kMost);
}
