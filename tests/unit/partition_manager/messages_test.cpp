// Control messages: what is encoded comes back, and nothing else is taken for a message.
#include "partition_manager/channel/messages.hpp"

#include <catch2/catch.hpp>
#include <climits>
#include <nlohmann/json.hpp>

#include "partition_manager/channel/message_codec.hpp"
#include "tests/fuzz/channel_messages.hpp"
#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using poe::fuzz::Random;
using Json = nlohmann::json;

namespace {

using poe::fuzz::kMessageKinds;

std::string every_byte() {
    std::string text;
    for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
    return text;
}

StartJob small_job() {
    StartJob start;
    start.job.id = "id";
    start.job.nodes = {"n0"};
    start.job.commands = {{"prog", "x"}};
    start.job.tasks = {{0, 0}, {0, 0}};
    return start;
}

// The message as JSON, to be damaged.
Json json_of(const Message& message) {
    return Json::from_cbor(encode(message));
}

bool readable(const Json& json) {
    std::string cbor;
    Json::to_cbor(json, cbor);
    return decode(cbor).has_value();
}

}  // namespace

// The deepest message.
TEST_CASE("the waits of several threads come back as they were", "[messages]") {
    TaskStates states;
    TaskState& state = states.states.emplace_back();
    state.evidence.known = state.evidence.many_threads = true;
    ThreadWait& wait = state.evidence.waits.emplace_back();
    wait.one_suffices = true;
    wait.needs = {{poe::ObservedNeed::Kind::kFileOperation, 1, 2, 3, 4}};
    wait.doing.call = static_cast<poe::Call>(poe::kFirstMpiCall + 1);
    wait.doing.bytes = 5;
    wait.communicator = "mesh";
    wait.place = "a.c:1";
    wait.awaited = {poe::Awaited::Kind::kRest, 10, 11, 12};
    state.evidence.ended = {{6, 7, 8, 9}};
    const auto again = decode(encode(states));
    REQUIRE(again);
    const TaskState& read = std::get<TaskStates>(*again).states.at(0);
    REQUIRE(read.evidence.waits.size() == 1);
    const ThreadWait& its = read.evidence.waits[0];
    REQUIRE(its.needs.size() == 1);
    CHECK(its.needs[0].kind == poe::ObservedNeed::Kind::kFileOperation);
    CHECK(its.needs[0].number == 4);
    CHECK(its.one_suffices);
    CHECK(its.doing == wait.doing);
    CHECK(its.awaited == wait.awaited);
    CHECK(its.communicator + its.place == "mesha.c:1");
    REQUIRE(read.evidence.ended.size() == 1);
    CHECK(read.evidence.ended[0].count == 9);
    CHECK((read.evidence.known && read.evidence.many_threads));
}

TEST_CASE("every message comes back as it was", "[messages]") {
    Random random(7);
    for (std::size_t which = 0; which < kMessageKinds; ++which) {
        for (int i = 0; i < 200; ++i) {
            const Message message = poe::fuzz::random_message(which, random);
            REQUIRE(message.index() == which);
            const auto again = decode(encode(message));
            INFO("message " << which << ", round " << i);
            REQUIRE(again);
            REQUIRE(message == *again);
        }
    }
}

TEST_CASE("strings are bytes", "[messages]") {
    const std::string bytes = every_byte();
    StartJob start = small_job();
    start.job.environment = {"X=" + bytes, "", bytes};
    start.job.directory = "/" + bytes;
    start.job.commands[0] = {bytes, "", std::string(1, '\0')};
    for (const Message& message :
         {Message(start), Message(TaskAbort{1, -1, bytes}), Message(Attention{bytes}),
          Message(StartFailed{{{0, bytes}, {1, ""}}, bytes}),
          Message(Attention{std::string(3 << 20, '\xff')})}) {
        const auto again = decode(encode(message));
        REQUIRE(again);
        CHECK(message == *again);
    }
}

TEST_CASE("100,000 tasks", "[messages]") {
    StartJob start = small_job();
    start.job.tasks.assign(100000, {0, 0});
    const std::string cbor = encode(start);
    CHECK(cbor.size() < 500000);
    const auto again = decode(cbor);
    REQUIRE(again);
    CHECK(Message(start) == *again);
}

TEST_CASE("no part of a message is a message", "[messages]") {
    Random random(11);
    for (std::size_t which = 0; which < kMessageKinds; ++which) {
        const std::string cbor = encode(poe::fuzz::random_message(which, random));
        for (std::size_t length = 0; length < cbor.size(); ++length)
            REQUIRE_FALSE(decode(std::string_view(cbor).substr(0, length)));
        CHECK_FALSE(decode(cbor + '\0'));
    }
}

