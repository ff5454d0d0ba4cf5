// Standard input into real pipes: readers at their own pace, and what is said about them.
#include "partition_manager/stdio/stdin_feeder.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "tests/unit/partition_manager/support.hpp"

using namespace poe::pm;
using namespace poe::pm::test;
using poe::TaskId;

namespace {

struct Bench {
    asio::io_context loop;
    std::vector<StdinProgress> reports;
    StdinFeeder feeder{loop, [this](const StdinProgress& p) { reports.push_back(p); }};

    // The read end of a new task's standard input.
    poe::UniqueFd task(TaskId id) {
        FdPair pipe = make_pipe();
        feeder.add(id, std::move(pipe.write));
        return std::move(pipe.read);
    }
    StdinProgress last() const { return reports.empty() ? StdinProgress{} : reports.back(); }
    bool until(const std::function<bool()>& done) { return run_until(loop, done); }
    bool reaches(std::uint64_t delivered, std::uint64_t consumed) {
        return until([&] { return last().delivered == delivered && last().consumed == consumed; });
    }
};

std::string numbers(std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + "\n";
    text.resize(size);
    return text;
}

// At its end, without waiting.
bool at_end(const poe::UniqueFd& fd) {
    char byte = 0;
    set_flag(fd.get(), O_NONBLOCK);
    return ::read(fd.get(), &byte, 1) == 0;
}

}  // namespace

TEST_CASE("all tasks get all bytes", "[stdin_feeder]") {
    Bench bench;
    const auto a = bench.task(0);
    const auto b = bench.task(1);
    bench.feeder.on_data("one\n");
    bench.feeder.on_data("");
    bench.feeder.on_data("two\n");
    CHECK(bench.last().delivered == 8);
    CHECK(bench.last().consumed == 0);
    CHECK(bench.last().wanted);
    CHECK(read_now(a.get()) == "one\ntwo\n");
    REQUIRE(bench.reaches(8, 8));
    CHECK(read_now(b.get()) == "one\ntwo\n");
    CHECK_FALSE(at_end(a));
    bench.feeder.on_end();
    CHECK(at_end(a));
    CHECK(at_end(b));
}

TEST_CASE("the first byte that is read is noticed", "[stdin_feeder]") {
    Bench bench;
    const auto a = bench.task(0);
    const auto b = bench.task(1);
    bench.feeder.on_data("12345");
    run_ready(bench.loop);
    CHECK(bench.last().consumed == 0);
    CHECK(read_now(b.get(), 2) == "12");
    REQUIRE(bench.reaches(5, 2));
}

TEST_CASE("readers at different paces", "[stdin_feeder]") {
    Bench bench;
    const std::string all = numbers(1 << 20);
    std::vector<poe::UniqueFd> tasks;
    tasks.reserve(3);
    for (TaskId id = 0; id < 3; ++id) tasks.push_back(bench.task(id));
    bench.feeder.on_data(all);
    const std::size_t paces[] = {1 << 20, 5000, 100};
    std::string got[3];
    std::uint64_t before = 0;
    // The slowest decides what is delivered; the fastest what is consumed.
    REQUIRE(bench.until([&] {
        for (std::size_t id = 0; id < 3; ++id) got[id] += read_now(tasks[id].get(), paces[id]);
        return got[0].size() < all.size() ? false : true;
    }));
    CHECK(got[2].size() < got[1].size());
    CHECK(bench.last().delivered < all.size());
    for (const StdinProgress& report : bench.reports) {
        CHECK(report.delivered >= before);
        before = report.delivered;
    }
    REQUIRE(bench.until([&] {
        for (std::size_t id = 0; id < 3; ++id) got[id] += read_now(tasks[id].get());
        return got[1].size() == all.size() && got[2].size() == all.size();
    }));
    for (const std::string& text : got) CHECK((text == all));
    REQUIRE(bench.until([&] { return bench.last().delivered == all.size(); }));
    CHECK(bench.last().consumed <= all.size());
}

TEST_CASE("the end comes after the last byte", "[stdin_feeder]") {
    Bench bench;
    const auto slow = bench.task(0);
    const std::string all = numbers(300000);
    bench.feeder.on_data(all);
    bench.feeder.on_end();
    std::string got;
    REQUIRE(bench.until([&] {
        got += read_now(slow.get(), 10000);
        return got.size() == all.size() && at_end(slow);
    }));
    CHECK((got == all));
    bench.feeder.on_task_exit(0);
    CHECK(bench.last().delivered == all.size());
    CHECK(bench.last().consumed == all.size());
    CHECK_FALSE(bench.last().wanted);
}

