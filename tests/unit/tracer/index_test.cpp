// The index: any moment by it is what a walk from the begin gives; a bad one is made again.
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tests/unit/tracer/folder.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/session.hpp"
#include "tracer/playback/search.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

constexpr std::uint64_t kBetween = 16;

// Random calls and messages of five tasks, some unfinished.
std::string random_trace(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<StreamWriter> tasks;
    std::vector<std::uint64_t> now(5, 10);
    for (TaskId task = 0; task < 5; ++task) tasks.push_back(task_stream(task, 5));
    for (int i = 0; i < 300; ++i) {
        const std::size_t from = random() % 5;
        const std::size_t to = random() % 5;
        const std::uint64_t long_time = 5 + random() % 30;
        send_call(tasks[from], now[from], now[from] + 3, static_cast<TaskId>(to),
                  random() % 100'000);
        now[from] += long_time;
        const std::uint64_t at = std::max(now[to], now[from] - long_time + 4);
        receive_call(tasks[to], now[to], at + 2, static_cast<TaskId>(from));
        now[to] = at + 2 + random() % 10;
        if (i % 50 == 0)
            tasks[to].put(us(now[to]), {.kind = Kind::kMarker, .extra = 12, .a = 5}, "hello");
    }
    return gathered(tasks);
}

void quiet(double) {}

}  // namespace

TEST_CASE("a moment by the index is that of a walk") {
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 6)));
    const std::string bytes = random_trace(seed);
    Session session(TraceSource::from_bytes(bytes, "random"), {}, quiet, kBetween);
    CHECK(session.index().size() > 10);
    CHECK(session.index().place().empty());
    std::mt19937 random(seed);
    for (int i = 0; i < 60; ++i) {
        const Time moment = Time(random() % static_cast<std::uint64_t>(session.whole().to.count()));
        const JobState& state = session.at(moment);
        Definitions definitions;
        Replay replay(session.source(), definitions);
        EventMerge merge(session.source());
        for (Event event; merge.next_time() <= moment && merge.next(event);) replay.apply(event);
        const JobState& walked = replay.state();
        REQUIRE(state.events == walked.events);
        REQUIRE(state.messages == walked.messages);
        REQUIRE(session.in_flight().size() == replay.messages().waiting(true).size());
        for (std::size_t task = 0; task < 5; ++task) {
            REQUIRE(state.tasks[task].spent_until(moment) ==
                    walked.tasks[task].spent_until(moment));
            REQUIRE(state.tasks[task].frames.size() == walked.tasks[task].frames.size());
            REQUIRE(state.tasks[task].bytes_sent == walked.tasks[task].bytes_sent);
        }
        REQUIRE(state.marks.size() == walked.marks.size());
    }
}

TEST_CASE("bins add up to the time of the stretch, replayed or by sums") {
    Session session(TraceSource::from_bytes(random_trace(9), "random"), {}, quiet, kBetween);
    const Time end = session.whole().to;
    for (const Stretch stretch : {session.whole(), Stretch{end / 2, end / 2 + microseconds(40)}}) {
        const auto rows = session.bins(stretch, 0, 5, 10);
        REQUIRE(rows.size() == 5);
        for (const StateBins& row : rows) {
            Time sum{0};
            for (const auto& column : row)
                for (const Time time : column) sum += time;
            CHECK(std::abs((sum - stretch.length()).count()) < stretch.length().count() / 100);
        }
    }
}

TEST_CASE("who was waited for in a collective call is known from any keyframe on") {
    std::mt19937 random(4);
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 5; ++task) tasks.push_back(task_stream(task, 5));
    for (std::uint16_t call = 1; call <= 60; ++call)
        for (StreamWriter& task : tasks) {
            const std::uint64_t begin = std::uint64_t{100} * call;
            sync_call(task, begin + random() % 60, begin + 70 + random() % 20, call);
        }
    struct Waits : Listener {
        explicit Waits(Time least) : from(least) {}
        void on_wait(const Wait& wait) override {
            if (wait.why == Wait::Why::kCollective && wait.to >= from)
                all.emplace_back(wait.task, wait.whom, wait.to);
        }
        Time from;
        std::vector<std::tuple<TaskId, TaskId, Time>> all;
    };
    const std::string bytes = gathered(tasks);
    // Keyframes fall into the midst of calls.
    Session fine(TraceSource::from_bytes(bytes, "meetings"), {}, quiet, kBetween);
    Session coarse(TraceSource::from_bytes(bytes, "meetings"), {}, quiet, 1'000'000);
    std::size_t told = 0;
    for (std::size_t keyframe = 0; keyframe < fine.index().size(); ++keyframe) {
        const Time from = fine.index().time(keyframe);
        const Stretch stretch{from, std::min(from + microseconds(150), fine.whole().to)};
        Waits near(from);
        Waits far(from);
        fine.listen(stretch, near);
        coarse.listen(stretch, far);
        CHECK(near.all == far.all);
        told += near.all.size();
    }
    CHECK(told > 100);
}

