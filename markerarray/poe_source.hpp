// PoeSource: the rows of tasks on other nodes and of tasks that tasks have started, and the last
// lines of any task's output, as reported by poe (partition_manager/status/watch_socket.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "markerarray/model.hpp"
#include "partition_manager/status/watch_socket.hpp"

namespace poe::markers {

// Never blocks. For one thread at a time.
class PoeSource {
  public:
    using Clock = std::chrono::steady_clock;

    // `here`: the node whose tasks below `tasks` another source covers.
    PoeSource(uid_t owner, const std::string& job, NodeIndex here, std::uint32_t tasks);

    // Puts the rows that have changed. If the connection is lost, puts the rows of the other nodes
    // once, with the reason.
    void put_rows(Model& model, Clock::time_point now, Moment moment);
    // True if poe sends nothing more: it has ended, or it is not on this computer.
    bool over() const { return !call_ || call_->over(); }

    // Requests the last lines of a task's output; at most about twice a second, however often
    // called.
    void want_lines(TaskId task, Clock::time_point now);
    // The lines that have arrived, of the task of the last request.
    const std::vector<std::string>& lines() const { return lines_; }

  private:
    // poe does not report a wait that continues; its length is computed here.
    struct Waiting {
        TaskRow row;
        Clock::time_point since;
    };
    bool covers(TaskId task, NodeIndex node) const {
        return node != here_ || static_cast<std::uint32_t>(task) >= tasks_;
    }
    void put_waiting(Model& model, Clock::time_point now, Moment moment);
    void put_lost(Model& model, Moment moment);

    NodeIndex here_;
    std::uint32_t tasks_;
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
