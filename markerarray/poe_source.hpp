// PoeSource: the rows of tasks on other nodes, and the last lines of any task's output, as poe
// tells them (partition_manager/status/watch_socket.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "markerarray/model.hpp"
#include "partition_manager/status/watch_socket.hpp"

namespace poe::markers {

// Never blocks. One thread at a time.
class PoeSource {
  public:
    using Clock = std::chrono::steady_clock;

    // `here`: the node whose tasks somebody else looks at.
    PoeSource(uid_t owner, const std::string& job, NodeIndex here);

    // Puts the rows that have changed. What is not heard of is put once, with the reason.
    void put_rows(Model& model, Clock::time_point now, Moment moment);
    // poe tells nothing more: it has ended, or it is not on this computer.
    bool over() const { return !call_ || call_->over(); }

    // Asks for the last lines of a task's output, about twice a second, however often it is called.
    void want_lines(TaskId task, Clock::time_point now);
    // As far as they have come: of the task that was asked for last.
    const std::vector<std::string>& lines() const { return lines_; }

  private:
    // A wait that goes on is no news: its length is worked out here.
    struct Waiting {
        TaskRow row;
        Clock::time_point since;
    };
    void put_waiting(Model& model, Clock::time_point now, Moment moment);
    void put_lost(Model& model, Moment moment);

    NodeIndex here_;
    std::optional<pm::WatchCall> call_;
    std::unordered_map<TaskId, Waiting> waiting_;
    Clock::time_point waiting_put_{};
    bool told_over_ = false;
    bool reached_ = false;
    TaskId wanted_ = -1;
    Clock::time_point asked_{};
    std::vector<std::string> lines_;
};

}  // namespace poe::markers
