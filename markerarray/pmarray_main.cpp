// pmarray: shows the Program Marker Array of a job. Connects the search for jobs, the display and
// the kind of output.
#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/fold.hpp"
#include "markerarray/job_follower.hpp"
#include "markerarray/pmarray_options.hpp"
#include "markerarray/watch_lines.hpp"
#include "markerarray/watch_screen.hpp"
#include "partition_manager/job/local_names.hpp"
#include "partition_manager/status/home_jobs.hpp"
#include "partition_manager/status/job_choice.hpp"
#include "partition_manager/status/job_directory.hpp"

namespace {

using namespace poe;
using namespace poe::markers;

constexpr int kErrorStatus = 2;
constexpr int kSignalStatus = 128;
constexpr int kPlainColumns = 120;

int fail(const std::string& text) {
    std::cerr << fold("pmarray: " + text, terminal_columns(STDERR_FILENO), 0) << "\n";
    return kErrorStatus;
}

bool has_value(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool is_dumb() {
    const char* kind = std::getenv("TERM");
    return kind == nullptr || *kind == '\0' || std::strcmp(kind, "dumb") == 0;
}

int columns_of_output() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return kPlainColumns;
}

int show(const ArrayOptions& options) {
    const bool unicode = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
    const auto now = JobFollower::Clock::now();
    JobFollower follower({.parent = pm::kJobDirectoryParent,
                          .owner = ::geteuid(),
                          .node_name = pm::local_host_name(),
                          .go_on = options.job.empty()},
                         now);
    if (!options.job.empty()) {
        const auto all = pm::jobs_seen_here(pm::kJobDirectoryParent, ::geteuid()).jobs;
        // A job that tasks have started can be named, too, and is then shown by itself.
        const auto whole = pm::choose_job(pm::whole_jobs(all), options.job);
        const auto job = whole ? whole : pm::choose_job(all, options.job);
        if (!job) return fail(job.error().str());
        follower.follow(job.value(), now);
    }
    const WriteText write = [](const std::string& text) {
        pollfd output{STDOUT_FILENO, 0, 0};
        if (text.empty())
            return ::poll(&output, 1, 0) <= 0 || (output.revents & (POLLERR | POLLHUP)) == 0;
        std::cout << text << std::flush;
        return static_cast<bool>(std::cout);
    };
    if (options.once)
        return show_once(follower, options, columns_of_output(), unicode, write) ? 0 : kErrorStatus;
    const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    if (!terminal || is_dumb() || options.json || options.lines)
        return watch_in_lines(follower, options, write) ? 0 : kErrorStatus;
    const ScreenOptions screen{.colors = !has_value("NO_COLOR"), .unicode = unicode};
    const int signal = watch_on_screen(follower, options, screen);
    return signal == 0 ? 0 : kSignalStatus + signal;
}

}  // namespace

int main(int argc, char** argv) {
    std::setlocale(LC_CTYPE, "");
    ::signal(SIGPIPE, SIG_IGN);
    const Result<ArrayOptions> options =
        read_array_options({argv + std::min(argc, 1), argv + argc});
    if (!options) return fail(options.error().str());
    if (options.value().request == ArrayOptions::Request::kHelp) {
        std::cout << folded_help(array_help_text(), STDOUT_FILENO) << std::flush;
        return std::cout ? 0 : kErrorStatus;
    }
    if (options.value().request == ArrayOptions::Request::kVersion) {
        std::cout << "pmarray " POE_VERSION "\n" << std::flush;
        return std::cout ? 0 : kErrorStatus;
    }
    try {
        return show(options.value());
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