TEST_CASE("messages of pairs, from sums and from events") {
    Session fine(TraceSource::from_bytes(random_trace(3), "random"), {}, quiet, kBetween);
    Session coarse(TraceSource::from_bytes(random_trace(3), "random"), {}, quiet, 1'000'000);
    const auto a = fine.pairs(fine.whole());
    const auto b = coarse.pairs(coarse.whole());
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].count == b[i].count);
        CHECK(a[i].bytes == b[i].bytes);
    }
}

TEST_CASE("sums of a window are those of all its events, however long it is") {
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 6)));
    Session fine(TraceSource::from_bytes(random_trace(seed), "random"), {}, quiet, kBetween);
    Session coarse(TraceSource::from_bytes(random_trace(seed), "random"), {}, quiet, 1'000'000);
    REQUIRE(coarse.index().size() == 2);
    std::mt19937 random(seed);
    const auto any = [&] {
        return Time(random() % static_cast<std::uint64_t>(fine.whole().to.count()));
    };
    for (int i = 0; i < 30; ++i) {
        const auto [from, to] = std::minmax({any(), any()});
        const Ended a = fine.ended({from, to});
        const Ended b = coarse.ended({from, to});
        CHECK(a.sizes == b.sizes);
        REQUIRE(a.calls.size() == b.calls.size());
        for (const auto& [region, sum] : b.calls) {
            CHECK(a.calls.at(region).count == sum.count);
            CHECK(a.calls.at(region).time == sum.time);
            CHECK(a.calls.at(region).longest == sum.longest);
        }
        REQUIRE(a.waits.size() == b.waits.size());
        for (const auto& [key, sum] : b.waits) CHECK(a.waits.at(key).time == sum.time);
    }
    // By sums or message by message, a task has sent what it has sent.
    const Stretch whole{fine.whole().from, fine.whole().to + Time{1}};
    REQUIRE(fine.step_of_sums(whole));
    CHECK_FALSE(coarse.step_of_sums(whole));
    std::vector<double> bytes(5);
    for (const PairSum& sum : fine.pairs(whole))
        bytes[static_cast<std::size_t>(sum.from)] += static_cast<double>(sum.bytes);
    const auto rows = fine.sent(whole, 0, 5, 7);
    for (std::size_t task = 0; task < 5; ++task) {
        double sum = 0;
        for (const Session::Sent& sent : rows[task]) sum += sent.bytes;
        CHECK(sum == Approx(bytes[task]));
    }
}

TEST_CASE("a folder with traces of several jobs is not one trace") {
    const Folder folder;
    std::ofstream(folder.file("one.trc"), std::ios::binary) << gathered(small_streams());
    CHECK(TraceSource::open(folder.path.string()).facts().tasks == 4);
    StreamFacts facts;
    facts.job = "another";
    std::ofstream(folder.file("two.trc"), std::ios::binary) << StreamWriter(facts).bytes();
    CHECK_THROWS_WITH(TraceSource::open(folder.path.string()),
                      Catch::Contains("traces of several jobs") && Catch::Contains("two.trc"));
}

