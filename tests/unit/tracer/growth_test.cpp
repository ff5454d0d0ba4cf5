// A trace that is being written: whatever has come to it meanwhile, the index that has grown with
// it says what a new one says, and has read little more than what was new.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/session.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

constexpr std::uint64_t kBetween = 16;
constexpr TaskId kTasks = 4;

void quiet(double) {}

// The folder of a job's parts, which appear and grow. A part is replaced as a whole, as what a
// reader has mapped must not become shorter.
class Parts {
  public:
    Parts()
        : path_(std::filesystem::temp_directory_path() /
                ("vt_growth_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Parts() { std::filesystem::remove_all(path_); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void put(const std::string& name, const std::string& bytes) const {
        std::ofstream(path_ / "new", std::ios::binary) << bytes;
        std::filesystem::rename(path_ / "new", path_ / name);
    }
    // The part as it was when so many of its records had been given out, and some of these were not
    // whole yet.
    void put(const std::string& name, std::string bytes, std::uint64_t reserved,
             const std::vector<std::uint64_t>& holes = {}) const {
        std::memcpy(bytes.data() + offsetof(StreamHeader, reserved), &reserved, sizeof reserved);
        for (const std::uint64_t hole : holes)
            std::memset(bytes.data() + kHeaderBytes + hole * sizeof(Record), 0, sizeof(Record));
        put(name, bytes);
    }
    TraceSource open(const TraceSource* before = nullptr) const {
        return TraceSource::open(path_.string(), before);
    }

  private:
    std::filesystem::path path_;
};

std::string task_part(TaskId task) {
    return "task-" + std::to_string(task) + ".stream";
}

// Calls of a few tasks, more or less in step; markers, counters, a late definition.
std::vector<StreamWriter> random_tasks(std::mt19937& random) {
    std::vector<StreamWriter> tasks;
    tasks.reserve(kTasks);
    std::vector<std::uint64_t> now(kTasks, 10);
    for (TaskId task = 0; task < kTasks; ++task) tasks.push_back(task_stream(task, kTasks));
    for (std::uint16_t i = 1; i <= 60; ++i) {
        const std::size_t from = random() % kTasks;
        const std::size_t to = random() % kTasks;
        send_call(tasks[from], now[from], now[from] + 3, static_cast<TaskId>(to),
                  random() % 100'000);
        now[from] += 5 + random() % 30;
        receive_call(tasks[to], now[to], std::max(now[to], now[from]) + 2,
                     static_cast<TaskId>(from));
        now[to] = std::max(now[to], now[from]) + 2 + random() % 10;
        if (i % 10 == 0) {
            for (std::size_t task = 0; task < kTasks; ++task)
                sync_call(tasks[task], now[task], now[task] + 20, i);
            for (std::uint64_t& time : now) time += 25;
            tasks[to].put(us(now[to]), {.kind = Kind::kMarker, .extra = 12, .a = 20},
                          "a text of two records");
            tasks[to].counter(us(now[to]), kResidual, 1.0 / i);
        }
        if (i == 30)
            tasks[from].define(us(now[from]), Defined::kRegion, kFirstUserRegion + 1, "late", 2);
        if (i == 45) {
            tasks[from].enter(us(now[from]), kFirstUserRegion + 1);
            tasks[from].leave(us(now[from] + 1), kFirstUserRegion + 1);
        }
    }
    return tasks;
}

// Regions have numbers in the order in which they were met.
std::map<std::pair<TaskId, std::string>, Time> computed_by_name(const Ended& sums,
                                                                const Session& session) {
    std::map<std::pair<TaskId, std::string>, Time> named;
    for (const auto& [key, time] : sums.computed)
        if (time > Time{0})
            named[{key.first, session.definitions().region(key.second).name}] = time;
    return named;
}

void check_same(Session& grown, Session& fresh) {
    REQUIRE(grown.whole() == fresh.whole());
    const Index& a = grown.index();
    const Index& b = fresh.index();
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a.time(i) == b.time(i));
        REQUIRE(a.events(i) == b.events(i));
        const Ended x = a.ended(i);
        const Ended y = b.ended(i);
        REQUIRE(x.sizes == y.sizes);
        REQUIRE(x.pairs.size() == y.pairs.size());
        REQUIRE(x.waits.size() == y.waits.size());
        REQUIRE(x.calls.size() == y.calls.size());
        REQUIRE(computed_by_name(x, grown) == computed_by_name(y, fresh));
        for (const auto& [key, sum] : y.pairs) REQUIRE(x.pairs.at(key).bytes == sum.bytes);
        for (const auto& [key, sum] : y.waits) REQUIRE(x.waits.at(key).time == sum.time);
        for (TaskId task = 0; task < grown.source().facts().tasks; ++task)
            REQUIRE(a.spent(i, task) == b.spent(i, task));
    }
    const Time length = grown.whole().length();
    for (int part = 0; part <= 12; ++part) {
        const Time moment = grown.whole().from + length * part / 12;
        const JobState& x = grown.at(moment);
        const JobState& y = fresh.at(moment);
        REQUIRE(x.events == y.events);
        REQUIRE(x.messages == y.messages);
        REQUIRE(x.counters.size() == y.counters.size());
        REQUIRE(x.marks.size() == y.marks.size());
        for (const auto& [task, marks] : y.marks) REQUIRE(x.marks.at(task).text == marks.text);
        for (std::size_t task = 0; task < x.tasks.size(); ++task) {
            REQUIRE(x.tasks[task].spent_until(moment) == y.tasks[task].spent_until(moment));
            REQUIRE(x.tasks[task].frames.size() == y.tasks[task].frames.size());
            for (std::size_t i = 0; i < x.tasks[task].frames.size(); ++i)
                REQUIRE(grown.definitions().region(x.tasks[task].frames[i].region) ==
                        fresh.definitions().region(y.tasks[task].frames[i].region));
        }
        REQUIRE(grown.in_flight().size() == fresh.in_flight().size());
    }
}

}  // namespace