TEST_CASE("an end without any data", "[stdin_feeder]") {
    Bench bench;
    const auto a = bench.task(0);
    bench.feeder.on_end();
    CHECK(at_end(a));
    bench.feeder.on_end();
    bench.feeder.on_task_exit(0);
    CHECK_FALSE(bench.last().wanted);
    CHECK(bench.last().consumed == 0);
}

TEST_CASE("a task that closes its input holds nobody up", "[stdin_feeder]") {
    Bench bench;
    auto closed = bench.task(0);
    const auto open = bench.task(1);
    closed.reset();
    const std::string all = numbers(50000);
    bench.feeder.on_data(all);
    CHECK(bench.last().delivered == all.size());
    CHECK(bench.last().wanted);
    CHECK((read_now(open.get()) == all));
    REQUIRE(bench.reaches(all.size(), all.size()));
}

TEST_CASE("a task that closes its input in the middle", "[stdin_feeder]") {
    Bench bench;
    auto leaves = bench.task(0);
    const auto stays = bench.task(1);
    const std::string all = numbers(400000);
    bench.feeder.on_data(all);
    std::string got = read_now(leaves.get(), 1000);
    std::string other;
    REQUIRE(bench.until([&] {
        other += read_now(stays.get());
        return other.size() == all.size();
    }));
    CHECK(bench.last().delivered < all.size());
    leaves.reset();
    REQUIRE(bench.reaches(all.size(), all.size()));
    CHECK(bench.last().wanted);
}

TEST_CASE("nobody is left to read", "[stdin_feeder]") {
    Bench bench;
    auto a = bench.task(0);
    auto b = bench.task(1);
    const std::string all = numbers(200000);
    bench.feeder.on_data(all);
    a.reset();
    bench.feeder.on_task_exit(0);
    CHECK(bench.last().wanted);
    b.reset();
    bench.feeder.on_task_exit(1);
    CHECK_FALSE(bench.last().wanted);
    CHECK(bench.last().delivered == all.size());  // nothing to wait for
    bench.feeder.on_data("more");
    bench.feeder.on_end();
    run_ready(bench.loop);
    CHECK_FALSE(bench.last().wanted);
}

TEST_CASE("what a task leaves unread is not consumed", "[stdin_feeder]") {
    for (const bool ended : {false, true}) {
        for (const std::size_t taken : {0, 1, 7, 30000, 50000}) {
            INFO("end of input: " << ended << ", read: " << taken);
            Bench bench;
            auto a = bench.task(0);
            bench.feeder.on_data(numbers(50000));
            if (ended) bench.feeder.on_end();
            REQUIRE(read_now(a.get(), taken).size() == taken);
            a.reset();
            bench.feeder.on_task_exit(0);
            CHECK(bench.last().consumed == taken);
            CHECK_FALSE(bench.last().wanted);
        }
    }
}

TEST_CASE("the task that read most counts", "[stdin_feeder]") {
    Bench bench;
    std::vector<poe::UniqueFd> tasks;
    tasks.reserve(3);
    for (TaskId id = 0; id < 3; ++id) tasks.push_back(bench.task(id));
    bench.feeder.on_data(numbers(10000));
    bench.feeder.on_end();
    const std::size_t taken[] = {10, 9000, 500};
    for (std::size_t id = 0; id < 3; ++id) read_now(tasks[id].get(), taken[id]);
    for (const TaskId id : {1, 0, 2}) {
        tasks[static_cast<std::size_t>(id)].reset();
        bench.feeder.on_task_exit(id);
        CHECK(bench.last().consumed == 9000);
    }
    CHECK_FALSE(bench.last().wanted);
}

TEST_CASE("without tasks that read", "[stdin_feeder]") {
    Bench bench;
    bench.feeder.on_data("text");
    CHECK_FALSE(bench.last().wanted);
    CHECK(bench.last().delivered == 4);
    bench.feeder.on_end();
    bench.feeder.on_task_exit(0);
    run_ready(bench.loop);
}

TEST_CASE("no news, no report", "[stdin_feeder]") {
    Bench bench;
    const auto a = bench.task(0);
    bench.feeder.on_data("text");
    const std::size_t before = bench.reports.size();
    bench.feeder.on_data("");
    bench.feeder.on_task_exit(7);
    CHECK(bench.reports.size() == before);
}