TEST_CASE("bytes that are no message", "[messages]") {
    const std::string cases[] = {
        "",
        std::string(1, '\0'),
        "hello",
        std::string("\x80", 1),                                              // []
        std::string("\x81\x00", 2),                                          // [0]
        std::string("\x82\x18\x64\x80", 4),                                  // [100, []]
        std::string("\x82\x20\x80", 3),                                      // [-1, []]
        std::string("\x82", 1) + static_cast<char>(kMessageKinds) + "\x80",  // one too many
        std::string("\xa1\x00\x00", 3),                                      // a map
        std::string("\x82\x00\xa0", 3),                                      // [0, {}]
        std::string("\x82\x41\x00\x80", 4),                                  // ["\0", []]
        std::string("\xc0\x82\x02\x80", 4),                                  // with a tag
        std::string("\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9),              // an endless array
        std::string("\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", 9),              // an endless string
        std::string("\x9f", 1),
    };
    for (const std::string& one : cases) {
        INFO(Catch::Detail::stringify(one));
        CHECK_FALSE(decode(one));
    }
}

TEST_CASE("deep nesting is refused", "[messages]") {
    for (const std::size_t depth : {11u, 100u, 1000000u}) {
        CHECK_FALSE(decode(std::string(depth, '\x81')));         // arrays of one
        CHECK_FALSE(decode(std::string(depth, '\x81') + '\0'));  // ... that end
        CHECK_FALSE(decode(std::string(depth, '\x9f')));         // arrays without a length
        CHECK_FALSE(decode(std::string(depth, '\xa1')));         // maps
    }
}

TEST_CASE("strings nested in strings are refused without recursion", "[messages]") {
    // Byte strings and texts without a length consist of chunks; a chunk must not be one itself.
    for (const char nested : {'\x5f', '\x7f'}) {
        const int ended =
            test::in_child([&] { return decode(std::string(4 << 20, nested)) ? 1 : 0; });
        INFO("0 refused, 1011 stack overflow");
        CHECK(ended == 0);
    }
}

TEST_CASE("fields of the wrong type", "[messages]") {
    const Json wrong[] = {Json(), Json::array(),        Json::array({1}),
                          "text", Json::binary({1, 2}), Json::array({Json::binary({1}), 3})};
    Random random(3);
    for (std::size_t which = 0; which < kMessageKinds; ++which) {
        const Message message = poe::fuzz::random_message(which, random);
        const Json good = json_of(message);
        REQUIRE(readable(good));
        CHECK_FALSE(readable(Json::array({good[1], good[1]})));
        for (std::size_t field = 0; field < good[1].size(); ++field) {
            for (const Json& value : wrong) {
                if (std::holds_alternative<TaskExit>(message) && field == 4 && value.is_null())
                    continue;  // no stop
                if (std::holds_alternative<StdoutMark>(message) && field == 1 && value.is_null())
                    continue;  // no mode
                const bool lists = std::holds_alternative<NodesUp>(message) ||
                                   ((std::holds_alternative<DebuggedJob>(message) ||
                                     std::holds_alternative<DeadlockFound>(message)) &&
                                    field == 2);
                if (lists && value == Json::array({1})) continue;  // a list of nodes or tasks
                const bool same_type = value.type() == good[1][field].type();
                if (same_type && !value.is_array()) continue;
                if (same_type && value.empty()) continue;  // an empty list may be right
                Json bad = good;
                bad[1][field] = value;
                INFO("message " << which << ", field " << field << ": " << value.dump());
                CHECK_FALSE(readable(bad));
            }
            Json shorter = good;
            shorter[1].erase(field);
            CHECK_FALSE(readable(shorter));
        }
    }
}

TEST_CASE("a job's fields of the wrong type", "[messages]") {
    const Json good = json_of(small_job());
    const Json wrong[] = {Json(), "text", 7, Json::binary({1, 2})};
    for (std::size_t field = 0; field < good[1][0].size(); ++field) {
        for (const Json& value : wrong) {
            if (value.type() == good[1][0][field].type()) continue;
            if (value.is_number() && good[1][0][field].is_number()) continue;
            Json bad = good;
            bad[1][0][field] = value;
            INFO("field " << field << ": " << value.dump());
            CHECK_FALSE(readable(bad));
        }
    }
}

TEST_CASE("numbers that do not fit are refused", "[messages]") {
    struct Case {
        Message message;
        std::size_t field;
        Json value;
    };
    const std::int64_t big = std::int64_t{1} << 32;
    const Case cases[] = {
        {Hello{}, 0, big + 1},
        {Hello{}, 1, 1.5},
        {SignalTasks{15}, 0, big + 9},
        {SignalTasks{15}, 0, 1e300},
        {SignalTasks{15}, 0, true},
        {EndJob{}, 0, 1},
        {StdinProgress{}, 0, -1},
        {TaskExit{}, 0, big},
        {TaskExit{}, 1, INT64_MIN},
        {TaskExit{}, 8, -1},
        {TaskAbort{}, 0, big},
        // What nothing in the world can be, and what a calculation with it would overflow.
        {SignalTasks{15}, 0, -1},
        {SignalTasks{15}, 0, 65},
        {TaskExit{}, 1, 256},
        {TaskExit{}, 1, -1},
        {TaskExit{}, 2, 65},
        {TaskExit{}, 2, INT_MAX},
        {TaskExit{}, 4, Json::array({0, 1, ""})},
        {TaskExit{}, 4, Json::array({4, 1, ""})},
        {TaskExit{}, 4, 256},
        {TaskExit{}, 5, -1},
        {TaskExit{}, 5, INT64_MAX},
        {TaskExit{}, 6, INT64_MAX},
        {TaskExit{}, 7, INT64_MAX},
    };
    for (const Case& one : cases) {
        Json json = json_of(one.message);
        json[1][one.field] = one.value;
        INFO("message " << one.message.index() << ", field " << one.field << ": " << one.value);
        CHECK_FALSE(readable(json));
    }
    Json which = json_of(Started{});
    which[0] = 2.5;
    CHECK_FALSE(readable(which));
}

TEST_CASE("jobs that contradict themselves are refused", "[messages]") {
    const auto refused = [](const std::function<void(StartJob&)>& change) {
        StartJob start = small_job();
        change(start);
        return !decode(encode(start));
    };
    CHECK_FALSE(refused([](StartJob&) {}));
    CHECK(refused([](StartJob& s) { s.node = 1; }));
    CHECK(refused([](StartJob& s) { s.node = -1; }));
    CHECK(refused([](StartJob& s) { s.job.nodes.clear(); }));
    CHECK(refused([](StartJob& s) { s.job.tasks[1].node = 1; }));
    CHECK(refused([](StartJob& s) { s.job.tasks[1].node = -1; }));
    CHECK(refused([](StartJob& s) { s.job.tasks[1].command = 1; }));
    CHECK(refused([](StartJob& s) { s.job.tasks[1].command = UINT_MAX; }));
    CHECK(refused([](StartJob& s) { s.job.commands[0].clear(); }));
    CHECK(refused([](StartJob& s) { s.job.stdin_mode.kind = StdinMode::Kind(3); }));
    CHECK(refused([](StartJob& s) { s.job.stdout_mode.kind = StdoutMode::Kind(255); }));
    CHECK(refused([](StartJob& s) { s.job.wait_mode = poe::WaitMode(4); }));
    CHECK_FALSE(refused([](StartJob& s) { s.job.kill_grace = kMaxKillGrace; }));
    CHECK(refused([](StartJob& s) { s.job.kill_grace = std::chrono::milliseconds::max(); }));
    CHECK(refused([](StartJob& s) { s.job.kill_grace = std::chrono::milliseconds(-1); }));
    CHECK_FALSE(refused([](StartJob& s) { s.job.buffer_mem = kMaxBufferMem; }));
    CHECK(refused([](StartJob& s) { s.job.buffer_mem = kMaxBufferMem + 1; }));
    CHECK_FALSE(refused([](StartJob& s) { s.job.eager_limit = kMaxEagerLimit; }));
    CHECK(refused([](StartJob& s) { s.job.eager_limit = kMaxEagerLimit + 1; }));
    CHECK(refused([](StartJob& s) { s.job.deadlock_timeout = std::chrono::seconds(-1); }));
    CHECK(refused([](StartJob& s) { s.job.deadlock_timeout = std::chrono::seconds::max(); }));
}

TEST_CASE("a command without words is refused though no task runs it", "[messages]") {
    StartJob start = small_job();
    start.job.commands.push_back({});
    CHECK_FALSE(decode(encode(start)));
}

TEST_CASE("a job's id cannot lead out of its directory", "[messages]") {
    for (const char* id : {"", "../x", "a/b", ".", "A", "a b", "a\n"}) {
        INFO(id);
        StartJob start = small_job();
        start.job.id = id;
        CHECK_FALSE(decode(encode(start)));
    }
}
