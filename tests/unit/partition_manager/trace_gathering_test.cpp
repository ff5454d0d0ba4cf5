// Streams that daemons send: they come together in one directory, whatever is sent.
#include "partition_manager/home/trace_gathering.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "tracer/probe/format.hpp"

using namespace poe;
using namespace poe::pm;

namespace {

namespace fs = std::filesystem;

constexpr auto kTask = static_cast<std::uint8_t>(trace::StreamKind::kTask);
constexpr auto kNode = static_cast<std::uint8_t>(trace::StreamKind::kNode);

struct Place {
    Place() {
        std::string name = "/tmp/poe-gathering-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Place() { fs::remove_all(path); }
    std::string text(const std::string& name) const {
        std::ifstream in(path + "/parts/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string path;
};

JobSpec two_nodes() {
    JobSpec job;
    job.id = "job-1";
    job.nodes = {"a", "b"};
    job.tasks = {{0, 0}, {1, 0}, {1, 0}};
    job.commands = {{"prog\xff"}};
    return job;
}

TraceSpec spec_in(const Place& place) {
    TraceSpec spec;
    spec.level = 2;
    spec.generation = 4;
    spec.directory = place.path + "/parts";
    return spec;
}

}  // namespace

TEST_CASE("streams come together", "[trace_gathering]") {
    const Place place;
    const JobSpec job = two_nodes();
    TraceGathering gathering(job, spec_in(place));
    gathering.keep();
    CHECK(place.text("job.stream").find("\"job\":\"job-1\"") != std::string::npos);
    gathering.on_frame({FrameKind::kTrace, kTask, 1, "one "});
    gathering.on_frame({FrameKind::kTrace, kTask, 2, "two"});
    gathering.on_frame({FrameKind::kTrace, kTask, 1, "and more"});
    gathering.on_frame({FrameKind::kTrace, kTask, 1, ""});
    gathering.on_frame({FrameKind::kTrace, kNode, 1, "node"});
    CHECK(place.text("task-1.stream") == "one and more");
    CHECK(place.text("task-2.stream") == "two");
    CHECK(place.text("node-1.stream") == "node");
    CHECK_FALSE(gathering.complete());
    CHECK_FALSE(gathering.on_done(0, {4, false, ""}).has_value());
    CHECK_FALSE(gathering.on_done(1, {3, true, ""}).has_value());  // of another trace
    const auto answer = gathering.on_done(1, {4, true, ""});
    REQUIRE(answer.has_value());
    CHECK(answer->all);
    CHECK(gathering.complete());
    CHECK(gathering.left().empty());
    CHECK(gathering.trouble().empty());
}

TEST_CASE("streams that are none of the job's are thrown away", "[trace_gathering]") {
    const Place place;
    const JobSpec job = two_nodes();
    TraceGathering gathering(job, spec_in(place));
    for (const int task : {-1, 3, 1'000'000})
        gathering.on_frame({FrameKind::kTrace, kTask, task, "x"});
    for (const int node : {-1, 2}) gathering.on_frame({FrameKind::kTrace, kNode, node, "x"});
    gathering.on_frame({FrameKind::kTrace, 1, 0, "x"});
    gathering.on_frame({FrameKind::kTrace, 77, 0, "x"});
    CHECK(std::distance(fs::directory_iterator(place.path + "/parts"), {}) == 1);
    CHECK_FALSE(gathering.on_done(-1, {4, true, ""}).has_value());
    CHECK_FALSE(gathering.on_done(2, {4, true, ""}).has_value());
}

TEST_CASE("what poe's disk does not take stays where it is", "[trace_gathering]") {
    const Place place;
    const JobSpec job = two_nodes();
    TraceGathering gathering(job, spec_in(place));
    fs::create_directory(place.path + "/parts/task-1.stream");
    gathering.on_frame({FrameKind::kTrace, kTask, 1, "x"});
    CHECK(gathering.trouble().find("task-1.stream") != std::string::npos);
    const auto answer = gathering.on_done(1, {4, true, ""});
    REQUIRE(answer.has_value());
    CHECK_FALSE(answer->all);
    CHECK_FALSE(gathering.complete());
    CHECK_FALSE(gathering.on_done(1, {4, false, "b:/tmp/x"}).has_value());
    CHECK(gathering.left() == std::vector<std::string>{"b:/tmp/x"});
}

TEST_CASE("a trace of a job that has not begun goes", "[trace_gathering]") {
    const Place place;
    const JobSpec job = two_nodes();
    { const TraceGathering gathering(job, spec_in(place)); }
    CHECK_FALSE(fs::exists(place.path + "/parts"));
    TraceSpec nowhere = spec_in(place);
    nowhere.directory = place.path + "/no/such/place";
    CHECK_THROWS_AS(TraceGathering(job, nowhere), Error);
}