TEST_CASE("an index is kept, and made again when it does not fit") {
    const Folder folder;
    const std::string trace = folder.file("run.trace");
    std::ofstream(trace, std::ios::binary) << random_trace(1);
    const auto open = [&](const Index::Places& places) {
        const TraceSource source = TraceSource::open(trace);
        return Index::open(source, places, quiet, kBetween).was_made();
    };
    const Index::Places places = index_places(trace, "", 0);
    REQUIRE(places == Index::Places{trace + ".vtindex"});
    CHECK(open(places));
    CHECK_FALSE(open(places));

    SECTION("the trace is another one") {
        std::ofstream(trace, std::ios::binary) << random_trace(2);
        CHECK(open(places));
        CHECK_FALSE(open(places));
    }
    SECTION("it was cut anywhere") {
        const auto size = std::filesystem::file_size(places[0]);
        for (std::uintmax_t left = 0; left < size; left += size / 40 + 1) {
            std::filesystem::resize_file(places[0], left);
            CHECK(open(places));
        }
    }
    SECTION("it is something else") {
        std::ofstream(places[0]) << std::string(100'000, 'x');
        CHECK(open(places));
        CHECK_FALSE(open(places));
    }
    SECTION("it cannot be written there: the cache, then memory") {
        const std::string cache = folder.file("cache/deep");
        CHECK(open({"/proc/nowhere/index", cache}));
        CHECK_FALSE(open({"/proc/nowhere/index", cache}));
        CHECK(open({"/proc/nowhere/index"}));
    }
}

TEST_CASE("bytes changed within an index never crash") {
    const Folder folder;
    const std::string trace = folder.file("run.trace");
    std::ofstream(trace, std::ios::binary) << random_trace(1);
    const Index::Places places = index_places(trace, "", 0);
    { const Session session(TraceSource::open(trace), places, quiet, kBetween); }
    std::ifstream file(places[0], std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        std::string changed = whole;
        for (int j = 0; j < 20; ++j)
            changed[random() % changed.size()] = static_cast<char>(random());
        std::ofstream(places[0], std::ios::binary) << changed;
        try {
            Session session(TraceSource::open(trace), places, quiet, kBetween);
            session.at(session.whole().to / 2);
            session.bins(session.whole(), 0, 5, 20);
            session.pairs(session.whole());
        } catch (const Error& error) {
            CHECK(std::string(error.what()).find("remove " + places[0]) != std::string::npos);
        }
    }
}

TEST_CASE("events are found forwards and backwards") {
    Session session(TraceSource::from_bytes(random_trace(4), "random"), {}, quiet, kBetween);
    const auto marker = [](const Event& event, TaskId) {
        return event.record.kind == Kind::kMarker;
    };
    std::vector<Time> forwards, backwards;
    for (auto at = session.find(Time{-1}, true, marker); at;
         at = session.find(at->time, true, marker))
        forwards.push_back(at->time);
    for (auto at = session.find(session.whole().to, false, marker); at;
         at = session.find(at->time, false, marker))
        backwards.push_back(at->time);
    std::reverse(backwards.begin(), backwards.end());
    CHECK(forwards.size() == 6);
    CHECK(forwards == backwards);
}

TEST_CASE("what the index passes over has nothing that is looked for") {
    Session session(TraceSource::from_bytes(random_trace(8), "random"), {}, quiet, kBetween);
    const auto task = static_cast<TaskId>(GENERATE(0, 3));
    struct Wanted {
        Kind kind;
        std::uint64_t Ended::Events::*number;
    };
    for (const Wanted& wanted :
         {Wanted{Kind::kMarker, &Ended::Events::markers},
          Wanted{Kind::kSend, &Ended::Events::messages}, Wanted{Kind::kLeave, &Ended::Events::all}})
        for (const bool forward : {true, false}) {
            const auto fits = [&](const Event& event, TaskId of) {
                return of == task && event.record.kind == wanted.kind;
            };
            const auto may_hold = [&](const Ended& sums) {
                const auto known = sums.events.find(task);
                return known != sums.events.end() && known->second.*wanted.number > 0;
            };
            Time at = forward ? Time{-1} : session.whole().to + Time{1};
            std::size_t found = 0;
            while (true) {
                const auto slowly = session.find(at, forward, fits);
                const auto quickly = session.find(at, forward, fits, may_hold);
                REQUIRE(slowly.has_value() == quickly.has_value());
                if (!slowly) break;
                REQUIRE(slowly->time == quickly->time);
                at = slowly->time;
                ++found;
            }
            CHECK((wanted.kind == Kind::kMarker || found > 10));
        }
}

TEST_CASE("a search reads only where there may be a hit") {
    Session session(TraceSource::from_bytes(random_trace(4), "random"), {}, quiet, kBetween);
    const auto all = [&](const char* text, bool forward) {
        const auto search = Search::parse(text);
        REQUIRE(search.ok());
        std::vector<Time> hits;
        Time at = forward ? Time{-1} : session.whole().to + Time{1};
        while (const auto hit = search.value().find(session, at, forward))
            hits.push_back(at = hit->at);
        return hits;
    };
    CHECK(all("marker", true).size() == 6);
    CHECK(all("marker", false).size() == 6);
    CHECK(all("dur>1s", true).empty());
    CHECK(all("bytes>1G", false).empty());
    CHECK(all("msg 7->8", true).empty());
    CHECK(all("call=nosuch", false).empty());
    CHECK(all("msg bytes>90K", true).size() > 5);
    CHECK(all("call=bsend", true).size() > 100);
}
