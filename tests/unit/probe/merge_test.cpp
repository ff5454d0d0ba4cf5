// Merging streams: everything is in the trace, and nothing is lost when a merge does not end.
#include "tracer/read/merge.hpp"

#include "tests/unit/probe/recorded.hpp"
#include "tracer/probe/recorder.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::testing;

namespace {

struct Stream {
    StreamHeader header;
    std::string bytes;
};

// Walks through a trace as FORMAT.md says.
std::vector<std::pair<TaskId, std::string>> task_streams(const std::string& file,
                                                         std::string& job) {
    std::ifstream in(file, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(all.size() % kHeaderBytes == 0);
    std::vector<std::pair<TaskId, std::string>> found;
    for (std::size_t at = 0; at < all.size();) {
        StreamHeader header;
        std::memcpy(static_cast<void*>(&header), all.data() + at, sizeof header);
        REQUIRE(header.magic == kMagic);
        REQUIRE(header.length > 0);
        const std::string bytes = all.substr(at + kHeaderBytes, header.length);
        REQUIRE(bytes.size() == header.length);
        if (header.kind == StreamKind::kJob) job = bytes;
        if (header.kind == StreamKind::kTask) found.emplace_back(header.task, bytes);
        at += kHeaderBytes + (header.length + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
    }
    return found;
}

void make_parts(const TestDirectory& directory, std::initializer_list<TaskId> tasks) {
    for (const TaskId task : tasks) {
        const auto recorder = Recorder::open(make_task_stream(directory, 100'000, false, task));
        for (int i = 0; i < 1000 * task; ++i)
            recorder->record({.kind = Kind::kCounter, .b = static_cast<std::uint64_t>(i)});
    }
    StreamHeader header;
    header.tasks = 4;
    create_job_stream(directory.file("job.stream"), header, R"({"program":"prog"})");
}

}  // namespace

TEST_CASE("streams become one trace, in order", "[merge]") {
    const TestDirectory directory;
    make_parts(directory, {3, 0, 1});
    std::ofstream(directory.file("task-9.stream")) << "not a stream";
    const std::string output = directory.path() + ".trc";
    const auto report = merge_trace(directory.path(), output);
    REQUIRE(report.ok());
    CHECK(report.value().file == output);
    CHECK(report.value().tasks == 3);
    CHECK(report.value().records == 4000);
    CHECK(report.value().absent == std::vector<TaskId>{2});
    CHECK(report.value().damaged == std::vector{directory.file("task-9.stream")});
    CHECK(report.value().bytes == std::filesystem::file_size(output));
    std::string job;
    const auto streams = task_streams(output, job);
    CHECK(job == R"({"program":"prog"})");
    REQUIRE(streams.size() == 3);
    CHECK(streams[0].first == 0);
    CHECK(streams[2].first == 3);
    REQUIRE(streams[2].second.size() == 3000 * sizeof(Record));
    Record last;
    std::memcpy(&last, streams[2].second.data() + 2999 * sizeof last, sizeof last);
    CHECK(last.b == 2999);
    // Only what is in the trace has gone.
    CHECK(std::filesystem::exists(directory.file("task-9.stream")));
    CHECK_FALSE(std::filesystem::exists(directory.file("task-3.stream")));
    std::filesystem::remove(output);
}

TEST_CASE("a merge that is stopped, or cannot write, keeps the streams", "[merge]") {
    const TestDirectory directory;
    make_parts(directory, {0, 1});
    const std::string output = directory.path() + ".trc";
    const auto stopped = merge_trace(directory.path(), output, [] { return true; });
    REQUIRE(stopped.ok());
    CHECK(stopped.value().file.empty());
    CHECK_FALSE(std::filesystem::exists(output));
    CHECK_FALSE(std::filesystem::exists(output + ".unfinished"));
    CHECK_THROWS_WITH(merge_trace(directory.path(), directory.file("no/such/place.trc")),
                      Catch::Contains("cannot make"));
    const auto again = merge_trace(directory.path(), output);
    REQUIRE(again.ok());
    CHECK(again.value().tasks == 2);
    CHECK_FALSE(std::filesystem::exists(directory.path()));
    std::filesystem::remove(output);
}

TEST_CASE("a directory without streams is named", "[merge]") {
    const TestDirectory directory;
    const auto report = merge_trace(directory.path(), directory.file("out.trc"));
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().str().find(directory.path()) == 0);
}

TEST_CASE("traces are called after their parts", "[merge]") {
    CHECK(merged_name("a/heat2d.trc.mf3-2a-0.parts") == "a/heat2d.trc");
    CHECK(merged_name("heat2d.trc.mf3-2a-0.parts/") == "heat2d.trc");
    CHECK(merged_name("/tmp/poe-trace-0-mf3") == "/tmp/poe-trace-0-mf3.trc");
    CHECK(merged_name("x.y/.parts") == "x.y/.trc");
}
