// The connection of pdbx to a running job through its poe (job_socket.hpp): control messages, as on
// the channel, with the node that a message comes from or is for. poe forwards the messages of the
// daemons' gdbs to pdbx, and those of pdbx to the daemons. At most one pdbx debugs a job.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "base/unique_fd.hpp"
#include "partition_manager/channel/channel.hpp"
#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/messages.hpp"
#include "partition_manager/status/job_socket.hpp"

namespace poe::pm {

// poe's side. Call only from the event loop's thread. No call blocks.
class DebugSocket {
  public:
    struct Handlers {
        std::function<void()> on_arrived;
        // Receives the messages for daemons, and TasksHeld.
        std::function<void(NodeIndex, Message)> on_message;
        // pdbx has gone. `detached`: it had asked all daemons to end their gdbs.
        std::function<void(bool detached)> on_left;
    };

    // `first` is the connection of a pdbx that has started this poe; it may be empty. If the socket
    // for others cannot be created, the job runs without it.
    DebugSocket(asio::io_context& loop, uid_t owner, const std::string& job, UniqueFd first,
                Handlers handlers);

    bool connected() const { return channel_ != nullptr && !channel_->closed(); }
    // Sends a message to pdbx, if there is one.
    void send(const Message& message, NodeIndex from = kAllNodes);

  private:
    void begin(UniqueFd caller);

    asio::io_context& loop_;
    Handlers handlers_;
    std::unique_ptr<Channel> channel_;
    bool detached_ = false;
    JobListener listener_;
};

// pdbx's side. Use by one thread at a time. No call blocks.
class DebugCall {
  public:
    // Returns nothing if this computer has no such poe, or if it belongs to another user.
    static std::optional<DebugCall> to(uid_t owner, const std::string& job);
    // Takes the connection to a poe that was started with the other end.
    explicit DebugCall(UniqueFd fd);

    // Returns the messages that have arrived since the last call, with the nodes that sent them.
    std::vector<std::pair<NodeIndex, Message>> take();
    // Queues a message, and writes what can be written.
    void send(const Message& message, NodeIndex to = kAllNodes);
    void flush();
    bool must_write() const { return !queue_.empty(); }
    // -1 once poe has closed the connection.
    int fd() const { return fd_.get(); }
    bool over() const { return !fd_; }

  private:
    UniqueFd fd_;
    FrameReader reader_;
    std::string queue_;
};

}  // namespace poe::pm
