// StreamForwarder: forwards one output stream of the daemons below through a pmd to the daemon
// above, in order of arrival, as fast as the window and the queue above allow. The windows that
// this daemon grants to the daemons below bound the buffered data.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "partition_manager/channel/channel.hpp"
#include "partition_manager/channel/stream_window.hpp"

namespace poe::pm {

class StreamForwarder {
  public:
    // Called with the daemon below when `bytes` of its output have been forwarded.
    using Taken = std::function<void(NodeIndex branch, FrameKind kind, std::size_t bytes)>;

    StreamForwarder(Channel& up, StreamWindow& window, Taken taken);

    void on_frame(NodeIndex branch, const Frame& frame);
    // Forwards a message that must not overtake the output of its node (StdoutMark).
    void on_message(NodeIndex branch, NodeIndex from, Message message);
    // To be called when the window has grown or the queue has become shorter.
    void resume();

    bool empty() const { return waiting_.empty(); }

  private:
    struct Item {
        NodeIndex branch = 0;
        FrameKind kind = FrameKind::kControl;
        std::uint8_t flags = 0;
        TaskId task = -1;  // for control: the node
        std::string payload;
    };
    void send(NodeIndex branch, const Frame& frame);
    // A part of the queue, and of the window, is reserved for the node's own tasks.
    bool may_send() const {
        return up_.closed() || (window_.open_for_relay() && !up_.full(Channel::kFullQueue / 4 * 3));
    }

    Channel& up_;
    StreamWindow& window_;
    Taken taken_;
    std::deque<Item> waiting_;
};

}  // namespace poe::pm
