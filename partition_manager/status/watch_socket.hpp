// How displays watch a running job through its poe (job_socket.hpp): frames of control messages, as
// on the channel. poe tells a display all tasks of other nodes that it has heard of, then what
// changes; a display that reads slowly is told of fewer changes, never of old ones. It may ask for
// the last lines that a task has written.
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

// poe's side. For the thread of the loop; never blocks.
class WatchSocket {
  public:
    struct Handlers {
        // The first display has come, or the last one has gone.
        std::function<void(bool)> on_watched;
        // The last lines of a task's output.
        std::function<std::vector<std::string>(TaskId)> lines_of;
    };

    // A job whose socket cannot be made goes on without.
    WatchSocket(asio::io_context& loop, uid_t owner, const std::string& job, Handlers handlers);
    ~WatchSocket();

    // What the daemons have seen.
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
    std::unordered_map<TaskId, WatchedTask> tasks_;  // the latest, while somebody watches
    std::vector<std::shared_ptr<Viewer>> viewers_;
    JobListener listener_;
};

// A display's side. Never blocks; one thread at a time.
class WatchCall {
  public:
    // Nothing when there is no such poe here, or it is somebody else's.
    static std::optional<WatchCall> to(uid_t owner, const std::string& job);

    // What has come since the last time.
    std::vector<Message> take();
    void ask_lines(TaskId task);
    // poe has gone, or speaks another version.
    bool over() const { return !fd_; }

  private:
    explicit WatchCall(UniqueFd fd) : fd_(std::move(fd)) {}

    UniqueFd fd_;
    FrameReader reader_;
};

}  // namespace poe::pm
