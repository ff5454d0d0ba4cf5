// A stream that is read while it is written: a reader sees only records that somebody has written,
// and in the end all of them. The writers are the recorder, and one that stops between the steps of
// the protocol (format.hpp) at random.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/probe/recorded.hpp"
#include "tracer/probe/recorder.hpp"
#include "tracer/read/cursor.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::testing;

namespace {

// All fields of a record follow from its id, so a mixture of two records is recognized.
std::uint64_t mixed(std::uint64_t id) {
    id = (id + 1) * 0x9e3779b97f4a7c15u;
    return id ^ id >> 29;
}
std::uint16_t extra_of(std::uint64_t id) {
    return static_cast<std::uint16_t>(mixed(id));
}
std::uint32_t bytes_at(std::uint64_t id, std::uint64_t salt) {
    return static_cast<std::uint32_t>(mixed(id + salt) & 0xffff);
}
Record counter_of(std::uint32_t id) {
    return {.kind = Kind::kCounter, .detail = 1, .extra = extra_of(id), .a = id, .b = mixed(id)};
}
Record begin_of(std::uint32_t id) {
    return {.kind = Kind::kCall,
            .detail = call_detail(CallPart::kNone, true, false),
            .extra = extra_of(id),
            .a = id,
            .b = pair(0, bytes_at(id, 1))};
}
WholeCall call_of(std::uint32_t id) {
    return {.part = CallPart::kReceive, .duration = 1 + id % 5, .bytes = bytes_at(id, 2)};
}
std::uint16_t extra_of_end(std::uint32_t id) {
    return static_cast<std::uint16_t>(~extra_of(id));
}
Record whole_of(std::uint32_t id) {
    const WholeCall call = call_of(id);
    return {.kind = Kind::kWholeCall,
            .detail = call.detail(),
            .extra = extra_of_end(id),
            .a = id,
            .b = call.packed()};
}
Record end_of(std::uint32_t id) {
    return {.kind = Kind::kCall,
            .detail = call_detail(CallPart::kReceive, false, true),
            .extra = extra_of_end(id),
            .a = id,
            .b = pair(0, bytes_at(id, 2))};
}

bool same(const Record& one, const Record& other) {
    return one.kind == other.kind && one.detail == other.detail && one.extra == other.extra &&
           one.a == other.a && one.b == other.b;
}

// True if one of the writers has written the record, or the call that a cursor has made it of.
bool is_written(const Record& found) {
    if (found.kind == Kind::kCounter) return same(found, counter_of(found.a));
    if (found.kind != Kind::kCall) return false;
    if (call_ends(found.detail)) return same(found, end_of(found.a));
    if (same(found, begin_of(found.a))) return true;
    Record begin = begin_of(found.a);
    begin.extra = extra_of_end(found.a);
    begin.b = pair(0, bytes_at(found.a, 2));
    return same(found, begin);
}

// What one reading from the beginning to the end has found.
struct Reading {
    std::uint64_t wrong = 0;
    std::uint64_t holes = 0;
    std::map<std::uint32_t, int> times;  // by id
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};

Reading read(std::span<const std::byte> bytes, bool by_number) {
    FoundStreams found;
    find_streams(bytes, "stream", found);
    Reading reading;
    if (found.streams.size() != 1 || !found.streams.front().open) {
        reading.wrong = 1;
        return reading;
    }
    const Stream& stream = found.streams.front();
    reading.first = stream.first;
    reading.end = stream.end;
    Cursor cursor(stream);
    while (const Record* const record = cursor.next()) {
        const bool wrong = !is_written(*record) || (by_number && record->a != cursor.number());
        reading.wrong += wrong ? 1 : 0;
        ++reading.times[record->a];
    }
    reading.holes = cursor.holes() + cursor.implausible();
    return reading;
}

// Reads again and again while `write` runs in threads, and once afterwards.
Reading read_during(std::span<const std::byte> bytes, bool by_number,
                    const std::vector<std::function<void()>>& writers) {
    std::atomic<int> at_work{static_cast<int>(writers.size())};
    std::vector<std::thread> threads;
    for (const auto& write : writers)
        threads.emplace_back([&] {
            write();
            --at_work;
        });
    std::uint64_t wrong = 0;
    while (at_work > 0) wrong += read(bytes, by_number).wrong;
    for (std::thread& thread : threads) thread.join();
    Reading last = read(bytes, by_number);
    last.wrong += wrong;
    return last;
}

// A stream in memory, and a writer that follows the protocol in small steps.
class SteppedStream {
  public:
    SteppedStream(unsigned seed, std::uint64_t capacity, bool wraps)
        : memory_(new (std::align_val_t{64}) std::byte[kHeaderBytes + capacity * sizeof(Record)]()),
          bytes_(kHeaderBytes + capacity * sizeof(Record)),
          random_(seed) {
        auto* const header = new (memory_.get()) StreamHeader;
        header->capacity = capacity;
        header->wraps = wraps ? 1 : 0;
        header->tasks = 1;
        header->task = 0;
    }

    std::span<const std::byte> bytes() const { return {memory_.get(), bytes_}; }

