// vt, the Visualization Tool: wires together the trace, what is asked of it, and the output.
#include <algorithm>
#include <clocale>
#include <csignal>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>

#include "comm/base/error.hpp"
#include "tracer/summary.hpp"
#include "tracer/vt_options.hpp"

namespace {

using namespace poe;
using namespace poe::trace;

constexpr int kErrorStatus = 2;

int fail(const std::string& text) {
    std::cerr << "vt: " << text << "\n";
    return kErrorStatus;
}

int finish(const std::string& text) {
    std::cout << text << std::flush;
    return std::cout ? 0 : kErrorStatus;
}

// A line on standard error, when that is a terminal, which goes away with the last one.
std::function<void(double)> progress_line(const std::string& what) {
    if (::isatty(STDERR_FILENO) != 1) return [](double) {};
    return [what](double share) {
        std::cerr << fmt::format("\r{} {:3.0f}%\r", what, 100 * share) << std::flush;
    };
}

Summary summary_of(const std::string& path) {
    const TraceSource source = TraceSource::open(path);
    Symbols symbols;
    return summarize(source, symbols, progress_line("vt: reads " + path));
}

int run(const VtOptions& options) {
    if (options.request == VtOptions::Request::kDiff)
        return finish(diff_text(summary_of(options.traces[0]), summary_of(options.traces[1])));
    const Summary summary = summary_of(options.traces[0]);
    return finish(options.json ? summary_json(summary) : summary_text(summary));
}

}  // namespace

int main(int argc, char** argv) {
    std::setlocale(LC_CTYPE, "");
    ::signal(SIGPIPE, SIG_IGN);
    const Result<VtOptions> options = read_vt_options({argv + std::min(argc, 1), argv + argc});
    if (!options) return fail(options.error().str());
    if (options.value().request == VtOptions::Request::kHelp) return finish(vt_help_text());
    if (options.value().request == VtOptions::Request::kShowVersion)
        return finish("vt " POE_VERSION "\n");
    try {
        return run(options.value());
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
