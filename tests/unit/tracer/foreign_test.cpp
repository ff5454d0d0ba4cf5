// Archives of OTF2 as other tools write them: metric locations, devices, names, source lines,
// groups with the same number, and events that have no place in our traces.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <otf2/otf2.h>
#include <sstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/folder.hpp"
#include "tests/unit/tracer/played.hpp"
#include "tracer/analysis/summary.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/exchange/import_otf2.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) {
    return 0;
}
constexpr OTF2_FlushCallbacks kFlush{.otf2_pre_flush = flush, .otf2_post_flush = no_time};

// Locations 10 and 20 are the threads of two processes, 11 a stream of a device of the first, 30 a
// metric location. Times are in ns.
//
//   thread 10   MPI_Isend at 100 us to the other; MPI_Wait from 200 us to 610 us, which ends it
//   thread 20   MPI_Recv from 600 us to 610 us
//   device 11   a kernel from 300 us to 500 us
//   metric 30   power of the node, an energy that adds up: 0, 2, 8 J at 0, 100, 200 us
class Archive {
  public:
    explicit Archive(const std::string& folder)
        : archive_(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20,
                                     1 << 22, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
        REQUIRE(archive_ != nullptr);
        OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
        OTF2_Archive_OpenEvtFiles(archive_);
        write_events();
        OTF2_Archive_CloseEvtFiles(archive_);
        OTF2_Archive_OpenDefFiles(archive_);
        for (const OTF2_LocationRef location : {10, 11, 20, 30})
            OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, location));
        OTF2_Archive_CloseDefFiles(archive_);
        out_ = OTF2_Archive_GetGlobalDefWriter(archive_);
        write_definitions();
        OTF2_Archive_CloseGlobalDefWriter(archive_, out_);
        OTF2_Archive_Close(archive_);
    }

  private:
    enum : std::uint32_t { kIsend, kWait, kRecv, kKernel };

    void write_events() {
        OTF2_EvtWriter* first = OTF2_Archive_GetEvtWriter(archive_, 10);
        OTF2_EvtWriter* device = OTF2_Archive_GetEvtWriter(archive_, 11);
        OTF2_EvtWriter* second = OTF2_Archive_GetEvtWriter(archive_, 20);
        OTF2_EvtWriter* power = OTF2_Archive_GetEvtWriter(archive_, 30);
        OTF2_EvtWriter_ThreadFork(first, nullptr, us(50), OTF2_PARADIGM_OPENMP, 2);
        OTF2_EvtWriter_ThreadJoin(first, nullptr, us(60), OTF2_PARADIGM_OPENMP);
        OTF2_EvtWriter_Enter(first, nullptr, us(100), kIsend);
        OTF2_EvtWriter_MpiIsend(first, nullptr, us(100), 1, 0, 7, 4'000'000, 77);
        OTF2_EvtWriter_Leave(first, nullptr, us(101), kIsend);
        OTF2_EvtWriter_Enter(first, nullptr, us(200), kWait);
        OTF2_EvtWriter_MpiIsendComplete(first, nullptr, us(610), 77);
        OTF2_EvtWriter_Leave(first, nullptr, us(610), kWait);
        OTF2_EvtWriter_ThreadFork(first, nullptr, us(1000), OTF2_PARADIGM_OPENMP, 2);
        OTF2_EvtWriter_Enter(device, nullptr, us(300), kKernel);
        OTF2_EvtWriter_Leave(device, nullptr, us(500), kKernel);
        OTF2_EvtWriter_Enter(second, nullptr, us(600), kRecv);
        OTF2_EvtWriter_MpiRecv(second, nullptr, us(610), 0, 0, 7, 4'000'000);
        OTF2_EvtWriter_Leave(second, nullptr, us(611), kRecv);
        const OTF2_Type type = OTF2_TYPE_UINT64;
        OTF2_MetricValue energy;
        std::uint64_t at = 0;
        for (const std::uint64_t joules : {0, 2, 8}) {
            energy.unsigned_int = joules;
            OTF2_EvtWriter_Metric(power, nullptr, at, 5, 1, &type, &energy);
            at += us(100);
        }
        for (OTF2_EvtWriter* writer : {first, device, second, power})
            OTF2_Archive_CloseEvtWriter(archive_, writer);
    }
    std::uint32_t text(const std::string& words) {
        const auto [known, is_new] =
            strings_.try_emplace(words, static_cast<std::uint32_t>(strings_.size()));
        if (is_new) OTF2_GlobalDefWriter_WriteString(out_, known->second, words.c_str());
        return known->second;
    }
    void region(std::uint32_t id, const std::string& name, OTF2_RegionRole role,
                OTF2_Paradigm paradigm, const std::string& file = "", std::uint32_t line = 0) {
        const std::uint32_t words = text(name);
        OTF2_GlobalDefWriter_WriteRegion(out_, id, words, words, text(""), role, paradigm,
                                         OTF2_REGION_FLAG_NONE, text(file), line, line + 10);
    }
    void write_definitions() {
        OTF2_GlobalDefWriter_WriteClockProperties(out_, 1'000'000'000, 0, us(2000),
                                                  OTF2_UNDEFINED_TIMESTAMP);
        OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, 0, text("host7"), text("node"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
        const auto process = [this](std::uint32_t id, const std::string& name,
                                    OTF2_LocationGroupType type, std::uint32_t creator) {
            OTF2_GlobalDefWriter_WriteLocationGroup(out_, id, text(name), type, 0, creator);
        };
        process(0, "rank 0", OTF2_LOCATION_GROUP_TYPE_PROCESS, OTF2_UNDEFINED_LOCATION_GROUP);
        process(1, "rank 1", OTF2_LOCATION_GROUP_TYPE_PROCESS, OTF2_UNDEFINED_LOCATION_GROUP);
        process(2, "gpu", OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0);
        const auto location = [this](std::uint64_t id, const std::string& name,
                                     OTF2_LocationType type, std::uint64_t events,
                                     std::uint32_t group) {
            OTF2_GlobalDefWriter_WriteLocation(out_, id, text(name), type, events, group);
        };
        location(10, "master", OTF2_LOCATION_TYPE_CPU_THREAD, 9, 0);
        location(11, "stream 3", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2, 2);
        location(20, "master", OTF2_LOCATION_TYPE_CPU_THREAD, 3, 1);
        location(30, "sensors", OTF2_LOCATION_TYPE_METRIC, 3, 0);
        region(kIsend, "MPI_Isend", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
        region(kWait, "MPI_Wait", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI, "/src/halo.c",
               42);
        region(kRecv, "MPI_Recv", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
        region(kKernel, "stencil", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA);
        // The locations of all communicators, and the group of one, have the same number.
        const std::uint64_t places[] = {10, 20};
        const std::uint64_t ranks[] = {0, 1};
        OTF2_GlobalDefWriter_WriteGroup(out_, 0, text(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, places);
        OTF2_GlobalDefWriter_WriteGroup(out_, 0, text(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks);
        OTF2_GlobalDefWriter_WriteComm(out_, 0, text("world"), 0, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
        OTF2_GlobalDefWriter_WriteMetricMember(
            out_, 0, text("energy"), text(""), OTF2_METRIC_TYPE_OTHER,
            OTF2_METRIC_ACCUMULATED_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, text("J"));
        const std::uint32_t member = 0;
        OTF2_GlobalDefWriter_WriteMetricClass(out_, 4, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                              OTF2_RECORDER_KIND_UNKNOWN);
        OTF2_GlobalDefWriter_WriteMetricInstance(out_, 5, 4, 30, OTF2_SCOPE_SYSTEM_TREE_NODE, 0);
    }

    OTF2_Archive* archive_;
    OTF2_GlobalDefWriter* out_ = nullptr;
    std::map<std::string, std::uint32_t> strings_;
};

}  // namespace

TEST_CASE("an archive with all that other tools put into one") {
    const Folder folder;
    const std::string place = (folder.path / "theirs").string();
    { const Archive archive(place); }
    const TraceSource source = import_otf2(place + "/traces.otf2");
    Symbols symbols;
    const Summary summary = summarize(source, symbols, [](double) {});

    SECTION("two groups of one number: messages find each other") {
        CHECK(summary.messages == 1);
        CHECK(summary.unmatched == 0);
    }
    SECTION("a non-blocking send waits in MPI_Wait, whose source line is known") {
        REQUIRE(summary.stalls.size() == 1);
        CHECK(summary.stalls[0].why == Wait::Why::kLateReceiver);
        CHECK(summary.stalls[0].to - summary.stalls[0].from == microseconds(400));
        CHECK(summary.stalls[0].call == "MPI_Wait");
        CHECK(summary.stalls[0].line == "halo.c:42");
    }
    SECTION("rows have the names of processes, threads and streams") {
        CHECK(source.facts().names ==
              std::vector<std::string>{"rank 0, master", "gpu, stream 3", "rank 1, master"});
        CHECK(source.facts().nodes == std::vector<std::string>{"host7"});
        CHECK(summary_text(summary).find("  gpu, stream 3\n") != std::string::npos);
        CHECK(summary_json(summary).find("\"name\": \"rank 1, master\"") != std::string::npos);
    }
    SECTION("a stream of a device does not compute") {
        const auto spent = [&](std::size_t task, State state) {
            return summary.tasks[task].spent[static_cast<std::size_t>(state)];
        };
        CHECK(spent(1, State::kComputing) == Time{0});
        CHECK(spent(1, State::kOther) == microseconds(200));
        CHECK(spent(0, State::kComputing) > Time{0});
        CHECK(source.facts().computing_tasks() == 2);
    }
    SECTION("values of a metric location are counters, and those that add up are rates") {
        std::ostringstream csv;
        export_trace(source, {{source.begin(), source.end()}, std::nullopt}, *csv_sink(csv),
                     [](double) {});
        const std::string name = "energy of host7 (J per s)";
        CHECK(csv.str().find("counter,0,,0.000000000,," + name + ",,,20000\n") !=
              std::string::npos);
        CHECK(csv.str().find("counter,0,,0.000100000,," + name + ",,,60000\n") !=
              std::string::npos);
    }
    SECTION("what was not imported is told") {
        REQUIRE(summary.problems.size() == 1);
        CHECK(summary.problems[0] == "3 events not imported: 2 ThreadFork, 1 ThreadJoin");
    }
}

namespace {

// Exports the trace of these streams to that folder. Returns what is imported from there.
TraceSource through_otf2(const std::vector<StreamWriter>& tasks, const std::string& place) {
    const TraceSource before = TraceSource::from_bytes(gathered(tasks), "before");
    export_trace(before, {{before.begin(), before.end()}, std::nullopt}, *otf2_sink(place),
                 [](double) {});
    return import_otf2(place + "/trace.otf2");
}

}  // namespace

TEST_CASE("source lines, barriers and non-blocking calls survive an export to OTF2") {
    const Folder folder;
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 2; ++task) {
        StreamWriter out = task_stream(task, 2);
        out.define(0, Defined::kLine, 2, "/src/solve.c", 120);
        out.define(0, Defined::kRegion, kIbcastCall, "mpc_ibcast", 1);
        out.define(0, Defined::kRegion, kCollwaitCall, "mpc_collwait", 1);
        tasks.push_back(std::move(out));
    }
    for (std::size_t task = 0; task < 2; ++task) {
        StreamWriter& out = tasks[task];
        const std::uint64_t late = task == 0 ? 300 : 0;
        out.enter(us(100 + late), kIbcastCall, kNobody, 0, 2);
        out.collective(us(100 + late), 1, 0, 0, 64, Phase::kStarts);
        out.leave(us(101 + late), kIbcastCall);
        out.enter(us(110 + late), kCollwaitCall, kNobody, 0, 2);
        out.collective(us(110 + late), 1, kNobody, 0, 0, Phase::kEnds);
        out.leave(us(420), kCollwaitCall);
        sync_call(out, 500 + late, 900, 2);
    }
    const std::string place = (folder.path / "out").string();
    const Played after(through_otf2(tasks, place));
    CHECK(after.source.problems().empty());
    // 1 waits for 0 in mpc_collwait from 110 to 400, and in mpc_sync from 500 to 800.
    CHECK(waited(after, Wait::Why::kCollective, 1, 0) == microseconds(290 + 300));
    Symbols symbols;
    REQUIRE(after.notes.waits.size() == 2);
    CHECK(symbols.words_of(after.definitions.site(after.notes.waits[0].site)) == "solve.c:120");
    const std::string text = (folder.path / "defs.txt").string();
    REQUIRE(std::system(("otf2-print -G " + place + "/trace.otf2 >" + text + " 2>&1").c_str()) ==
            0);
    std::ifstream file(text);
    const std::string printed{std::istreambuf_iterator<char>(file), {}};
    CHECK(printed.find("BARRIER") != std::string::npos);
    CHECK(printed.find("ONE2ALL") != std::string::npos);
    CHECK(printed.find("solve.c") != std::string::npos);
}

TEST_CASE("the data flow of persistent operations survives an export to OTF2") {
    constexpr std::uint32_t kStart = 300;
    constexpr std::uint32_t kWait = 301;
    const auto [flow, pattern] =
        GENERATE(table<DataFlow, WaitPattern>({{DataFlow::kOneToAll, WaitPattern::kLateBroadcast},
                                               {DataFlow::kAllToOne, WaitPattern::kLateMember},
                                               {DataFlow::kBarrier, WaitPattern::kBarrier},
                                               {DataFlow::kAllToAll, WaitPattern::kNxN},
                                               {DataFlow::kPrefix, WaitPattern::kEarlyScan}}));
    const Folder folder;
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 2; ++task) {
        StreamWriter out = task_stream(task, 2);
        out.define(0, Defined::kRegion, kStart, "MPI_Start", 0);
        out.define(0, Defined::kRegion, kWait, "MPI_Wait", 0);
        const std::uint64_t late = task == 0 ? 300 : 0;
        const std::uint32_t root =
            flow == DataFlow::kOneToAll || flow == DataFlow::kAllToOne ? 0 : kNobody;
        out.enter(us(100 + late), kStart, kNobody, 0, 1);
        out.collective(us(100 + late), 1, root, 0, 64, Phase::kStarts, flow);
        out.leave(us(101 + late), kStart);
        out.enter(us(110 + late), kWait, kNobody, 0, 1);
        out.collective(us(110 + late), 1, kNobody, 0, 0, Phase::kEnds);
        out.leave(us(420), kWait);
        tasks.push_back(std::move(out));
    }
    const std::string place = (folder.path / "out").string();
    const Played after(through_otf2(tasks, place));
    CHECK(after.source.problems().empty());
    REQUIRE(after.notes.waits.size() == 1);
    CHECK(after.notes.waits[0].task == 1);
    CHECK(after.notes.waits[0].pattern == pattern);
    CHECK(after.notes.waits[0].to - after.notes.waits[0].from == microseconds(290));
}

TEST_CASE("messages within collective calls are told apart from those of the program") {
    std::vector<StreamWriter> tasks;
    for (TaskId task = 0; task < 2; ++task) tasks.push_back(task_stream(task, 2));
    for (std::size_t task = 0; task < 2; ++task) {
        StreamWriter& out = tasks[task];
        out.enter(us(100), kSyncCall, kNobody, 0, 1);
        out.collective(us(100), 1, kNobody, 0, 0);
        const auto peer = static_cast<std::uint32_t>(1 - task);
        const std::uint8_t context = kCollectiveMessages;
        out.put(us(110), {.kind = Kind::kSend, .detail = context, .extra = 1, .a = peer, .b = 64});
        out.put(us(120),
                {.kind = Kind::kReceive, .detail = context, .extra = 1, .a = peer, .b = 64});
        out.leave(us(130), kSyncCall);
    }
    send_call(tasks[0], 200, 210, 1, 5000, 1);
    receive_call(tasks[1], 200, 220, 0, 5000, 1);
    const TraceSource source = TraceSource::from_bytes(gathered(tasks), "inner");
    Symbols symbols;
    const Summary summary = summarize(source, symbols, [](double) {});
    CHECK(summary.messages == 1);
    CHECK(summary.inner_messages == 2);
    CHECK(summary.inner_bytes == 128);
    CHECK(summary.tasks[0].sends == 1);
    CHECK(summary.tasks[0].bytes_sent == 5000);
    REQUIRE(summary.pairs.size() == 1);
    CHECK(summary.pairs[0].bytes == 5000);
    CHECK(summary_text(summary).find("within collective calls 2 messages, 128 bytes") !=
          std::string::npos);
    for (const char* format : {"csv", "chrome"}) {
        std::ostringstream out;
        const auto sink = std::string(format) == "csv" ? csv_sink(out) : chrome_sink(out);
        export_trace(source, {{source.begin(), source.end()}, std::nullopt}, *sink, [](double) {});
        const std::string text = out.str();
        std::size_t count = 0;
        for (std::size_t at = text.find("collective message"); at != std::string::npos;
             at = text.find("collective message", at + 1))
            ++count;
        CHECK(count == (std::string(format) == "csv" ? 2 : 2 * 2 * 2));
    }
}