    void put(const Record& record) {
        const std::uint64_t number = header().reserved.fetch_add(1);
        const std::uint64_t lap = number / header().capacity;
        step();
        store(number, record, make_stamp(lap, 10 * number), lap > 0);
    }
    // The last record becomes another one; its time stays.
    void replace(const Record& record) {
        const std::uint64_t number = header().reserved.load() - 1;
        store(number, record, make_stamp(0, 10 * number), true);
    }
    std::mt19937& random() { return random_; }

  private:
    struct Free {
        void operator()(std::byte* memory) const {
            ::operator delete[](memory, std::align_val_t{64});
        }
    };

    StreamHeader& header() { return *reinterpret_cast<StreamHeader*>(memory_.get()); }
    void store(std::uint64_t number, const Record& record, std::uint64_t stamp, bool replaces) {
        std::uint64_t words[3];
        std::memcpy(words, &record, sizeof words);
        auto* const place = reinterpret_cast<std::uint64_t*>(memory_.get() + kHeaderBytes) +
                            3 * (number % header().capacity);
        if (replaces) {
            __atomic_store_n(&place[0], 0, __ATOMIC_RELAXED);
            std::atomic_thread_fence(std::memory_order_release);
            step();
        }
        for (int i = 1; i < 3; ++i) {
            __atomic_store_n(&place[i], words[i], __ATOMIC_RELAXED);
            step();
        }
        __atomic_store_n(&place[0], stamp, __ATOMIC_RELEASE);
    }
    void step() {
        const auto chance = random_() % 16;
        if (chance == 0) std::this_thread::yield();
        for (unsigned i = 0; chance == 1 && i < 200; ++i)
            std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    std::unique_ptr<std::byte[], Free> memory_;
    std::size_t bytes_;
    std::mt19937 random_;
};

std::span<const std::byte> bytes_of(const Recorder& recorder) {
    const StreamHeader& header = recorder.header();
    return {reinterpret_cast<const std::byte*>(&header),
            kHeaderBytes + header.capacity * sizeof(Record)};
}

}  // namespace

TEST_CASE("a stream whose writer stops between any two steps") {
    constexpr std::uint32_t kMany = 300;
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 31)));
    SteppedStream stream(seed, 2 * kMany, false);
    const auto write = [&] {
        for (std::uint32_t id = 0; id < kMany; ++id) {
            if (stream.random()() % 2 == 0) {
                stream.put(counter_of(id));
                continue;
            }
            stream.put(begin_of(id));
            if (stream.random()() % 4 == 0)
                stream.put(end_of(id));
            else
                stream.replace(whole_of(id));
        }
    };
    const Reading last = read_during(stream.bytes(), false, {write});
    CHECK(last.wrong == 0);
    CHECK(last.holes == 0);
    REQUIRE(last.times.size() == kMany);
}

TEST_CASE("a stream that wraps, whose writer stops between any two steps") {
    constexpr std::uint32_t kMany = 500;
    constexpr std::uint64_t kCapacity = 50;
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 16)));
    SteppedStream stream(seed, kCapacity, true);
    const auto write = [&] {
        for (std::uint32_t id = 0; id < kMany; ++id) stream.put(counter_of(id));
    };
    const Reading last = read_during(stream.bytes(), true, {write});
    CHECK(last.wrong == 0);
    CHECK(last.holes == 0);
    CHECK(last.end == kMany);
    REQUIRE(last.times.size() == kCapacity);
}

TEST_CASE("a stream that the recorder writes") {
    constexpr std::uint32_t kMany = 1000;
    const auto seed = static_cast<unsigned>(GENERATE(range(1, 6)));
    const TestDirectory directory;
    const auto recorder = Recorder::open(make_task_stream(directory, 6 * kMany));
    REQUIRE(recorder);
    // The file has memory for all records from the first one on.
    recorder->record(counter_of(2 * kMany));
    const auto writer = [&](std::uint32_t number) {
        return [&, number] {
            std::mt19937 random(seed + 100 * number);
            for (std::uint32_t i = 0; i < kMany; ++i) {
                const std::uint32_t id = number * kMany + i;
                if (random() % 2 == 0) {
                    recorder->record(counter_of(id));
                    continue;
                }
                const Record begin = begin_of(id);
                const auto begun = recorder->record_numbered({&begin, 1});
                if (random() % 8 == 0) std::this_thread::yield();
                Record* const place = begun ? recorder->last(*begun) : nullptr;
                if (place != nullptr)
                    Recorder::replace(*place, whole_of(id));
                else
                    recorder->record(end_of(id));
            }
        };
    };
    const Reading last = read_during(bytes_of(*recorder), false, {writer(0), writer(1)});
    CHECK(last.wrong == 0);
    CHECK(last.holes == 0);
    REQUIRE(last.times.size() == 2 * kMany + 1);
}

TEST_CASE("a stream that wraps and that the recorder writes") {
    constexpr std::uint32_t kMany = 100'000;
    constexpr std::uint64_t kCapacity = 500;
    const TestDirectory directory;
    const auto recorder = Recorder::open(make_task_stream(directory, kCapacity, true));
    REQUIRE(recorder);
    const auto write = [&] {
        for (std::uint32_t id = 0; id < kMany; ++id) recorder->record(counter_of(id));
    };
    const Reading last = read_during(bytes_of(*recorder), true, {write});
    CHECK(last.wrong == 0);
    CHECK(last.holes == 0);
    REQUIRE(last.times.size() == kCapacity);
}
