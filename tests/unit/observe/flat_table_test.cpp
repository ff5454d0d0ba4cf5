// The hash tables of the observer against a plain model, their steps, and the numbers of messages.
#include "mpi/observe/flat_table.hpp"

#include <deque>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "mpi/observe/message_numbers.hpp"
#include "mpi/observe/queue_table.hpp"

using namespace poe::observe;

TEST_CASE("entries of a key leave in the order in which they came", "[flat_table]") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        // Few different keys, so that many entries share one, and many places are full.
        const std::uint64_t keys = 1 + random() % 60;
        QueueTable<std::uint64_t, std::uint32_t> table;
        std::map<std::uint64_t, std::deque<std::uint32_t>> model;
        std::size_t size = 0;
        for (std::uint32_t step = 1; step <= 600; ++step) {
            const std::uint64_t key = random() % keys;
            std::deque<std::uint32_t>& expected = model[key];
            if (random() % 5 < 3) {
                table.add(key, step);
                expected.push_back(step);
                ++size;
            } else {
                table.remove(key);
                if (!expected.empty()) {
                    expected.pop_front();
                    --size;
                }
            }
            REQUIRE(table.size() == size);
        }
        for (const auto& [key, expected] : model) {
            for (const std::uint32_t value : expected) {
                const std::uint32_t* found = table.find(key);
                REQUIRE(found != nullptr);
                REQUIRE(*found == value);
                table.remove(key);
            }
            REQUIRE(table.find(key) == nullptr);
        }
        REQUIRE(table.size() == 0);
    }
}

namespace {

// Counts how often keys are compared, which is how many places of the table are looked at.
struct CountedKey {
    static inline std::uint64_t comparisons = 0;
    std::uint64_t value = 0;

    std::uint64_t hash() const noexcept { return mixed(value); }
    bool operator==(const CountedKey& other) const noexcept {
        ++comparisons;
        return value == other.value;
    }
};

}  // namespace

TEST_CASE("many requests with one handle take a few steps each", "[flat_table]") {
    constexpr std::uint32_t kRequests = 20'000;
    QueueTable<CountedKey, std::uint32_t> table;
    for (std::uint64_t other = 1; other <= 100; ++other) table.add({other}, 0);
    CountedKey::comparisons = 0;
    for (std::uint32_t i = 0; i < kRequests; ++i) table.add({1000}, i);
    for (std::uint32_t i = 0; i < kRequests; ++i) {
        const std::uint32_t* const oldest = table.find({1000});
        REQUIRE(oldest != nullptr);
        REQUIRE(*oldest == i);
        table.remove({1000});
    }
    CHECK(table.find({1000}) == nullptr);
    CHECK(table.size() == 100);
    // Three operations for each request, and each looks at a few places.
    CHECK(CountedKey::comparisons < std::uint64_t{20} * kRequests);
}

TEST_CASE("messages are counted by communicator, peer and tag", "[flat_table]") {
    MessageNumbers numbers;
    for (std::uint32_t number = 1; number <= 3; ++number)
        for (std::int32_t tag = 0; tag < 300; ++tag)
            for (poe::TaskId peer = 0; peer < 3; ++peer)
                REQUIRE(numbers.next({16, peer, tag}) == number);
    CHECK(numbers.next({17, 0, 0}) == 1);
    CHECK(numbers.next({16, 0, 0}) == 4);

    // A receive that was cancelled gives its number back, unless another has a later one.
    numbers.give_back({16, 0, 0}, 4);
    CHECK(numbers.next({16, 0, 0}) == 4);
    CHECK(numbers.next({16, 0, 0}) == 5);
    numbers.give_back({16, 0, 0}, 4);
    CHECK(numbers.next({16, 0, 0}) == 6);
}
