// The tutorial shows what vt writes: every line of its screens, of a trace like that of its
// program.
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/unit/poe/golden.hpp"
#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/diagnosis/diagnosis.hpp"
#include "tracer/playback/analysis_cache.hpp"
#include "tracer/playback/views.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

namespace {

constexpr std::size_t kTasks = 4;
constexpr std::size_t kSlow = 2;

// A ring: each task computes, sends to the right, receives from the left. One computes three times
// as long as the others.
TraceSource slow_ring() {
    std::vector<StreamWriter> tasks;
    tasks.reserve(kTasks);
    for (TaskId task = 0; task < static_cast<TaskId>(kTasks); ++task)
        tasks.push_back(task_stream(task, kTasks));
    std::vector<std::uint64_t> now(kTasks, 0);
    for (int round = 0; round < 12; ++round) {
        std::vector<std::uint64_t> sent(kTasks);
        for (std::size_t task = 0; task < kTasks; ++task) {
            tasks[task].enter(us(now[task]), kSolve);
            now[task] += task == kSlow ? 3000 : 1000;
            tasks[task].leave(us(now[task]), kSolve);
            sent[task] = now[task];
            send_call(tasks[task], now[task], now[task] + 20,
                      static_cast<TaskId>((task + 1) % kTasks), 65536);
            now[task] += 25;
        }
        for (std::size_t task = 0; task < kTasks; ++task) {
            const std::size_t left = (task + kTasks - 1) % kTasks;
            const std::uint64_t done = std::max(now[task], sent[left]) + 15;
            receive_call(tasks[task], now[task], done, static_cast<TaskId>(left), 65536);
            now[task] = done + 5;
        }
    }
    return TraceSource::from_bytes(gathered(tasks), "ring");
}

// What people see on paper: lines between .nf and .fi, without groff's escapes.
std::vector<std::string> screens_of(const std::string& page) {
    std::vector<std::string> lines;
    std::istringstream in(page);
    bool screen = false;
    for (std::string line; std::getline(in, line);) {
        if (line == ".nf" || line == ".fi") {
            screen = line == ".nf";
            continue;
        }
        if (!screen || line.empty()) continue;
        std::string plain;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line.compare(i, 2, "\\&") == 0 || line.compare(i, 2, "\\-") == 0) {
                if (line[++i] == '-') plain += '-';
                continue;
            }
            plain += line[i];
        }
        lines.push_back(plain);
    }
    return lines;
}

}  // namespace

TEST_CASE("the screens of poe-tutorial(7) are what vt writes") {
    Session session(slow_ring(), {}, [](double) {});
    Symbols symbols;
    const terminal::Glyphs ascii(false);
    AnalysisCache analysis(session, symbols);
    const ViewContext easel{session, symbols, ascii,
                            [](const std::string&) { return std::vector<std::string>(); },
                            [&analysis]() -> const Analysis& { return analysis.get(); }};
    ViewState look = look_at(session);
    look.now = look.window.to;
    std::string written = analysis_text(analyse(session.source(), symbols, [](double) {}));
    constexpr terminal::Size kSize{72, 7};
    written += draw_view(ViewKind::kTimeline, look, kSize, easel).text();
    look.window = {look.window.to * 40 / 100, look.window.to * 60 / 100};
    look.now = look.window.to;
    look.lines = true;
    written += draw_view(ViewKind::kTimeline, look, kSize, easel).text();
    look.window = session.whole();
    written += draw_view(ViewKind::kBalance, look, {60, 6}, easel).text();
    // For whoever writes the page.
    CHECK(written == poe::test::golden_text("trace/tutorial.txt", written));

    std::ifstream file(POE_SOURCE "/man/poe-tutorial.7");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const auto lines = screens_of(page);
    std::size_t shown = 0;
    for (const std::string& line : lines) {
        if (line.starts_with("$ ")) continue;
        INFO(line);
        CHECK(("\n" + written).find("\n" + line + "\n") != std::string::npos);
        ++shown;
    }
    CHECK(shown > 20);
}