TEST_CASE("an index that has grown says what a new one says") {
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 21)));
    std::mt19937 random(seed);
    const Parts parts;
    const auto tasks = random_tasks(random);
    std::vector<std::uint64_t> reserved;
    std::vector<std::vector<std::uint64_t>> holes(kTasks);
    for (TaskId task = 0; task < kTasks; ++task) {
        const StreamWriter& stream = tasks[static_cast<std::size_t>(task)];
        reserved.push_back(random() % 20);
        parts.put(task_part(task), stream.bytes(false), reserved.back());
    }
    Session grown(parts.open(), {}, quiet, kBetween);
    for (bool all = false; !all;) {
        all = true;
        for (TaskId task = 0; task < kTasks; ++task) {
            const StreamWriter& stream = tasks[static_cast<std::size_t>(task)];
            std::uint64_t& count = reserved[static_cast<std::size_t>(task)];
            const std::uint64_t before = count;
            // Some lag far behind others; some leave holes that are filled some time, or never.
            count = std::min(count + random() % (seed % 3 == 0 ? 90 : 20), stream.records());
            all = all && count == stream.records();
            auto& left = holes[static_cast<std::size_t>(task)];
            std::erase_if(left, [&](std::uint64_t hole) { return hole % 9 != 0 && random() % 2; });
            for (std::uint64_t i = before; i < count; ++i)
                if (random() % 12 == 0) left.push_back(i);
            parts.put(task_part(task), stream.bytes(all && seed % 2 == 0), count, left);
        }
        grown.grow(parts.open(&grown.source()));
        Session fresh(parts.open(), {}, quiet, kBetween);
        check_same(grown, fresh);
    }
}

TEST_CASE("to grow costs what is new") {
    const Parts parts;
    std::vector<StreamWriter> tasks;
    tasks.reserve(kTasks);
    for (TaskId task = 0; task < kTasks; ++task) tasks.push_back(task_stream(task, kTasks));
    std::uint64_t now = 100;
    const auto go_on = [&](int calls) {
        for (int i = 0; i < calls; ++i, now += 10)
            for (TaskId task = 0; task < kTasks; ++task)
                send_call(tasks[static_cast<std::size_t>(task)], now + static_cast<unsigned>(task),
                          now + 5, 0);
        for (TaskId task = 0; task < kTasks; ++task)
            parts.put(task_part(task), tasks[static_cast<std::size_t>(task)].bytes(false));
    };
    constexpr std::uint64_t kOfCall = 3;
    go_on(1000);
    Session session(parts.open(), {}, quiet, 1000);
    const std::uint64_t at_first = session.index().replayed();
    CHECK(at_first > 1000 * kOfCall * kTasks);
    for (int second = 0; second < 20; ++second) {
        const std::uint64_t before = session.index().replayed();
        go_on(10);
        session.grow(parts.open(&session.source()));
        CHECK(session.index().replayed() - before == 10 * kOfCall * kTasks);
    }
    // One task is late: what the others have recorded meanwhile is read a second time, no more.
    for (int second = 0; second < 20; ++second) {
        const std::uint64_t before = session.index().replayed();
        const std::uint64_t late = now;
        for (TaskId task = 0; task < kTasks - 1; ++task)
            send_call(tasks[static_cast<std::size_t>(task)], late + 50, late + 55, 0);
        now += 100;
        for (TaskId task = 0; task < kTasks - 1; ++task)
            parts.put(task_part(task), tasks[static_cast<std::size_t>(task)].bytes(false));
        session.grow(parts.open(&session.source()));
        send_call(tasks[kTasks - 1], late + 10, late + 15, 0);
        parts.put(task_part(kTasks - 1), tasks[kTasks - 1].bytes(false));
        session.grow(parts.open(&session.source()));
        CHECK(session.index().replayed() - before <= 3 * kOfCall * kTasks);
    }
    // Nothing new costs nothing.
    const std::uint64_t before = session.index().replayed();
    session.grow(parts.open(&session.source()));
    CHECK(session.index().replayed() == before);
    Session fresh(parts.open(), {}, quiet, 1000);
    check_same(session, fresh);
}

