// The node segment: layout, creation, attach, accounting, and attach to damaged files.
#include "base/segment/node_segment.hpp"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"

namespace {

// A directory in /dev/shm that goes with the test.
struct Directory {
    Directory() {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Directory() { std::filesystem::remove_all(path); }
    std::string segment() const { return path + "/segment"; }
    std::string path;
};

poe::NodeSegmentSpec spec_for(const Directory& directory, unsigned tasks) {
    poe::NodeSegmentSpec spec;
    spec.job_id = "unit-1";
    spec.path = directory.segment();
    spec.node_of_task.assign(tasks, 0);
    return spec;
}

void overwrite(const std::string& path, std::size_t offset, const void* bytes, std::size_t size) {
    const poe::UniqueFd file(::open(path.c_str(), O_RDWR));
    REQUIRE(::pwrite(file.get(), bytes, size, static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(size));
}

std::string attach_fault(const std::string& path) {
    try {
        poe::NodeSegment::attach(path);
    } catch (const poe::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a segment can be made and attached to") {
    const Directory directory;
    auto spec = spec_for(directory, 5);
    spec.node_of_task = {0, 1, 0, 1, 0};
    spec.node = 1;
    spec.wait_mode = poe::WaitMode::kYield;
    spec.cpus = 3;
    spec.pmd_pid = 4711;
    spec.buffer_mem = 1000;
    const auto made = poe::NodeSegment::create(spec);
    const auto attached = poe::NodeSegment::attach(directory.segment());
    CHECK(attached.tasks() == 5);
    CHECK(attached.local_tasks() == 2);
    CHECK(attached.local_index(1) == 0u);
    CHECK(attached.local_index(3) == 1u);
    CHECK_FALSE(attached.local_index(0).has_value());
    CHECK_FALSE(attached.local_index(99).has_value());
    CHECK(attached.task_at(1) == 3);
    CHECK(attached.node_of(4) == 0);
    CHECK(attached.facts().wait_mode == static_cast<std::uint32_t>(poe::WaitMode::kYield));
    CHECK(attached.facts().cpus == 3);
    CHECK(attached.facts().pmd_pid == 4711);
    CHECK(attached.facts().buffer_mem == 1000);
    CHECK(std::string(attached.facts().job_id) == "unit-1");
    made.slot(1).attached.store(1);
    CHECK(attached.slot(1).attached.load() == 1);
    CHECK(attached.slot(0).attached.load() == 0);
    made.announce_ending();
    CHECK(attached.header().ending.load() == 1);
    CHECK(attached.slot(0).doorbell.load() == 1);
}

TEST_CASE("a segment without a name is found through its maker") {
    const Directory directory;
    auto spec = spec_for(directory, 3);
    spec.path.clear();
    std::string path;
    {
        const auto made = poe::NodeSegment::create(spec);
        path = made.path();
        CHECK(made.nameless());
        const auto attached = poe::NodeSegment::attach(path);
        CHECK(attached.nameless());
        made.slot(2).attached.store(1);
        CHECK(attached.slot(2).attached.load() == 1);
        made.reserve_pipe(0, 1, 0, made.facts().layout.pipe_bytes());
        const auto pipe = made.map_pipe(0, 1);
        const auto same = attached.map_pipe(0, 1);
        pipe.data()[100] = std::byte{7};
        CHECK(same.data()[100] == std::byte{7});
    }
    CHECK(std::filesystem::is_empty(directory.path));
    CHECK(attach_fault(path).find(path) != std::string::npos);
}

TEST_CASE("creating refuses what it cannot hold") {
    const Directory directory;
    auto spec = spec_for(directory, 2);
    spec.node = 7;
    CHECK_THROWS_AS(poe::NodeSegment::create(spec), poe::Error);
    spec = spec_for(directory, poe::kMaxLocalTasks + 1);
    CHECK_THROWS_AS(poe::NodeSegment::create(spec), poe::Error);
    spec = spec_for(directory, 2);
    const auto first = poe::NodeSegment::create(spec);
    CHECK_THROWS_AS(poe::NodeSegment::create(spec), poe::Error);  // exists
}

TEST_CASE("the layout holds for any number of tasks") {
    for (const std::uint32_t local :
         {1u, 2u, 7u, 8u, 9u, 16u, 63u, 64u, 65u, 128u, 256u, 1000u, 4096u}) {
        const auto layout = poe::SegmentLayout::of(local * 3, local, 3);
        CAPTURE(local);
        CHECK(layout.slots_offset % poe::kLine == 0);
        CHECK(layout.slots_offset >= layout.node_map_offset + 3 * sizeof(poe::NodeIndex) * local);
        CHECK(layout.markers_offset == layout.slots_offset + local * sizeof(poe::TaskSlot));
        CHECK(layout.boards_offset == layout.markers_offset + local * sizeof(poe::MarkerRow));
        CHECK(layout.polled_offset * 8 >= local);
        CHECK(layout.board_stride >= layout.polled_offset + local);
        CHECK(layout.fixed_bytes % poe::kPage == 0);
        CHECK(layout.fixed_bytes >= layout.boards_offset + local * layout.board_stride);
        CHECK(layout.pipe_offset(0, 0, local) == layout.fixed_bytes);
        CHECK(layout.pipe_offset(local - 1, local - 1, local) + layout.pipe_bytes() ==
              layout.group_segments_offset);
        CHECK((layout.ring_bytes & (layout.ring_bytes - 1)) == 0);
        CHECK(layout.ring_bytes >= (32 << 10));
    }
}

TEST_CASE("256 tasks cost memory only for the pipes they use") {
    const Directory directory;
    const auto segment = poe::NodeSegment::create(spec_for(directory, 256));
    const auto before = segment.cost();
    // 512 bytes of these are for the text of the error that ends the job.
    CHECK(before.fixed_per_task < 2560);
    CHECK(before.in_use <= segment.facts().layout.fixed_bytes + poe::kPage);
    CHECK(before.per_used_pipe_min == 4096);
    CHECK(before.per_used_pipe_max == (36 << 10));
    segment.reserve_pipe(3, 200, 0, segment.facts().layout.control_bytes);
    const auto mapping = segment.map_pipe(3, 200);
    mapping.data()[0] = std::byte{1};
    CHECK(segment.cost().in_use == before.in_use + 4096);
}

TEST_CASE("a pipe is the same memory for both of its tasks") {
    const Directory directory;
    const auto segment = poe::NodeSegment::create(spec_for(directory, 3));
    const auto other = poe::NodeSegment::attach(directory.segment());
    segment.reserve_pipe(0, 2, 0, segment.facts().layout.pipe_bytes());
    const auto sender = segment.map_pipe(0, 2);
    const auto receiver = other.map_pipe(0, 2);
    const auto reverse = other.map_pipe(2, 0);
    const auto last = sender.size() - 1;
    sender.data()[last] = std::byte{42};
    CHECK(receiver.data()[last] == std::byte{42});
    CHECK(reverse.data()[0] == std::byte{0});
}

TEST_CASE("attach says what is wrong with a file") {
    const Directory directory;
    CHECK(attach_fault(directory.segment()).find("No such file") != std::string::npos);
    CHECK(attach_fault(directory.path).find("cannot attach") != std::string::npos);
    { const auto made = poe::NodeSegment::create(spec_for(directory, 4)); }
    CHECK(attach_fault(directory.segment()).empty());

    const auto damaged_by = [&](std::size_t offset, const auto& value) {
        std::vector<char> old(sizeof value);
        {
            std::ifstream in(directory.segment(), std::ios::binary);
            in.seekg(static_cast<std::streamoff>(offset));
            in.read(old.data(), static_cast<std::streamsize>(old.size()));
        }
        overwrite(directory.segment(), offset, &value, sizeof value);
        std::string fault = attach_fault(directory.segment());
        overwrite(directory.segment(), offset, old.data(), old.size());
        REQUIRE(attach_fault(directory.segment()).empty());
        return fault;
    };
    using poe::SegmentFacts;
    using std::uint32_t;
    CHECK(damaged_by(offsetof(SegmentFacts, magic), std::uint64_t{7}).find("not a node segment") !=
          std::string::npos);
    CHECK(damaged_by(offsetof(SegmentFacts, version), uint32_t{99}).find("version is 99") !=
          std::string::npos);
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, tasks), uint32_t{0}).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, tasks), uint32_t{5}).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, local_tasks), ~uint32_t{0}).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, node), -1).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, wait_mode), uint32_t{4}).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, owner_uid), uint32_t{123456}).empty());
    CHECK_FALSE(damaged_by(offsetof(SegmentFacts, layout), ~std::uint64_t{0}).empty());
    CHECK_FALSE(damaged_by(poe::kPage + 4, std::int32_t{-5}).empty());  // the node map
    CHECK_FALSE(damaged_by(poe::kPage + 4, std::int32_t{1}).empty());

    std::filesystem::resize_file(directory.segment(), 10);
    CHECK(attach_fault(directory.segment()).find("too short") != std::string::npos);
    std::filesystem::resize_file(directory.segment(), 1 << 20);
    CHECK_FALSE(attach_fault(directory.segment()).empty());
}

