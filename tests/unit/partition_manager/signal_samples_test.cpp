// The slots into which tasks copy their stacks, as pmd-sample reads them.
#include "partition_manager/sampling/signal_samples.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "partition_manager/daemon/sampler_process.hpp"
#include "tracer/probe/stream_file.hpp"

namespace poe::pm {
namespace {

// A file with slots, as pmd makes it, and the memory of a task that has mapped it.
struct SlotFile {
    std::string folder = [] {
        std::string name = std::filesystem::temp_directory_path() / "poe-slots-XXXXXX";
        return std::string(::mkdtemp(name.data()));
    }();
    std::string path = folder + "/slots";
    PoeSampleSlots* slots = nullptr;

    SlotFile() {
        make_sample_slots(path, 100);
        const UniqueFd file(::open(path.c_str(), O_RDWR));
        slots =
            static_cast<PoeSampleSlots*>(::mmap(nullptr, std::filesystem::file_size(path),
                                                PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    }
    ~SlotFile() {
        ::munmap(slots, std::filesystem::file_size(path));
        std::filesystem::remove_all(folder);
    }
    PoeSampleSlot& slot(std::uint64_t number) const { return *poe_sample_slot(slots, number); }
    void fill(std::uint64_t number, std::uint64_t time,
              PoeSampleKind kind = kPoeSampleTaken) const {
        PoeSampleSlot& each = slot(number);
        each.time = time;
        each.kind = kind;
        each.count = 3;
        each.task = 5;
        each.process = 70;
        each.thread = 71;
        each.parent = 69;
        each.registers[kStackPointer] = 0x1000;
        each.registers[kReturnAddress] = 0x4711;
        each.stack_bytes = 16;
        each.stack[15] = 42;
        each.state = std::uint64_t{71} << 2 | kPoeSampleFilled;
    }
};

}  // namespace

TEST_CASE("filled slots become events in order of time, and are free again") {
    const SlotFile file;
    CHECK(file.slots->period == 10'000'000);
    SignalSamples samples(file.path);
    file.fill(0, 200);
    file.fill(7, 100, kPoeSampleForked);
    std::vector<PerfEvent> events;
    samples.read(events);
    REQUIRE(events.size() == 2);
    CHECK(events[0].kind == PerfEvent::Kind::kForked);
    CHECK(events[0].process == 70);
    CHECK(events[0].parent == 69);
    CHECK(events[1].kind == PerfEvent::Kind::kSample);
    CHECK(events[1].time == 200);
    CHECK(events[1].count == 3);
    CHECK(events[1].thread == 71);
    CHECK(samples.task_of(events[1].event) == 5);
    CHECK(events[1].registers[kReturnAddress] == 0x4711);
    CHECK(events[1].stack_at == 0x1000);
    REQUIRE(events[1].stack.size() == 16);
    CHECK(events[1].stack[15] == std::byte{42});
    CHECK(file.slot(0).state == 0);
    events.clear();
    samples.read(events);
    CHECK(events.empty());
}

TEST_CASE("a sample that was copied slowly does not precede those that were read before") {
    const SlotFile file;
    SignalSamples samples(file.path);
    std::vector<PerfEvent> events;
    const std::uint64_t before = trace::monotonic_ns();
    samples.read(events);
    file.fill(0, 1);
    samples.read(events);
    REQUIRE(events.size() == 1);
    CHECK(events[0].time >= before);
}

TEST_CASE("samples without a free slot are counted once") {
    const SlotFile file;
    SignalSamples samples(file.path);
    file.slots->lost = 4;
    std::vector<PerfEvent> events;
    samples.read(events);
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == PerfEvent::Kind::kLost);
    CHECK(events[0].lost == 4);
    events.clear();
    samples.read(events);
    CHECK(events.empty());
}

TEST_CASE("the slot of a thread that died while it copied its stack is free again") {
    const SlotFile file;
    SignalSamples samples(file.path);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    file.slot(3).state = static_cast<std::uint64_t>(child) << 2 | kPoeSampleFilling;
    file.slot(4).state = static_cast<std::uint64_t>(::getpid()) << 2 | kPoeSampleFilling;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::vector<PerfEvent> events;
    while (file.slot(3).state != 0 && std::chrono::steady_clock::now() < deadline) {
        samples.read(events);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    CHECK(file.slot(3).state == 0);
    CHECK(file.slot(4).state != 0);
    CHECK(events.empty());
}

TEST_CASE("a file without slots is refused") {
    const SlotFile file;
    std::filesystem::resize_file(file.path, sizeof(PoeSampleSlots) - 1);
    CHECK_THROWS_AS(SignalSamples(file.path), Error);
}

}  // namespace poe::pm
