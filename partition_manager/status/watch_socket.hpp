// The connection of displays to a running job through its poe (job_socket.hpp): frames with control
// messages, as on the channel. poe sends a display the states of all tasks on other nodes that it
// knows, and then the changes. A display that reads slowly receives fewer changes, but never
// outdated ones. A display may request the last lines that a task has written.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/status/job_socket.hpp"

namespace poe::pm {

// poe's side. Call only from the event loop's thread. No call blocks.
class WatchSocket {
  public:
    struct Handlers {
        // Called with true when the first display has connected, with false when the last one has
        // left.
        std::function<void(bool)> on_watched;
        // Returns the last lines of a task's output.
        std::function<std::vector<std::string>(TaskId)> lines_of;
    };

    // If the socket cannot be created, the job runs without it.
    WatchSocket(asio::io_context& loop, uid_t owner, const std::string& job, Handlers handlers);
    ~WatchSocket();

    // Takes the states that the daemons have reported.
    void on_tasks(std::vector<WatchedTask> tasks);

  private:
    struct Viewer;
    void begin(UniqueFd caller);
    void read(const std::shared_ptr<Viewer>& viewer);
    void on_question(Viewer& viewer, const Message& question);
    void write(const std::shared_ptr<Viewer>& viewer);
    void leave(const std::shared_ptr<Viewer>& viewer);

    asio::io_context& loop_;
    Handlers handlers_;
    std::unordered_map<TaskId, WatchedTask> tasks_;  // the latest states, while a display watches
    std::vector<std::shared_ptr<Viewer>> viewers_;
    JobListener listener_;
};

// A display's side. Use by one thread at a time. No call blocks.
class WatchCall {
  public:
    // Returns nothing if this computer has no such poe, or if it belongs to another user.
    static std::optional<WatchCall> to(uid_t owner, const std::string& job);

    // Returns the messages that have arrived since the last call.
    std::vector<Message> take();
    void ask_lines(TaskId task);
    // True if poe has closed the connection, or speaks another version.
    bool over() const { return !fd_; }

  private:
    explicit WatchCall(UniqueFd fd) : fd_(std::move(fd)) {}

    UniqueFd fd_;
    FrameReader reader_;
};

}  // namespace poe::pm