TEST_CASE("attach survives any damage to header and node map") {
    const Directory directory;
    { const auto made = poe::NodeSegment::create(spec_for(directory, 6)); }
    std::vector<char> good(poe::kPage + 64);
    std::ifstream(directory.segment(), std::ios::binary)
        .read(good.data(), static_cast<std::streamsize>(good.size()));
    std::mt19937 random(20260101);
    int refused = 0;
    for (int round = 0; round < 4000; ++round) {
        auto bad = good;
        const unsigned changes = 1 + random() % 4;
        for (unsigned i = 0; i < changes; ++i) {
            // Half of the hits in the facts, a quarter in the map.
            const std::size_t at = random() % 4 == 0 ? poe::kPage + random() % 24
                                                     : random() % sizeof(poe::SegmentFacts);
            bad[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
        }
        overwrite(directory.segment(), 0, bad.data(), bad.size());
        try {
            const auto segment = poe::NodeSegment::attach(directory.segment());
            // Accepted: then every access must be safe.
            for (std::uint32_t i = 0; i < segment.local_tasks(); ++i) {
                segment.slot(i).doorbell.fetch_add(1);
                segment.polled(i).back().store(0);
                segment.doorbell_bits(i).back().store(0);
            }
        } catch (const poe::Error&) {
            ++refused;
        }
    }
    CHECK(refused > 1000);
}

TEST_CASE("what a task is doing survives the round through its slot") {
    poe::TaskActivityWords words;
    CHECK(words.read().call == poe::Call::kNone);
    words.set(poe::Call::kBrecv, 123456, -1, 5'000'000'000ull, nullptr);
    words.stamp(77);
    auto doing = words.read();
    CHECK(doing.call == poe::Call::kBrecv);
    CHECK(doing.peer == 123456);
    CHECK(doing.type == -1);
    CHECK(doing.bytes == 0xffffffffull);
    CHECK(doing.since_ms == 77);
    CHECK(doing.context == 0);
    constexpr auto kLastCall = static_cast<poe::Call>(2047);
    words.set(kLastCall, (1 << 20) - 1, 7, 1, &words, 0xfffffff0u, 0x80000001u);
    doing = words.read();
    CHECK(doing == poe::TaskActivity{kLastCall, (1 << 20) - 1, 7, 1, 0, 0xfffffff0u, 0x80000001u,
                                     reinterpret_cast<std::uintptr_t>(&words)});
    words.set(poe::Call::kBsend, poe::TaskActivity::kAnyPeer, 3, 10, nullptr);
    doing = words.read();
    CHECK(doing.context == 0);
    CHECK(doing.request == 0);
    CHECK(doing.peer == poe::TaskActivity::kAnyPeer);
    CHECK(doing.bytes == 10);
    CHECK(doing.since_ms == 0);
    words.clear();
    CHECK(words.read().call == poe::Call::kNone);
    CHECK(std::string(poe::call_name(static_cast<poe::Call>(200))) == "?");
}
