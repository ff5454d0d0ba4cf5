// Implementation of panel.hpp.
#include "markerarray/panel.hpp"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "markerarray/render.hpp"
#include "partition_manager/status/job_directory.hpp"
#include "terminal/ansi.hpp"

namespace poe::markers {
namespace {

constexpr std::chrono::milliseconds kPanelFrame{100};
// The array leaves at least this many lines for the output.
constexpr int kFewestOfOutput = 6;
// Title, progress, headings.
constexpr int kAroundRows = 3;
// With fewer lines there is no line for the progress.
constexpr int kFewestOfArray = 6;
// Milliseconds to wait for a terminal that accepts no output, before it is left as it is.
constexpr int kPatience = 1000;

Colors colors_of(const Panel::Settings& settings) {
    return !settings.colors       ? Colors::kNone
           : settings.many_colors ? Colors::kMany
                                  : Colors::kSixteen;
}

}  // namespace

Panel::Panel(Settings settings)
    : settings_(std::move(settings)),
      palette_(colors_of(settings_)),
      follower_(
          std::make_unique<JobFollower>(JobFollower::Settings{.parent = settings_.parent,
                                                              .owner = ::geteuid(),
                                                              .node_name = settings_.node_name,
                                                              .go_on = false,
                                                              .memory = 0},
                                        JobFollower::Clock::now())) {
    draw();
    // Blocks signals in the new thread, because the thread that created the panel handles them.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { work(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Panel::~Panel() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
    draw();
    if (claimed_) write_all(give_back_lines(), false);
}

void Panel::work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        if (!left_) draw();
        changed_.wait_for(lock, kPanelFrame, [this] { return stop_; });
    }
}

void Panel::leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    if (claimed_) write_all(give_back_lines(), false);
    claimed_ = false;
}

void Panel::come_back() {
    const std::lock_guard lock(mutex_);
    left_ = false;
}

bool Panel::try_to_follow() {
    pm::RunningJob job;
    job.id = settings_.job;
    job.owner = ::geteuid();
    job.segment = pm::job_directory_path(settings_.parent, job.owner, job.id) + "/segment";
    if (::access(job.segment.c_str(), F_OK) != 0) return false;
    try {
        follower_->follow(job, JobFollower::Clock::now());
        return true;
    } catch (const Error&) {
        return false;  // incomplete; try again later
    }
}

// Returns true if the terminal may be drawn to: this process is not in the background of a shell,
// and the terminal has a size and enough room. After a change of size the lines must be claimed
// again.
bool Panel::measure() {
    const pid_t before_it = ::tcgetpgrp(settings_.terminal);
    if (before_it > 0 && before_it != ::getpgrp()) return false;
    winsize now{};
    if (::ioctl(settings_.terminal, TIOCGWINSZ, &now) != 0) return false;
    const Size size{now.ws_col, now.ws_row};
    if (size != terminal_size_) {
        terminal_size_ = size;
        claimed_ = false;
        shown_.reset();
    }
    const int own = settings_.place == Place::kAbove ? kFewestOfArray : 1;
    return size.columns > 1 && size.lines >= kFewestOfOutput + own;
}

int Panel::lines() const {
    if (settings_.place == Place::kBelow) return 1;
    const int wanted =
        static_cast<int>(std::min<std::uint32_t>(settings_.tasks, 1000)) + kAroundRows;
    // At most three quarters of the screen.
    const int most = std::min(terminal_size_.lines * 3 / 4, terminal_size_.lines - kFewestOfOutput);
    return std::clamp(wanted, kFewestOfArray, std::max(kFewestOfArray, most));
}

int Panel::first_line() const {
    return settings_.place == Place::kAbove ? 0 : terminal_size_.lines - 1;
}

std::string Panel::claim_lines() const {
    if (settings_.place == Place::kBelow)
        // The newline moves everything up by one if the cursor is in the last line.
        return "\n" + scroll_region(0, terminal_size_.lines - 2) + "\033[A";
    // The contents of the screen scroll up, and remain in the scroll-back buffer.
    const std::string bottom = "\033[" + std::to_string(terminal_size_.lines) + ";1H";
    const std::string feeds(static_cast<std::size_t>(terminal_size_.lines), '\n');
    return bottom + feeds + scroll_region(lines(), terminal_size_.lines - 1) + "\033[" +
           std::to_string(lines() + 1) + ";1H";
}

std::string Panel::give_back_lines() const {
    if (settings_.place == Place::kAbove) return scroll_region(-1, -1);
    return scroll_region(-1, -1) + "\0337\033[" + std::to_string(terminal_size_.lines) +
           ";1H\033[2K\0338";
}

// If `may_skip`, drops a picture that a stopped terminal (Ctrl-S) does not accept.
void Panel::write_all(const std::string& bytes, bool may_skip) {
    pollfd output{settings_.terminal, POLLOUT, 0};
    if (::poll(&output, 1, may_skip ? 0 : kPatience) <= 0) {
        shown_.reset();
        return;
    }
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t count = ::write(settings_.terminal, bytes.data() + at, bytes.size() - at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        at += static_cast<std::size_t>(count);
    }
}

void Panel::draw() {
    if (!measure()) return;
    if (!claimed_) {
        claimed_ = true;
        shown_.reset();
        write_all(claim_lines(), false);
    }
    if (!following_ && !(following_ = try_to_follow())) return;
    follower_->update(JobFollower::Clock::now());
    const Model& model = follower_->model();
    View view;
    view.display = Display::kRows;
    const Order order = order_of(model.now(), view);
    const Scene scene{model.now(),          order,          view,   model.lights_used(),
                      model.any_progress(), model.now().at, nullptr};
    const Size size{terminal_size_.columns - (settings_.place == Place::kBelow ? 1 : 0), lines()};
    const Glyphs glyphs(settings_.unicode);
    Grid grid = settings_.place == Place::kAbove ? render_rows_only(scene, size, glyphs)
                                                 : render_status(scene, size.columns, glyphs);
    const std::string bytes =
        bytes_between(shown_ ? &*shown_ : nullptr, grid, first_line(), palette_);
    shown_ = std::move(grid);
    if (!bytes.empty()) write_all(bytes, !stop_);
}

}  // namespace poe::markers
