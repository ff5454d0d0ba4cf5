// What looking at a large trace costs in memory. Apart, since it needs a file and looks at the
// process.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/analysis/session.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

long resident_kb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    long value = 0;
    while (status >> word)
        if (word == "VmRSS:" && status >> value) return value;
    return 0;
}

}  // namespace

TEST_CASE("looking at a trace of many streams takes little memory") {
    constexpr TaskId kTasks = 300;
    constexpr std::uint64_t kRounds = 600;
    constexpr long kMostGrowth = 24 << 10;  // the file has 40 MB
    const std::string path =
        std::filesystem::temp_directory_path() / ("vt_many_" + std::to_string(::getpid()));
    {
        std::ofstream out(path, std::ios::binary);
        out << job_bytes(kTasks);
        for (TaskId task = 0; task < kTasks; ++task) {
            StreamWriter stream = task_stream(task, kTasks);
            for (std::uint64_t i = 0; i < kRounds; ++i) {
                send_call(stream, 10 + 100 * i, 20 + 100 * i, (task + 1) % kTasks, 8000);
                receive_call(stream, 30 + 100 * i, 90 + 100 * i, (task + kTasks - 1) % kTasks,
                             8000);
            }
            out << stream.bytes();
        }
    }
    Session session(TraceSource::open(path), {}, [](double) {});
    std::filesystem::remove(path);
    const long before = resident_kb();
    long most = 0;
    for (int part = 9; part >= 1; --part) {
        const Time moment = session.whole().to * part / 10;
        const JobState& state = session.at(moment);
        CHECK(state.messages > 0);
        session.spent({moment - Time(50'000), moment});
        most = std::max(most, resident_kb());
    }
    CHECK(most - before < kMostGrowth);
}
