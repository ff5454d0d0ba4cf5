// ChildDaemon: one daemon that poe or a pmd has started, together with everything below that daemon
// in the launch tree. It owns the channel to the daemon and the process that leads to it (pmd
// itself on this node, a remote shell for other nodes). Separate from child_daemons.hpp, which
// contains the protocol with all daemons; this file contains how a connection begins and ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "partition_manager/channel/channel.hpp"
#include "partition_manager/launch/local_launcher.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks.
class ChildDaemon {
  public:
    struct Handlers {
        std::function<void(NodeIndex, Message)> on_message;
        std::function<void(const Frame&)> on_data;
        // Called once, as the last handler, from the event loop: the channel and the process have
        // both ended. The text says how, and includes what the remote shell printed.
        std::function<void(std::string)> on_end;
    };

    ChildDaemon(asio::io_context& loop, NodeIndex node, LaunchedDaemon daemon, Handlers handlers);
    ~ChildDaemon() { *alive_ = false; }
    ChildDaemon(const ChildDaemon&) = delete;
    ChildDaemon& operator=(const ChildDaemon&) = delete;

    NodeIndex node() const { return node_; }
    pid_t pid() const { return pid_; }  // 0 once the process has ended
    Channel& channel() { return channel_; }
    // Returns the last lines that the remote shell wrote to its standard error.
    std::string said() const;

    // To be called when the process has been reaped, with its status.
    void on_exit(int status);
    // Kills the process. The channel and on_end follow.
    void kill();
    // Closes the channel. The process is expected to end by itself; if it does not, it is killed.
    void let_go();

  private:
    void read_said();
    void on_channel_end(std::string why);
    void hurry();
    void end_if_over();

    asio::io_context& loop_;
    NodeIndex node_;
    pid_t pid_;
    Handlers handlers_;
    Channel channel_;
    asio::posix::stream_descriptor said_pipe_;
    std::string said_;
    // Limits the time between the end of the channel and the end of the process.
    asio::steady_timer timer_;
    bool channel_over_ = false;
    bool ended_ = false;
    std::string why_;
    int status_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace poe::pm
