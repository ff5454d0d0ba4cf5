// Panel: lines of a terminal that show a job, while the rest of the terminal scrolls with the
// output and accepts input as usual. Used by poe -pmarray (above the output) and -progress (a line
// below the output).
//
// A thread draws. Each picture is a single write that saves the cursor first and restores it last,
// so it never mixes with the writes of others. If the terminal accepts no output, pictures are
// dropped and nothing is blocked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "markerarray/job_follower.hpp"
#include "terminal/grid.hpp"
#include "terminal/palette.hpp"

namespace poe::markers {

class Panel {
  public:
    enum class Place { kAbove, kBelow };  // kAbove: the array; kBelow: one line of progress

    struct Settings {
        Place place = Place::kAbove;
        int terminal = -1;  // a descriptor; not owned
        std::string job;    // the job's id
        std::uint32_t tasks = 0;
        std::string parent;     // the directory of the jobs' directories
        std::string node_name;  // of this computer
        bool colors = true;
        bool many_colors = false;  // 256 colours
        bool unicode = true;
    };

    // Claims its lines at once, before there is output; the job may start later.
    explicit Panel(Settings settings);
    // Shows the end of the job and releases the lines. The array remains as output; the line of
    // progress is removed. Blocks until the thread has ended.
    ~Panel();
    Panel(const Panel&) = delete;
    Panel& operator=(const Panel&) = delete;

    // For any thread: leave() releases the terminal before this process is stopped, come_back()
    // claims it again.
    void leave();
    void come_back();

  private:
    void work();
    void draw();
    bool measure();
    std::string claim_lines() const;
    std::string give_back_lines() const;
    int lines() const;
    int first_line() const;
    void write_all(const std::string& bytes, bool may_skip);
    bool try_to_follow();

    const Settings settings_;
    const Palette palette_;
    std::unique_ptr<JobFollower> follower_;
    bool following_ = false;
    Size terminal_size_;
    bool claimed_ = false;
    std::optional<Grid> shown_;
    std::mutex mutex_;  // protects everything except the settings
    std::condition_variable changed_;
    bool stop_ = false;
    bool left_ = false;
    std::thread thread_;
};

}  // namespace poe::markers
