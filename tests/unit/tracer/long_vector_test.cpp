// Vectors that are longer than the memory, and what is made of them.
#include "tracer/diagnosis/long_vector.hpp"

#include <fstream>
#include <string>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tracer/diagnosis/operation_numbers.hpp"
#include "tracer/diagnosis/polling.hpp"
#include "tracer/diagnosis/root_causes.hpp"

using namespace poe::trace;

namespace {

// Limits the private memory of this process to what it has and some more.
class LittleMemory {
  public:
    explicit LittleMemory(std::size_t more = std::size_t{32} << 20) {
        ::getrlimit(RLIMIT_DATA, &before_);
        std::ifstream status("/proc/self/status");
        std::size_t kilobytes = 0;
        for (std::string word; status >> word;)
            if (word == "VmData:") status >> kilobytes;
        struct rlimit little = before_;
        little.rlim_cur = (kilobytes << 10) + more;
        ::setrlimit(RLIMIT_DATA, &little);
    }
    ~LittleMemory() { ::setrlimit(RLIMIT_DATA, &before_); }

  private:
    struct rlimit before_ {};
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a long vector needs no memory of its own", "[long_vector]") {
    constexpr std::size_t kElements = std::size_t{24} << 20;
    if (room_for_long_blocks() < 4 * kElements * sizeof(std::uint64_t)) {
        WARN("there is no room in /var/tmp");
        return;
    }
    const LittleMemory limit;
    CHECK_THROWS_AS(std::vector<std::uint64_t>(kElements), std::bad_alloc);
    LongVector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kElements; ++i) all.push_back(i * i);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kElements; ++i) wrong += all[i] != i * i ? 1 : 0;
    CHECK(wrong == 0);
}

TEST_CASE("long vectors of many tasks need no memory of their own", "[long_vector]") {
    constexpr std::size_t kTasks = 400;
    constexpr std::size_t kElements = std::size_t{128} << 10;
    if (room_for_long_blocks() < 2 * kTasks * kElements * sizeof(std::uint64_t)) return;
    const LittleMemory limit;
    std::vector<LongVector<std::uint64_t>> all(kTasks);
    for (std::uint64_t i = 0; i < kElements; ++i)
        for (std::uint64_t task = 0; task < kTasks; ++task) all[task].push_back(i ^ task);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kElements; ++i)
        for (std::uint64_t task = 0; task < kTasks; ++task)
            wrong += all[task][i] != (i ^ task) ? 1 : 0;
    CHECK(wrong == 0);
}

TEST_CASE("the numbers of operations need no memory of their own", "[long_vector]") {
    constexpr std::uint32_t kOperations = 2'000'000;
    const auto key = [](std::uint64_t i) { return i << 32 | i % 7; };
    if (room_for_long_blocks() < std::size_t{8} * kOperations * OperationNumbers::kSlotBytes)
        return;
    const LittleMemory limit;
    OperationNumbers numbers;
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kOperations; ++i)
        wrong += numbers.number_of(key(i)) != std::pair(i, true) ? 1 : 0;
    for (std::uint32_t i = 0; i < kOperations; ++i)
        wrong += numbers.number_of(key(i)) != std::pair(i, false) ? 1 : 0;
    CHECK(wrong == 0);
}

TEST_CASE("polls and causes of a long history need no memory of their own", "[long_vector]") {
    // Task 0 computes and receives in turns; each call waits for task 1, which computes all the
    // time.
    constexpr std::uint32_t kCalls = 2'000'000;
    constexpr std::size_t kBytes =
        kCalls * (2 * sizeof(Activity) + sizeof(TaskMessage) + sizeof(TaskWait));
    if (room_for_long_blocks() < 8 * kBytes) return;
    // Short blocks of several vectors are in memory. What causes carry has 40 bytes for each wait.
    const LittleMemory limit(std::size_t{36} * kCalls);
    History history;
    history.tasks = poe::PerTask<LongVector<Activity>>(2);
    history.wait_ends = poe::PerTask<std::size_t>(2, kCalls);
    history.end = Time{20} * kCalls;
    history.tasks[1].push_back({.state = State::kComputing});
    history.tasks[1].push_back({.from = history.end});
    for (std::uint32_t i = 0; i < kCalls; ++i) {
        const Time at = Time{20} * i;
        history.tasks[0].push_back({.from = at, .state = State::kComputing});
        history.tasks[0].push_back(
            {.from = at + Time{10}, .region = 5, .state = State::kReceiving, .is_call = true});
        history.waits.push_back(
            {.task = 0, .whom = 1, .call = 2 * i + 1, .from = at + Time{10}, .to = at + Time{15}});
        history.messages.push_back({.from = 1,
                                    .to = 0,
                                    .sent = at + Time{15},
                                    .received = at + Time{15},
                                    .send_since = at + Time{15},
                                    .receive_since = at + Time{10}});
    }
    history.tasks[0].push_back({.from = history.end});
    add_polling(history);
    CHECK(history.waits.size() == kCalls);
    const std::vector<Cause> causes = find_root_causes(history);
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].task == 1);
    CHECK(causes[0].short_term == Approx(5.0 * kCalls));
}
#endif

TEST_CASE("a long vector is copied, moved and emptied as others are", "[long_vector]") {
    constexpr std::size_t kElements = kLongBlock / sizeof(int);
    LongVector<int> all(kElements, 7);
    LongVector<int> copy = all;
    copy.back() = 8;
    CHECK(all.back() == 7);
    all = std::move(copy);
    CHECK(all.back() == 8);
    all.clear();
    all.shrink_to_fit();
    CHECK(all.empty());
    all.assign(3, 1);
    CHECK(all.size() == 3);
}
