// vt, the Visualization Tool: connects the trace, the options and the output.
#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <langinfo.h>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fold.hpp"
#include "base/segment/tuning_path.hpp"
#include "base/segment/tuning_text.hpp"
#include "base/suggest.hpp"
#include "collectives/selection/tuning.hpp"
#include "tracer/analysis/trace_words.hpp"
#include "tracer/diagnosis/diagnosis.hpp"
#include "tracer/exchange/import_otf2.hpp"
#include "tracer/plan/pattern_finder.hpp"
#include "tracer/playback/analysis_cache.hpp"
#include "tracer/playback/draw_figure.hpp"
#include "tracer/playback/figure.hpp"
#include "tracer/playback/flame_layout.hpp"
#include "tracer/playback/paper.hpp"
#include "tracer/playback/views.hpp"
#include "tracer/playback/vt_options.hpp"
#include "tracer/playback/watch.hpp"
#include "tracer/read/merge.hpp"
#include "tracer/read/repair.hpp"

namespace {

using namespace poe;
using namespace poe::trace;

constexpr int kErrorStatus = 2;
constexpr int kSignalStatus = 128;

// Prints a message to the user, on standard error.
void say(const std::string& text) {
    std::cerr << fold("vt: " + text, terminal_columns(STDERR_FILENO), 4) << "\n";
}

int fail(const std::string& text) {
    say(text);
    return kErrorStatus;
}

// Checks whether standard output was written. If its reader has gone, the failure is not reported.
int end_output() {
    std::cout << std::flush;
    if (std::cout) return 0;
    pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    const bool left = ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
    return left ? kErrorStatus : fail("cannot write all of it; is the disk full?");
}

int finish(const std::string& text) {
    std::cout << text;
    return end_output();
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

// A temporary line on standard error, if that is a terminal.
class ProgressLine {
  public:
    explicit ProgressLine(std::string what) : what_(std::move(what)) {}
    ~ProgressLine() {
        if (shown_) std::cerr << "\r\033[K" << std::flush;
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    std::function<void(double)> tell() {
        return [this](double share) {
            if (::isatty(STDERR_FILENO) != 1) return;
            shown_ = true;
            std::cerr << fmt::format("\r{} {:3.0f}%", what_, 100 * share) << std::flush;
        };
    }

  private:
    std::string what_;
    bool shown_ = false;
};

std::string cache_folder() {
    std::string given = variable("XDG_CACHE_HOME");
    if (!given.empty()) return given;
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.cache";
}

// Returns the folders with the parts of jobs whose trace will have this name.
std::vector<std::string> folders_of_parts(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path whole(path);
    const std::string name = whole.filename().string() + ".";
    const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    std::vector<std::string> parts;
    for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
        const std::string found = it->path().filename().string();
        if (found.starts_with(name) && found.ends_with(kPartsSuffix))
            parts.push_back((whole.parent_path() / found).string());
    }
    std::sort(parts.begin(), parts.end());
    return parts;
}

// Returns the trace of this name, or the folder of its parts if its job still runs or if the trace
// was never gathered.
std::string trace_of(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
    const std::vector<std::string> parts = folders_of_parts(path);
    if (parts.size() > 1)
        throw Error(
            fmt::format("there is no {} as yet, but the parts of {} jobs; choose one, as "
                        "in `vt {}`",
                        path, parts.size(), parts.front()));
    return parts.empty() ? path : parts.front();
}

// Returns a message if the job of this trace runs again; empty otherwise.
std::string newer_than(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return "";
    const auto written = std::filesystem::last_write_time(path, error);
    for (const std::string& parts : folders_of_parts(path)) {
        if (std::filesystem::last_write_time(parts, error) < written || error) continue;
        return fmt::format(
            "an earlier run is shown; a later one goes on, or was cut off, see vt {}", parts);
    }
    return "";
}

void tell_repair(const Repaired& repaired) {
    if (repaired.messages > 0)
        std::cerr << fmt::format(
            "vt: {} arrived before the time of sending; clocks are repaired, tasks moved by up to "
            "{}{}\n",
            count_words(repaired.messages, "message"), span_words(repaired.farthest),
            repaired.all ? "" : "; some are left");
}

void repair(TraceSource& source) {
    tell_repair(repair_clocks(source));
}

TraceSource open_trace(const std::string& path,
                       TraceSource::Checks checks = TraceSource::Checks::kNow) {
    return path.ends_with(".otf2") ? import_otf2(path) : TraceSource::open(path, nullptr, checks);
}

// With a single clock, a repair is needed only if a replay has found messages that arrive before
// they are sent. The clocks of a running job are not known well enough yet.
bool has_several_clocks(const TraceSource& source) {
    return !source.open_ended() && !source.clock_doubts().empty();
}

// Uses the findings of a stored index of the trace instead of computing them again.
bool take_kept(TraceSource& source, const Index::Places& places, bool repaired) {
    const auto kept = Index::kept_findings(source, places, repaired);
    if (!kept || !source.take(*kept)) return false;
    if (kept->repaired) tell_repair(*kept->repaired);
    return true;
}

std::unique_ptr<Session> open_session(const std::string& path, bool may_repair) {
    TraceSource source = open_trace(path, TraceSource::Checks::kLater);
    const bool several = has_several_clocks(source);
    // A trace that may still grow needs another index soon, so its index is kept in memory.
    Index::Places places;
    if (!source.open_ended()) places = index_places(path, cache_folder(), source.identity());
    const auto session_of = [&](TraceSource whole) {
        ProgressLine line("vt: makes an index of " + path);
        return std::make_unique<Session>(std::move(whole), places, line.tell());
    };
    if (may_repair && take_kept(source, places, true)) return session_of(std::move(source));
    if ((may_repair && several) || !take_kept(source, places, false)) {
        source.check();
        if (may_repair && several) repair(source);
    }
    auto session = session_of(std::move(source));
    if (several || !may_repair || session->source().open_ended() ||
        session->at(session->whole().to).backwards == 0)
        return session;
    TraceSource again = open_trace(path);
    repair(again);
    return session_of(std::move(again));
}

void tell_newer(const std::string& path) {
    if (const std::string news = newer_than(path); !news.empty()) say(news);
}

const Summary& summary_in(const Summary& summary) {
    return summary;
}
const Summary& summary_in(const Analysis& analysis) {
    return analysis.summary;
}

// Opens a trace and analyses it; a second time with repaired clocks if messages show that this is
// necessary. `analyse_source(source, symbols, progress)` returns what summary_in() finds a Summary
// in.
template <typename Analyse>
auto analysis_of(const std::string& named, bool may_repair, Analyse analyse_source) {
    const std::string path = trace_of(named);
    tell_newer(path);
    TraceSource source = open_trace(path);
    const bool repaired = may_repair && has_several_clocks(source);
    if (repaired) repair(source);
    Symbols symbols;
    ProgressLine line("vt: reads " + path);
    auto found = analyse_source(source, symbols, line.tell());
    if (repaired || !may_repair || source.open_ended() || summary_in(found).backwards == 0)
        return found;
    repair(source);
    return analyse_source(source, symbols, line.tell());
}

Summary summary_of(const std::string& named, bool may_repair) {
    return analysis_of(named, may_repair, summarize);
}

std::string summary_words(const VtOptions& options) {
    const auto all = [](const TraceSource& source, Symbols& symbols, const auto& progress) {
        return analyse(source, symbols, progress);
    };
    const Analysis found = analysis_of(options.traces[0], options.repair, all);
    return options.json ? analysis_json(found) : analysis_text(found);
}

// Returns the range that -from and -to specify.
Result<Stretch> stretch_of(const VtOptions& options, Stretch whole) {
    Stretch stretch = whole;
    for (const bool first : {true, false}) {
        const std::string& word = first ? options.from : options.to;
        if (word.empty()) continue;
        const auto time = read_time(word, whole.from, whole.to);
        if (!time)
            return UserError{
                "", 0, 0, fmt::format("\"{}\" is no time", word), "as in 1.2s, 300ms, 2:05 or 40%",
                0};
        (first ? stretch.from : stretch.to) = std::clamp(*time, whole.from, whole.to);
    }
    if (stretch.from >= stretch.to)
        return UserError{
            "",
            0,
            0,
            "there is nothing between -from and -to",
            fmt::format("the trace has {} to {} s", seconds_of(whole.from), seconds_of(whole.to)),
            0};
    return stretch;
}

std::vector<std::string> source_lines(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

int write_to(const std::string& path, const std::function<void(std::ostream&)>& write) {
    if (path.empty()) {
        write(std::cout);
        return end_output();
    }
    std::ofstream file(path, std::ios::binary);
    if (!file) throw_errno("cannot write " + path);
    write(file);
    file.close();
    if (!file) throw_errno("cannot write " + path);
    return 0;
}

// The size of that many characters on paper.
FigureSize figure_size(const VtOptions& options) {
    constexpr double kWide = 7.2;
    constexpr double kHigh = 14;
    FigureSize size;
    if (options.size) size = {options.size->columns * kWide, options.size->lines * kHigh};
    return size;
}

int show_view(const VtOptions& options, bool unicode) {
    const std::string path = trace_of(options.traces[0]);
    tell_newer(path);
    const auto session = open_session(path, options.repair);
    const auto stretch = stretch_of(options, session->whole());
    if (!stretch) return fail(stretch.error().str());
    ViewState look = look_at(*session);
    look.window = stretch.value();
    look.lines = options.lines;
    look.now = look.window.to;
    if (!options.at.empty()) {
        const auto at = read_time(options.at, session->whole().from, session->whole().to);
        if (!at) return fail("\"" + options.at + "\" is no time; as in 1.2s, 300ms, 2:05 or 40%");
        look.now = std::clamp(*at, look.window.from, look.window.to);
    }
    const TaskId last = std::max(session->source().facts().tasks - 1, 0);
    if (options.tasks) look.top = look.selected = std::min(*options.tasks->begin(), last);
    if (options.tasks) look.flame_tasks = *options.tasks;
    look.flame_state = options.state;
    look.flame_phase = options.phase;
    look.flame_waiting = options.asleep;
    if (options.view == ViewKind::kFlame) look.sums = ViewState::Sums::kWindow;
    const auto paper = paper_named(options.output);
    const terminal::Glyphs glyphs(unicode || paper);
    Symbols symbols;
    AnalysisCache analysis(*session, symbols);
    const ViewContext easel{*session, symbols, glyphs, source_lines,
                            [&analysis]() -> const Analysis& { return analysis.get(); }};
    std::string text;
    if (options.view == ViewKind::kFlame && options.output.ends_with(kFoldedSuffix)) {
        text = folded_stacks(
            make_flame(easel.analysis().profile, flame_filter(look, *session), symbols));
    } else if (paper) {
        text = file_of(draw_figure(options.view, look, figure_size(options), easel), *paper);
    } else {
        terminal::Size usual{100, 30};
        // A line that is wider than the terminal would be broken.
        if (const auto columns = static_cast<int>(terminal_columns(STDOUT_FILENO));
            options.output.empty() && columns > 0)
            usual.columns = std::min(usual.columns, columns);
        text = draw_view(options.view, look, options.size.value_or(usual), easel).text();
        text.erase(text.find_last_not_of('\n') + 1).append("\n");
    }
    return write_to(options.output, [&](std::ostream& out) { out << text; });
}

int export_to(const VtOptions& options) {
    const std::string path = trace_of(options.traces[0]);
    tell_newer(path);
    TraceSource source = open_trace(path);
    if (options.repair && !source.open_ended()) repair(source);
    const auto stretch =
        stretch_of(options, {source.begin(), std::max(source.end(), source.begin() + Time{1})});
    if (!stretch) return fail(stretch.error().str());
    const ExportRange range{stretch.value(), options.tasks};
    ProgressLine line("vt: exports");
    if (options.format == ExportFormat::kOtf2) {
        export_trace(source, range, *otf2_sink(options.output), line.tell());
        return 0;
    }
    return write_to(options.output, [&](std::ostream& out) {
        const auto sink = options.format == ExportFormat::kCsv      ? csv_sink(out)
                          : options.format == ExportFormat::kChrome ? chrome_sink(out)
                                                                    : perfetto_sink(out);
        const auto tell = line.tell();
        export_trace(source, range, *sink, [&](double share) {
            tell(share);
            // The reader has gone, or the disk is full, so the rest is not written.
            if (!out)
                throw Error("cannot write " +
                            (options.output.empty() ? "any more" : options.output));
        });
    });
}

// Returns the trace if it has grown; empty if it has not, or if parts of it are missing.
std::optional<TraceSource> opened_again(const std::string& path, const TraceSource& before) {
    try {
        TraceSource source = TraceSource::open(path, &before);
        const bool same = source.facts().job == before.facts().job &&
                          source.streams().size() >= before.streams().size();
        if (same && source.identity() != before.identity()) return source;
    } catch (const Error&) {  // it has gone: what was read stays
    }
    return std::nullopt;
}

// Returns a function that reports news about the trace that is shown: its job runs again, or
// another trace has the same name now.
std::function<std::string()> news_of(const std::string& path) {
    struct stat shown {};
    if (::stat(path.c_str(), &shown) != 0 || !S_ISREG(shown.st_mode)) return {};
    return [path, shown] {
        struct stat now {};
        if (::stat(path.c_str(), &now) == 0 && now.st_ino != shown.st_ino)
            return fmt::format("{} is another trace by now: start vt again to see it", path);
        return newer_than(path);
    };
}

int play_it(const VtOptions& options, bool unicode) {
    const std::string kind = variable("TERM");
    const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    const std::string path = trace_of(options.traces[0]);
    if (!terminal || kind.empty() || kind == "dumb") return finish(summary_words(options));
    auto session = open_session(path, options.repair);
    ViewState look = look_at(*session);
    WatchOptions how{.colors = variable("NO_COLOR").empty(),
                     .unicode = unicode,
                     .follow = {},
                     .news = news_of(path)};
    // A trace that grows is opened again. Its clocks are not repaired, because times must not
    // change while the user looks at them.
    if (session->source().open_ended())
        how.follow = [path](Session& shown) {
            std::optional<TraceSource> source = opened_again(path, shown.source());
            // At the end of the job its parts are merged into one trace.
            if (!source && !std::filesystem::exists(path))
                source = opened_again(merged_name(path), shown.source());
            if (!source) return false;
            shown.grow(std::move(*source));
            return true;
        };
    const int signal = watch(std::move(session), std::move(look), how);
    return signal == 0 ? 0 : kSignalStatus + signal;
}

// The costs of messages that a job which is started here has, and where they come from.
std::pair<collectives::Tuning, std::string> tuning_here() {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::string path = tuning_path(::getenv, host.data());
    const TuningText read = path.empty() ? TuningText{} : read_tuning_text(path);
    const bool named = std::getenv(kTuningFileVariable) != nullptr;
    if (path.empty() || (read.missing && !named))
        return {collectives::built_in_tuning(cores), "built-in costs of messages"};
    if (!read.failure.empty())
        throw Error("cannot read the tuning file " + path + ": " + read.failure);
    const auto tuning = collectives::read_tuning(read.text, path, cores);
    if (!tuning) throw Error(tuning.error().str());
    return {tuning.value(), "the costs of messages of " + path};
}

int write_plan(const VtOptions& options) {
    const std::string path = trace_of(options.traces[0]);
    const auto [tuning, costs] = tuning_here();
    tell_newer(path);
    TraceSource source = open_trace(path);
    if (options.repair && has_several_clocks(source)) repair(source);
    Symbols symbols;
    FoundPlan plan;
    {
        ProgressLine line("vt: reads " + path);
        plan = find_plan(source, symbols, tuning, line.tell());
    }
    const std::string text = plan_text(plan, path, costs);
    return write_to(options.output, [&](std::ostream& out) { out << text; });
}

volatile std::sig_atomic_t interrupted = 0;

// Ctrl-C stops the merge between two chunks; the parts stay.
int merge(const VtOptions& options) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, [](int signal) { interrupted = signal; });
    const std::string& folder = options.traces[0];
    const std::string output = options.output.empty() ? merged_name(folder) : options.output;
    const auto merged = merge_trace(folder, output, [] { return interrupted != 0; });
    if (!merged) return fail(merged.error().str());
    const MergeReport& report = merged.value();
    if (report.file.empty()) {
        std::cerr << "vt: stopped; the parts are still in " << folder << "\n";
        return kSignalStatus + interrupted;
    }
    for (const std::string& name : report.damaged)
        std::cerr << "vt: " << name << " is no part of a trace, and stays\n";
    if (!report.absent.empty())
        std::cerr << fmt::format("vt: {} left no records, the first is task {}\n",
                                 count_words(report.absent.size(), "task"), report.absent.front());
    return finish(fmt::format("{}: {}, {}\n", report.file,
                              count_words(static_cast<std::size_t>(report.tasks), "task"),
                              count_words(report.records, "record")));
}

int run(const VtOptions& options, bool unicode) {
    switch (options.request) {
        case VtOptions::Request::kHelp:
            return finish(folded_help(vt_help_text(), STDOUT_FILENO));
        case VtOptions::Request::kShowVersion:
            return finish("vt " POE_VERSION "\n");
        case VtOptions::Request::kDiff:
            return finish(diff_text(summary_of(options.traces[0], options.repair),
                                    summary_of(options.traces[1], options.repair)));
        case VtOptions::Request::kSummary:
            return finish(summary_words(options));
        case VtOptions::Request::kPlan:
            return write_plan(options);
        case VtOptions::Request::kMerge:
            return merge(options);
        case VtOptions::Request::kView:
            return show_view(options, unicode);
        case VtOptions::Request::kExport:
            return export_to(options);
        case VtOptions::Request::kPlay:
            break;
    }
    return play_it(options, unicode);
}

}  // namespace

int main(int argc, char** argv) {
    std::setlocale(LC_CTYPE, "");
    ::signal(SIGPIPE, SIG_IGN);
    const Result<VtOptions> options = read_vt_options({argv + std::min(argc, 1), argv + argc});
    if (!options) return fail(options.error().str());
    try {
        return run(options.value(), std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
