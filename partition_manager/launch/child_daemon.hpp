// Branch: one daemon that poe, or a pmd, has started, and with it all that is below that daemon in
// the launch tree: the channel to it, and the process that leads to it (pmd itself on this node, a
// remote shell elsewhere). Apart from the set of them (child_daemons.hpp): this is mechanics, how a link
// begins and ends; that one is protocol.
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

// For the thread of the loop; nothing blocks.
class ChildDaemon {
  public:
    struct Handlers {
        std::function<void(NodeIndex, Message)> on_message;
        std::function<void(const Frame&)> on_data;
        // Once, last, from the loop: the channel and the process have come to their end. In words:
        // how, and what the remote shell said.
        std::function<void(std::string)> on_end;
    };

    ChildDaemon(asio::io_context& loop, NodeIndex node, LaunchedDaemon daemon, Handlers handlers);
    ~ChildDaemon() { *alive_ = false; }
    ChildDaemon(const ChildDaemon&) = delete;
    ChildDaemon& operator=(const ChildDaemon&) = delete;

    NodeIndex node() const { return node_; }
    pid_t pid() const { return pid_; }  // 0 once it is gone
    Channel& channel() { return channel_; }
    // The last lines that the remote shell wrote to its standard error.
    std::string said() const;

    // The process has been waited for, with this status.
    void on_exit(int status);
    // Ends the process; the rest follows.
    void kill();
    // Nothing more is wanted of the channel; the process ends by itself, or is made to in the end.
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
    asio::steady_timer timer_;  // after one of both has ended: how long for the other
    bool channel_over_ = false;
    bool ended_ = false;
    std::string why_;
    int status_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace poe::pm