TEST_CASE("a stream that wraps, a task that appears, one that is another's") {
    const Parts parts;
    StreamWriter wraps = task_stream(0, 2, 100);
    std::uint64_t now = 10;
    const auto go_on = [&](int calls) {
        for (int i = 0; i < calls; ++i, now += 10) send_call(wraps, now, now + 5, 0);
        parts.put(task_part(0), wraps.bytes(false));
    };
    const auto check = [&](Session& session) {
        session.grow(parts.open(&session.source()));
        Session fresh(parts.open(), {}, quiet, kBetween);
        check_same(session, fresh);
    };
    go_on(5);
    Session session(parts.open(), {}, quiet, kBetween);
    for (int i = 0; i < 12; ++i) {  // three laps
        go_on(7);
        check(session);
    }
    StreamWriter second = task_stream(1, 2);
    send_call(second, 5, 15, 0);
    parts.put(task_part(1), second.bytes(false));
    check(session);
    send_call(second, now + 5, now + 15, 0);
    parts.put(task_part(1), second.bytes(false));
    check(session);
    StreamWriter other = task_stream(1, 2);
    send_call(other, 1, 2, 0);
    parts.put(task_part(1), other.bytes(false));
    check(session);
}

TEST_CASE("clocks that are measured again move only what is behind the measurement before") {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const Parts parts;
    StreamWriter home = task_stream(0, 2);
    StreamWriter away = task_stream(1, 2, 0, 1);
    StreamFacts facts;
    facts.kind = StreamKind::kNode;
    facts.node = 1;
    facts.tasks = 2;
    facts.origin = facts.wall = kOrigin;
    StreamWriter node(facts);
    std::mt19937 random(5);
    std::uint64_t clocks = 0;
    std::optional<Session> session;
    for (std::uint64_t second = 1; second < 100; ++second) {
        for (std::uint64_t i = 0; i < 20; ++i) {
            const std::uint64_t at = second * 1'000'000 + i * 50'000;
            send_call(home, at, at + 5, 1);
            receive_call(away, at + 1, at + 7, 0);
        }
        if (second % 10 == 0) {
            ++clocks;
            const std::uint64_t offset = 1000 * second + random() % 5000;
            node.put(second * kSecond, {.kind = Kind::kClock, .a = 100, .b = offset});
        }
        parts.put(task_part(0), home.bytes(false));
        parts.put(task_part(1), away.bytes(false));
        parts.put("node-1.stream", node.bytes(false));
        if (!session) session.emplace(parts.open(), Index::Places{}, quiet, kBetween);
        TraceSource source = parts.open(&session->source());
        CHECK(source.clock_records_read() == (second % 10 == 0 ? 1 : 0));
        const std::uint64_t before = session->index().replayed();
        session->grow(std::move(source));
        const std::uint64_t read = session->index().replayed() - before;
        constexpr std::uint64_t kOfSecond = std::uint64_t{20} * 6;
        // The last two measurements are ten seconds apart; before the second there is no line.
        if (clocks > 2) CHECK(read <= (second % 10 == 0 ? 23 : 2) * kOfSecond);
        Session fresh(parts.open(), {}, quiet, kBetween);
        check_same(*session, fresh);
    }
}

TEST_CASE("a call that ends between two looks") {
    const Parts parts;
    const StreamWriter empty = task_stream(1, 2);
    parts.put(task_part(1), empty.bytes(false));
    StreamWriter open = task_stream(0, 2);
    for (std::uint64_t now = 10; now < 400; now += 10) send_call(open, now, now + 5, 1);
    const std::uint32_t line =
        open.call_line(us(400), {kBrecvCall, 1, 5, 16, kNobody, std::uint16_t{1}});
    std::uint64_t now = 500;
    std::uint64_t last = open.records();
    open.call(us(now), line, call_detail(CallPart::kNone, true, false));
    parts.put(task_part(0), open.bytes(false));
    Session grown(parts.open(), {}, quiet, kBetween);
    CHECK(grown.at(grown.whole().to).tasks[0].frames.size() == 1);
    for (int i = 0; i < 40; ++i, now += 100) {
        // The end is stored in the record of the beginning, and sometimes the next call has begun
        // already.
        const WholeCall call{.part = CallPart::kReceive, .duration = us(60), .bytes = 7};
        open.replace(last, {.kind = Kind::kWholeCall,
                            .detail = call.detail(),
                            .extra = static_cast<std::uint16_t>(i + 1),
                            .a = line,
                            .b = call.packed()});
        if (i % 3 == 0) {
            parts.put(task_part(0), open.bytes(false));
            grown.grow(parts.open(&grown.source()));
            CHECK(grown.at(grown.whole().to).tasks[0].frames.empty());
            Session fresh(parts.open(), {}, quiet, kBetween);
            check_same(grown, fresh);
        }
        last = open.records();
        open.call(us(now + 100), line, call_detail(CallPart::kNone, true, false));
        parts.put(task_part(0), open.bytes(false));
        grown.grow(parts.open(&grown.source()));
        CHECK(grown.at(grown.whole().to).tasks[0].frames.size() == 1);
        Session fresh(parts.open(), {}, quiet, kBetween);
        check_same(grown, fresh);
    }
}
