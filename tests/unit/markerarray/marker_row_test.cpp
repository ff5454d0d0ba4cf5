// The protocol of a row's text: no reader sees a text that nobody wrote, whoever writes at once,
// and whoever is killed in between.
#include "base/segment/marker_row.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;

namespace {

// A text that follows from a number: of any length, and wrong anywhere when it is torn.
std::string text_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(24 + random() % (kMarkerBytes - 24), ' ');
    for (char& c : text) c = static_cast<char>('!' + random() % 90);
    const std::string number = std::to_string(seed);
    return number + " " + text.substr(number.size() + 1);
}

bool is_whole(const std::string& text) {
    return text == text_of(std::stoull("0" + text));
}

// A row in memory that processes share.
struct SharedRow {
    SharedRow()
        : row(*new (::mmap(nullptr, sizeof(MarkerRow), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) MarkerRow{}) {}
    ~SharedRow() { ::munmap(&row, sizeof row); }
    MarkerRow& row;
};

constexpr auto kDeadline = std::chrono::minutes(2);

}  // namespace

TEST_CASE("a row begins empty and keeps what was set") {
    const SharedRow shared;
    MarkerRow& row = shared.row;
    REQUIRE(row.text());
    CHECK(row.text()->number == 0);
    CHECK(row.text()->text.empty());
    CHECK(row.lights[0].load() == 0);
    row.set_light(99, 0);
    row.set_light(0, kMarkerColors - 1);
    CHECK(row.lights[99].load() == 1);
    CHECK(row.lights[0].load() == kMarkerColors);
    for (std::uint64_t seed = 1; seed <= 3 * MarkerRow::kSlots; ++seed) {
        row.set_text(text_of(seed));
        CHECK(row.text()->number == seed);
        CHECK(row.text()->text == text_of(seed));
    }
    row.set_text("");
    CHECK(row.text()->text.empty());
    row.set_text(std::string(kMarkerBytes, 'x'));
    CHECK(row.text()->text == std::string(kMarkerBytes, 'x'));
    row.set_progress(3, 4);
    CHECK(row.done.load() == 3);
    CHECK(row.total.load() == 4);
}

TEST_CASE("a slot that does not add up is passed over") {
    const SharedRow shared;
    MarkerRow& row = shared.row;
    row.set_text("one");
    row.set_text("two");
    MarkerTextSlot& newest = row.texts[2];
    SECTION("a writer died before it wrote anything") {
        row.last.fetch_add(1);
        CHECK(row.text()->text == "two");
    }
    SECTION("a writer died behind the head") {
        newest.head.store(6ull << 8 | 3);
        CHECK(row.text()->text == "one");
    }
    SECTION("a writer died behind a word") {
        newest.words[0].store(newest.words[0].load() + 1);
        CHECK(row.text()->text == "one");
    }
    SECTION("any bit of the slot") {
        for (int bit = 0; bit < 64; ++bit) {
            newest.words[0].fetch_xor(1ull << bit);
            CHECK(row.text()->text == "one");
            newest.words[0].fetch_xor(1ull << bit);
            newest.head.fetch_xor(1ull << bit);
            CHECK(row.text()->text == "one");
            newest.head.fetch_xor(1ull << bit);
        }
        CHECK(row.text()->text == "two");
    }
    SECTION("a writer that was overtaken leaves the later text") {
        row.texts[2].write(2 + MarkerRow::kSlots, "later");
        row.texts[2].write(2, "two");
        CHECK(row.texts[2].read(2)->text == "later");
    }
    SECTION("scribbled memory is never a text") {
        std::mt19937_64 random(7);
        for (int round = 0; round < 2000; ++round) {
            row.last.store(random());
            for (MarkerTextSlot& slot : row.texts) {
                slot.head.store(random());
                slot.check.store(random());
                for (auto& word : slot.words) word.store(random());
            }
            CHECK_FALSE(row.text());
        }
    }
}

TEST_CASE("no reader sees a text that nobody wrote") {
    const auto [writers, wanted] =
        GENERATE(table<unsigned, unsigned>({{1, 20'000}, {2, 20'000}, {4, 20'000}}));
    const SharedRow shared;
    MarkerRow& row = shared.row;
    std::vector<std::string> texts(4096);
    for (std::uint64_t i = 0; i < texts.size(); ++i) texts[i] = text_of(i);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned writer = 0; writer < writers; ++writer)
        threads.emplace_back([&, writer] {
            std::mt19937 random(writer);
            while (!stop.load(std::memory_order_relaxed)) {
                row.set_text(texts[random() % texts.size()]);
                if (random() % 64 == 0) std::this_thread::yield();
            }
        });
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    unsigned whole = 0;
    bool torn = false;
    while (whole < wanted && !torn && std::chrono::steady_clock::now() < deadline) {
        const auto seen = row.text();
        if (!seen || seen->number == 0) continue;
        ++whole;
        torn = seen->text != texts[std::stoull("0" + seen->text) % texts.size()];
    }
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(torn);
    CHECK(whole == wanted);
    // All writers are done: nothing is left half-way, and the next text is seen.
    row.set_text("the end");
    CHECK(row.text()->text == "the end");
}

TEST_CASE("a writer killed at any moment does no harm") {
    constexpr int kSeeds = 1000;
    const SharedRow shared;
    MarkerRow& row = shared.row;
    std::mt19937 random(1);
    for (int seed = 0; seed < kSeeds; ++seed) {
        const std::uint64_t before = row.last.load();
        const pid_t writer = ::fork();
        REQUIRE(writer >= 0);
        if (writer == 0)
            for (std::uint64_t i = 0;; ++i) row.set_text(text_of(i % 64));
        // The text `before` may be incomplete, because its writer was killed, so a whole one
        // follows.
        const std::uint64_t enough = before + 2 + random() % 50;
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        while (row.last.load() < enough && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
        ::kill(writer, SIGKILL);
        ::waitpid(writer, nullptr, 0);
        REQUIRE(row.last.load() >= enough);
        // At most one slot was being written; the one before it is whole.
        const auto seen = row.text();
        REQUIRE(seen);
        REQUIRE(is_whole(seen->text));
        REQUIRE(seen->number + 1 >= row.last.load());
    }
}
