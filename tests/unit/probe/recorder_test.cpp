// The recorder: what is committed is there, whoever writes, however the writer ends, and whatever
// the disk does.
#include "tracer/probe/recorder.hpp"

#include <csignal>
#include <set>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/unit/probe/recorded.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::testing;

namespace {

Record numbered(std::uint32_t thread, std::uint64_t number) {
    return {.kind = Kind::kCounter, .detail = 1, .extra = 7, .a = thread, .b = number};
}

// Every record is one that was written, with all its fields.
void require_sound(const Recorded& found) {
    for (const Record& record : found.records) {
        if (record.kind == Kind::kLost) continue;
        REQUIRE(record.kind == Kind::kCounter);
        REQUIRE(record.detail == 1);
        REQUIRE(record.extra == 7);
    }
}

}  // namespace

TEST_CASE("records are in the file when they have been made", "[recorder]") {
    const TestDirectory directory;
    const std::string path = make_task_stream(directory, 1 << 20);
    const auto recorder = Recorder::open(path);
    REQUIRE(recorder);
    constexpr std::uint64_t kMany = 200'000;  // several portions of memory
    for (std::uint64_t i = 0; i < kMany; ++i) REQUIRE(recorder->record(numbered(1, i)));
    const Recorded found = read_stream(path);
    CHECK(found.process == ::getpid());
    CHECK(found.lost == 0);
    REQUIRE(found.records.size() == kMany);
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < kMany; ++i) {
        REQUIRE(found.records[i].b == i);
        REQUIRE(found.records[i].time() >= before);
        before = found.records[i].time();
    }
    require_sound(found);
}

TEST_CASE("a stream has one process", "[recorder]") {
    const TestDirectory directory;
    const std::string path = make_task_stream(directory, 5000);
    const auto first = Recorder::open(path);
    REQUIRE(first);
    CHECK(Recorder::open(path) == nullptr);
}

TEST_CASE("what is no stream is refused", "[recorder]") {
    const TestDirectory directory;
    CHECK_THROWS_WITH(Recorder::open(directory.file("none")), Catch::Contains("cannot open"));
    std::ofstream(directory.file("short")) << "POETRACE";
    CHECK_THROWS_WITH(Recorder::open(directory.file("short")), Catch::Contains("cut off"));
    std::ofstream(directory.file("other")) << std::string(kHeaderBytes, 'x');
    CHECK_THROWS_WITH(Recorder::open(directory.file("other")), Catch::Contains("no trace stream"));
}

TEST_CASE("threads record at once", "[recorder]") {
    const TestDirectory directory;
    const std::string path = make_task_stream(directory, 1 << 20);
    const auto recorder = Recorder::open(path);
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint64_t kEach = 50'000;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (std::uint32_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < kEach; ++i) {
                if (i % 16 == 0) {
                    const Record pair[] = {numbered(t, i), numbered(t, i + 1)};
                    recorder->record(pair);
                    ++i;
                } else {
                    recorder->record(numbered(t, i));
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
    const Recorded found = read_stream(path);
    REQUIRE(found.records.size() == kThreads * kEach);
    std::vector<std::uint64_t> next(kThreads, 0);
    for (const Record& record : found.records) REQUIRE(record.b == next.at(record.a)++);
    require_sound(found);
}

TEST_CASE("at the end of its capacity a stream counts what is missing", "[recorder]") {
    const TestDirectory directory;
    constexpr std::uint64_t kCapacity = 5000;
    const std::string path = make_task_stream(directory, kCapacity);
    const auto recorder = Recorder::open(path);
    std::vector<std::thread> threads;
    threads.reserve(4);
    std::atomic<std::uint64_t> kept{0};
    for (std::uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 3000; ++i)
                kept += recorder->record(numbered(t, i)) ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(recorder->full());
    const Recorded found = read_stream(path);
    REQUIRE(found.records.size() == kCapacity);
    CHECK(kept == kCapacity - 1);
    CHECK(found.lost == 12000 - kept);
    CHECK(found.records.back().kind == Kind::kLost);
    CHECK(found.records.back().b == found.lost);
    require_sound(found);
}

TEST_CASE("a stream that wraps keeps the last part", "[recorder]") {
    const TestDirectory directory;
    constexpr std::uint64_t kCapacity = 5000;
    const std::string path = make_task_stream(directory, kCapacity, true);
    int laps = 0;
    const auto recorder = Recorder::open(path, [&](Recorder& again) {
        ++laps;
        again.record(numbered(99, 0));
    });
    constexpr std::uint64_t kMany = 5000 * 7 + 123;
    for (std::uint64_t i = 0; i < kMany; ++i) recorder->record(numbered(1, i));
    CHECK(laps == 7);
    const Recorded found = read_stream(path);
    CHECK(found.lost == 0);
    REQUIRE(found.records.size() == kCapacity);
    CHECK(found.records.back().b == kMany - 1);
    std::uint64_t repeated = 0;
    for (const Record& record : found.records) repeated += record.a == 99 ? 1 : 0;
    CHECK(repeated == 1);
}

TEST_CASE("threads wrap at once", "[recorder]") {
    const TestDirectory directory;
    constexpr std::uint64_t kCapacity = 50'000;
    const std::string path = make_task_stream(directory, kCapacity, true);
    std::atomic<int> laps{0};
    const auto recorder = Recorder::open(path, [&](Recorder&) { ++laps; });
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (std::uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 100'000; ++i) recorder->record(numbered(t, i));
        });
    for (std::thread& thread : threads) thread.join();
    const Recorded found = read_stream(path);
    CHECK(found.reserved == 400'000);
    // A writer that is stopped for a whole lap spoils one record (recorder.hpp), no more.
    CHECK(found.records.size() <= kCapacity);
    CHECK(found.records.size() + threads.size() >= kCapacity);
    CHECK(laps == 7);
    require_sound(found);
}

TEST_CASE("a killed writer loses nothing that it has committed", "[recorder]") {
    for (int round = 0; round < 20; ++round) {
        const TestDirectory directory;
        const std::string path = make_task_stream(directory, 1 << 22);
        int done[2];
        REQUIRE(::pipe(done) == 0);
        const pid_t child = ::fork();
        if (child == 0) {
            const auto recorder = Recorder::open(path);
            for (std::uint64_t i = 0; recorder && i < 1u << 21; ++i) {
                recorder->record(numbered(1, i));
                // The pipe says which record is known to be committed when the kill comes.
                if (i % 1000 == 999 && ::write(done[1], &i, sizeof i) < 0) break;
            }
            ::_exit(0);
        }
        ::close(done[1]);
        std::uint64_t known = 0;
        // A different moment each time, said by the writer's own progress.
        for (int i = 0; i <= round * 7; ++i)
            if (::read(done[0], &known, sizeof known) != sizeof known) break;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(done[0], &known, sizeof known) == sizeof known) {
        }
        ::close(done[0]);
        const Recorded found = read_stream(path);
        REQUIRE(found.records.size() > known);
        REQUIRE(found.reserved <= found.records.size() + 1);
        for (std::uint64_t i = 0; i < found.records.size(); ++i) REQUIRE(found.records[i].b == i);
        require_sound(found);
    }
}

