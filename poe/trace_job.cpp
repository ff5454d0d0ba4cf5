// See trace_job.hpp.
#include "poe/trace_job.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "tracer/read/merge.hpp"

namespace poe::cli {

namespace {

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string bytes_in_words(Bytes bytes) {
    constexpr std::array kUnits{"bytes", "kB", "MB", "GB", "TB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 1000 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
    return fmt::format("{:.{}f} {}", amount, amount < 10 && unit > 0 ? 1 : 0, kUnits[unit]);
}

// Returns the path relative to the current directory, if the file is in it.
std::string shown(const std::string& path) {
    std::error_code fault;
    const std::filesystem::path here = std::filesystem::current_path(fault);
    const std::filesystem::path file(path);
    return !fault && file.parent_path() == here ? file.filename().string() : path;
}

std::string count_of(std::size_t number, const std::string& what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

volatile std::sig_atomic_t interrupted = 0;

// While this object lives, signals that would end poe only set `interrupted`.
class InterruptWatch {
  public:
    InterruptWatch() {
        interrupted = 0;
        struct sigaction note = {};
        note.sa_handler = [](int) { interrupted = 1; };
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            ::sigaction(kSignals[i], &note, &before_[i]);
    }
    ~InterruptWatch() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

  private:
    static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> before_{};
};

constexpr int kAllLevels = 9;

}  // namespace

std::string trace_path(const Options& options, const std::string& program,
                       const std::string& directory, int step) {
    namespace fs = std::filesystem;
    std::string name = options.trace_file;
    if (name.empty()) {
        name = fs::path(program).filename().string();
        if (step > 0) name += "-" + std::to_string(step);
        name += ".trc";
    }
    const fs::path folder = fs::path(directory) / options.trace_directory;
    return (folder / name).lexically_normal().string();
}

pm::TraceSpec make_trace(const Options& options, const std::string& path, const std::string& job,
                         const std::string& temporary) {
    std::error_code none;
    const auto status = std::filesystem::status(path, none);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw Error("the trace cannot be written to " + path +
                    ": it exists and is no regular file; name another one with -tracefile");
    pm::TraceSpec trace;
    // Stacks belong to the states of the tasks, so their calls are recorded, too.
    const bool only_stacks = options.trace_level == 0 && options.trace_stacks > 0;
    trace.level = only_stacks ? kAllLevels : options.trace_level;
    const std::string parts = path + "." + job + ".parts";
    trace.directory = parts;
    trace.temporary = temporary;
    if (!options.trace_temporary.empty()) {
        const std::filesystem::path place = std::filesystem::absolute(options.trace_temporary);
        trace.directory = (place / std::filesystem::path(parts).filename()).string();
        trace.temporary = place.string();
    }
    trace.wraps = options.trace_wraps;
    trace.buffer = options.trace_buffer;
    trace.most = options.trace_most;
    trace.sample = options.trace_sample;
    trace.stacks = options.trace_stacks;
    return trace;
}

std::string merge_words(const pm::TraceGathering& gathered, const std::string& path,
                        const std::function<bool()>& stop) {
    const std::string& parts = gathered.spec().directory;
    const std::string later = "; they are in " + shown(parts) + ": make the trace of them with " +
                              "vt -merge " + shown(parts);
    if (!gathered.trouble().empty() || !gathered.left().empty()) {
        std::string text = "not all parts of the trace have been gathered";
        if (!gathered.trouble().empty()) text += " (" + gathered.trouble() + ")";
        text += later;
        for (const std::string& left : gathered.left())
            text += "\n     after you have copied there what is in " + left;
        return text;
    }
    try {
        const auto merged = trace::merge_trace(parts, path, stop);
        if (!merged) return "there is no trace: " + merged.error().str();
        const trace::MergeReport& report = merged.value();
        if (report.file.empty()) return "the parts of the trace have not been merged" + later;
        std::string text =
            fmt::format("trace in {} ({}, {} records, {}); look at it with: vt {}", shown(path),
                        count_of(report.tasks, "task"), grouped(report.records),
                        bytes_in_words(report.bytes), shown(path));
        if (report.lost > 0)
            text += fmt::format(
                "\n     {} records are missing: there was no room (-ttempsize, "
                "-tmpdir, or -tbuffwrap yes)",
                grouped(report.lost));
        if (!report.absent.empty())
            text += fmt::format("\n     nothing is there of {}",
                                count_of(report.absent.size(), "task"));
        return text;
    } catch (const Error& error) {
        return "the parts of the trace have not been merged (" + std::string(error.what()) + ")" +
               later;
    }
}

void finish_trace(const pm::TraceGathering& gathered, const std::string& path,
                  const Diagnostics& diagnostics) {
    const InterruptWatch watch;
    std::istringstream text(merge_words(gathered, path, [] { return interrupted != 0; }));
    std::string begin = "poe: ";
    for (std::string line; std::getline(text, line); begin.clear())
        diagnostics.detail(begin + line);
}

}  // namespace poe::cli
