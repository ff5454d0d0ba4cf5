// What a stream's file holds, read in the simplest way: for tests of who writes it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tracer/probe/stream_file.hpp"

namespace poe::trace::testing {

struct Recorded {
    std::uint64_t reserved = 0;
    std::uint64_t lost = 0;
    std::uint64_t capacity = 0;
    std::int64_t process = 0;
    std::uint64_t length = 0;
    std::vector<Record> records;  // whole ones, in order of their numbers
};

inline Recorded read_stream(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(bytes.size() >= kHeaderBytes);
    StreamHeader header;
    std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
    REQUIRE(header.magic == kMagic);
    Recorded found{header.reserved, header.lost,   header.capacity,
                   header.process,  header.length, {}};
    const std::uint64_t held = (bytes.size() - kHeaderBytes) / sizeof(Record);
    const std::uint64_t first = header.wraps != 0 && found.reserved > header.capacity
                                    ? found.reserved - header.capacity
                                    : 0;
    for (std::uint64_t k = first; k < found.reserved; ++k) {
        const std::uint64_t at = header.wraps != 0 ? k % header.capacity : k;
        if (at >= held) break;
        Record record;
        std::memcpy(&record, bytes.data() + kHeaderBytes + at * sizeof record, sizeof record);
        const std::uint64_t lap = header.wraps != 0 ? k / header.capacity : 0;
        if (record.mark() == mark_of(lap)) found.records.push_back(record);
    }
    return found;
}

class TestDirectory {
  public:
    explicit TestDirectory(const std::string& parent = "/dev/shm") {
        std::string name = parent + "/poe-trace-test-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TestDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TestDirectory(const TestDirectory&) = delete;
    TestDirectory& operator=(const TestDirectory&) = delete;
    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

// Makes the stream of task 0.
inline std::string make_task_stream(const TestDirectory& directory, std::uint64_t capacity,
                                    bool wraps = false, TaskId task = 0,
                                    std::uint32_t sharers = 0) {
    StreamHeader header;
    header.kind = StreamKind::kTask;
    header.task = task;
    header.tasks = 4;
    header.level = 9;
    header.capacity = capacity;
    header.sharers = sharers;
    header.wraps = wraps ? 1 : 0;
    header.origin = monotonic_ns();
    header.wall = wall_ns();
    set_text(header.job, "testjob");
    set_text(header.node_name, "here");
    set_text(header.program, "prog");
    const std::string path = directory.file(stream_name(StreamKind::kTask, task));
    create_stream(path, header);
    return path;
}

}  // namespace poe::trace::testing
