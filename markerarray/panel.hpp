// Panel: some lines of a terminal that show a job, while the rest of it scrolls with the output and
// takes the input as always. For poe -pmarray (above the output) and -progress (a line below it).
//
// A thread draws. Each picture is one write, with the cursor saved before and restored behind, so
// that it never mixes with what others write; a terminal that takes nothing just now misses
// pictures, and holds up nobody.
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
    enum class Place { kAbove, kBelow };  // the array; one line of progress

    struct Settings {
        Place place = Place::kAbove;
        int terminal = -1;  // a descriptor; not owned
        std::string job;    // id
        std::uint32_t tasks = 0;
        std::string parent;     // the directory of the jobs' directories
        std::string node_name;  // of this computer
        bool colors = true;
        bool many_colors = false;  // 256
        bool unicode = true;
    };

    // Takes its lines at once, before there is output; the job may begin later.
    explicit Panel(Settings settings);
    // Shows the job's end, and gives all lines back: the array stays as output, the line of
    // progress goes.
    ~Panel();
    Panel(const Panel&) = delete;
    Panel& operator=(const Panel&) = delete;

    // Any thread: gives the terminal back before this process is stopped, and takes it again.
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
    std::mutex mutex_;  // guards all but settings
    std::condition_variable changed_;
    bool stop_ = false;
    bool left_ = false;
    std::thread thread_;
};

}  // namespace poe::markers
