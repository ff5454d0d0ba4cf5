// Implementation of watch_screen.hpp.
#include "markerarray/watch_screen.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "markerarray/keys.hpp"
#include "markerarray/render.hpp"
#include "terminal/screen.hpp"
#include "terminal/screen_signals.hpp"

namespace poe::markers {
namespace {

using Clock = JobFollower::Clock;

constexpr std::chrono::milliseconds kFrame{50};
constexpr std::size_t kMarksShown = 200;
// Rows that change places all the time cannot be read, and sorting 100,000 rows costs time.
constexpr std::chrono::milliseconds kReorder{500};

class Watch {
  public:
    Watch(JobFollower& follower, const ArrayOptions& options, const ScreenOptions& screen_options)
        : follower_(follower),
          glyphs_(screen_options.unicode),
          screen_({.colors = screen_options.colors, .mouse = true}) {
        view_.filter = options.filter;
        view_.filter_text = options.filter_text;
        view_.sort = options.sort;
    }

    int run() {
        while (true) {
            const Clock::time_point frame = Clock::now();
            follower_.update(frame);
            notice_new_job();
            draw();
            while (true) {
                const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    frame + kFrame - Clock::now());
                if (left.count() <= 0) break;
                hung_up_ = !signals_.wait(static_cast<int>(left.count()));
                if (const int signal = signals_.take(screen_, redraw_)) return signal;
                bool pressed = false;
                while (const auto key = screen_.key()) {
                    pressed = true;
                    if (!handle(*key)) return 0;
                    refresh_scene(true);
                }
                if (hung_up_) return SIGHUP;
                if (pressed || redraw_) draw();
            }
        }
    }

  private:
    // A past moment is kept, because the model forgets it after a while.
    void refresh_scene(bool reorder) {
        const Model& model = follower_.model();
        if (!view_.standing) {
            stood_.reset();
        } else if (!stood_ || stood_->at != *view_.standing) {
            stood_ = model.at(*view_.standing);
            stood_->at = *view_.standing;
        }
        const Clock::time_point now = Clock::now();
        if (reorder || now - ordered_ >= kReorder) {
            order_ = order_of(picture(), view_);
            ordered_ = now;
        }
        settle(view_, order_, screen_.size(), model.any_progress());
        if (view_.display != Display::kTask) return;
        marks_ = model.marks_of(view_.selected, kMarksShown);
        lines_ = follower_.lines_of(view_.selected, now);
    }

    const Picture& picture() const { return stood_ ? *stood_ : follower_.model().now(); }
    Scene scene() const {
        const Model& model = follower_.model();
        return {
            picture(), order_,  view_, model.lights_used(), model.any_progress(), model.now().at,
            &marks_,   &lines_, &jobs_};
    }

    void draw() {
        if (!screen_.ready()) return;  // slow, or stopped: it misses pictures
        redraw_ = false;
        if (!follower_.has_job()) {
            screen_.show(
                render_waiting(screen_.size(), "waits for a job: start one with poe;  q quit"));
            return;
        }
        refresh_scene(false);
        screen_.show(render(scene(), screen_.size(), glyphs_));
    }

    // Call before handling rows, because the rows known so far are those of the previous job.
    void notice_new_job() {
        if (!follower_.has_job() || follower_.model().now().job.id == job_) return;
        job_ = follower_.model().now().job.id;
        view_.standing.reset();
        view_.pinned.clear();
        view_.top = 0;
        if (view_.display == Display::kTask || view_.display == Display::kJobs)
            view_.display = view_.before;
        refresh_scene(true);
    }

    // Returns false to quit.
    bool handle(const Key& key) {
        switch (press(view_, key, scene(), screen_.size(), follower_.model().earliest())) {
            case Command::kQuit:
                return false;
            case Command::kRepaint:
                screen_.repaint();
                break;
            case Command::kSuspend:
                // Like Ctrl-Z: stops the whole shell job, including this process.
                ::kill(0, SIGTSTP);
                break;
            case Command::kNextJob:
                if (!follower_.next_job(Clock::now())) view_.notice = "there is no other job";
                notice_new_job();
                break;
            case Command::kListJobs:
                list_jobs();
                break;
            case Command::kThisJob:
                show_job(view_.job_at);
                break;
            case Command::kSignal:
                signal_job();
                break;
            case Command::kNone:
                break;
        }
        return true;
    }

    void list_jobs() {
        running_ = follower_.jobs();
        jobs_.clear();
        for (const pm::RunningJob& job : running_) {
            if (job.id == follower_.job().id) view_.job_at = jobs_.size();
            JobLine line{job.id, job.tasks, job.elapsed, "", job.directory};
            for (const std::string& program : job.programs)
                line.program += (line.program.empty() ? "" : ", ") + program;
            jobs_.push_back(std::move(line));
        }
    }

    void show_job(std::size_t at) {
        if (at >= running_.size() || running_[at].id == follower_.job().id) return;
        try {
            follower_.follow(running_[at], Clock::now());
        } catch (const Error&) {
            view_.notice = "job " + running_[at].id + " has ended";
        }
        notice_new_job();
    }

    // Sends the signal to poe, which handles it as described in poe(1). If poe is not on this
    // computer, sends it to the daemon, which ends the job.
    void signal_job() {
        const pm::RunningJob& job = follower_.job();
        const pid_t pid = job.poe > 0 ? job.poe : job.pmd;
        if (follower_.ended() || pid <= 0)
            view_.notice = "the job has ended";
        else if (job.poe <= 0 && view_.signal != SIGTERM)
            view_.notice = "the job's poe is on another computer; only TERM can be sent from here";
        else if (::kill(pid, view_.signal) != 0)
            view_.notice = std::string("the signal cannot be sent: ") + std::strerror(errno);
        else
            view_.notice = "the signal has been sent to job " + job.id;
    }

    JobFollower& follower_;
    ScreenSignals signals_;
    Glyphs glyphs_;
    Screen screen_;
    View view_;
    Order order_;
    Clock::time_point ordered_{};
    std::optional<Picture> stood_;
    std::vector<Model::Mark> marks_;
    std::vector<std::string> lines_;
    std::vector<pm::RunningJob> running_;  // as last listed
    std::vector<JobLine> jobs_;            // the same, for drawing
    std::string job_;
    bool redraw_ = false;
    bool hung_up_ = false;
};

}  // namespace

int watch_on_screen(JobFollower& follower, const ArrayOptions& options,
                    const ScreenOptions& screen_options) {
    return Watch(follower, options, screen_options).run();
}

}  // namespace poe::markers