TEST_CASE("a full disk stops recording, and nothing else", "[recorder]") {
    const TestDirectory directory;
    if (::mount("poe-test", directory.path().c_str(), "tmpfs", 0, "size=3m") != 0) {
        WARN("not tested: only root can make a small disk (mount: " << std::strerror(errno) << ")");
        return;
    }
    {
        const std::string path = make_task_stream(directory, 1 << 20);
        const auto recorder = Recorder::open(path);
        std::uint64_t kept = 0;
        constexpr std::uint64_t kMany = 300'000;
        for (std::uint64_t i = 0; i < kMany; ++i) kept += recorder->record(numbered(1, i)) ? 1 : 0;
        CHECK(recorder->full());
        const Recorded found = read_stream(path);
        CHECK(kept > 40'000);
        CHECK(found.lost == kMany - kept);
        REQUIRE(found.records.size() == kept + 1);
        CHECK(found.records.back().kind == Kind::kLost);
        CHECK(found.records.back().b == found.lost);
        const std::string ring = make_task_stream(directory, 1 << 20, true, 1);
        CHECK_THROWS_WITH(Recorder::open(ring), Catch::Contains("disk full"));
    }
    ::umount(directory.path().c_str());
}

TEST_CASE("what is left of a disk is shared", "[recorder]") {
    constexpr std::uint64_t kMega = std::uint64_t{1} << 20;
    CHECK_FALSE(share_of_rest(100 * kMega, 1));
    CHECK_FALSE(share_of_rest(100 * kMega, 4));
    CHECK(share_of_rest(32 * kMega, 4) == 8 * kMega);
    const TestDirectory directory;
    if (::mount("poe-test", directory.path().c_str(), "tmpfs", 0, "size=12m") != 0) {
        WARN("not tested: only root can make a small disk (mount: " << std::strerror(errno) << ")");
        return;
    }
    {
        // One task records as much as it can before the others begin.
        std::vector<std::uint64_t> kept;
        for (TaskId task = 0; task < 4; ++task) {
            const std::string path = make_task_stream(directory, 1 << 20, false, task, 4);
            const auto recorder = Recorder::open(path);
            kept.push_back(0);
            for (std::uint64_t i = 0; i < 500'000; ++i)
                kept.back() += recorder->record(numbered(1, i)) ? 1 : 0;
            CHECK(recorder->full());
        }
        CHECK(kept[0] > 100'000);  // 3 MB are 131,072
        CHECK(kept[0] < 140'000);
        CHECK(kept[1] > 75'000);
        CHECK(kept[3] > 40'000);
    }
    ::umount(directory.path().c_str());
}

TEST_CASE("a limit on files stops recording, too", "[recorder]") {
    const TestDirectory directory;
    const std::string path = make_task_stream(directory, 1 << 20);
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{2 << 20, 2 << 20};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto recorder = Recorder::open(path);
        for (std::uint64_t i = 0; i < 100'000; ++i) recorder->record(numbered(1, i));
        ::_exit(recorder->full() ? 3 : 4);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
    const Recorded found = read_stream(path);
    CHECK(found.records.size() + found.lost == 100'000 + 1);
}
