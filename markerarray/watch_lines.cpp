// Implementation of watch_lines.hpp.
#include "markerarray/watch_lines.hpp"

#include <thread>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "markerarray/plain.hpp"
#include "terminal/words.hpp"

namespace poe::markers {
namespace {

using Clock = JobFollower::Clock;

constexpr std::chrono::milliseconds kLinesFrame{50};
// The longest wait for reports of other nodes if the state is printed once.
constexpr std::chrono::seconds kOnceAtMost{3};
constexpr std::chrono::milliseconds kRarelyChanges{1'000};
// Prevents a program that marks a million times a second from filling a disk.
constexpr int kLinesPerSecond = 100;

// True unless only clocks and loads differ, which are not worth a JSON line of their own.
bool differs(const TaskRow& a, const TaskRow& b) {
    return a.activity != b.activity || a.doing != b.doing || a.lights != b.lights ||
           a.text != b.text || a.progress != b.progress || a.pid != b.pid;
}

class Teller {
  public:
    Teller(const ArrayOptions& options, const WriteText& write)
        : options_(options), write_(write) {}

    // Returns false if there is no reader any more.
    bool tell(const Picture& picture, Clock::time_point now) {
        if (picture.job.id != job_) begin(picture, now);
        if (now - second_ >= kRarelyChanges) next_second(now);
        for (std::size_t i = 0; i < picture.rows.size(); ++i) {
            const TaskRow& row = picture.rows[i];
            TaskRow& before = before_[i];
            if (row == before || !options_.filter.passes(row, picture.job)) continue;
            if (options_.json && !differs(before, row)) continue;
            // A row that is not printed now is compared with later rows.
            if (options_.json && told_ >= kLinesPerSecond * 10) continue;
            if (options_.json) {
                text_ += row_json(row, picture.job, picture.elapsed) + "\n";
                ++told_;
            } else {
                for (const std::string& line : change_lines(before, row, picture.elapsed))
                    say(line);
            }
            before = row;
        }
        return flush();
    }
    bool end(const Picture& picture, Clock::time_point now) {
        next_second(now);
        if (options_.json)
            text_ += job_json(picture.job, picture.elapsed, true) + "\n";
        else
            text_ += fmt::format("{:8.3f} s  the job has ended\n",
                                 std::chrono::duration<double>(picture.elapsed).count());
        return flush();
    }

  private:
    void begin(const Picture& picture, Clock::time_point now) {
        job_ = picture.job.id;
        second_ = now;
        before_.assign(picture.rows.size(), TaskRow{});
        for (std::size_t i = 0; i < before_.size(); ++i) before_[i].task = picture.rows[i].task;
        if (options_.json)
            text_ += job_json(picture.job, picture.elapsed, false) + "\n";
        else
            text_ += fmt::format("job {}: {}\n", picture.job.id,
                                 count_words(picture.rows.size(), "task"));
    }
    void say(const std::string& line) {
        if (told_++ < kLinesPerSecond)
            text_ += line + "\n";
        else
            ++left_out_;
    }
    void next_second(Clock::time_point now) {
        if (left_out_ > 0) text_ += fmt::format("... {} more\n", count_words(left_out_, "change"));
        second_ = now;
        told_ = 0;
        left_out_ = 0;
    }
    bool flush() {
        std::string text;
        text.swap(text_);
        return write_(text);
    }

    const ArrayOptions& options_;
    const WriteText& write_;
    std::string job_;
    std::vector<TaskRow> before_;
    std::string text_;
    Clock::time_point second_{};
    int told_ = 0;
    std::size_t left_out_ = 0;
};

}  // namespace

bool watch_in_lines(JobFollower& follower, const ArrayOptions& options, const WriteText& write) {
    Teller teller(options, write);
    while (true) {
        const Clock::time_point now = Clock::now();
        follower.update(now);
        if (!write("")) return false;
        if (follower.has_job()) {
            const Picture& picture = follower.model().now();
            if (!teller.tell(picture, now)) return false;
            if (picture.ended) return teller.end(picture, now);
        }
        std::this_thread::sleep_until(now + kLinesFrame);
    }
}

bool show_once(JobFollower& follower, const ArrayOptions& options, int columns, bool unicode,
               const WriteText& write) {
    const Clock::time_point began = Clock::now();
    follower.update(began);
    // Reports of other nodes take a moment.
    while (!follower.complete() && Clock::now() < began + kOnceAtMost) {
        std::this_thread::sleep_for(kLinesFrame);
        follower.update(Clock::now());
    }
    if (!follower.has_job()) return write(options.json ? "" : "no jobs are running\n");
    const Model& model = follower.model();
    Picture picture = model.now();
    View view;
    view.filter = options.filter;
    view.sort = options.sort;
    const Order order = order_of(picture, view);
    if (options.json) {
        std::string text = job_json(picture.job, picture.elapsed, picture.ended) + "\n";
        for (const std::uint32_t row : order)
            text += row_json(picture.rows[row], picture.job, picture.elapsed) + "\n";
        return write(text);
    }
    return write(
        table_text(picture, order, model.lights_used(), model.any_progress(), columns, unicode));
}

}  // namespace poe::markers
