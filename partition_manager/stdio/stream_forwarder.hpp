// StreamForwarder: one output stream of the daemons below, on its way up through a pmd: first come,
// first served, as the window and the queue above allow. What waits here is bounded by the windows
// that this daemon gives to those below.
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
    // Called with the node at the top of a branch when `bytes` of it have gone up.
    using Taken = std::function<void(NodeIndex branch, FrameKind kind, std::size_t bytes)>;

    StreamForwarder(Channel& up, StreamWindow& window, Taken taken);

    void on_frame(NodeIndex branch, const Frame& frame);
    // A message that must not overtake what its node has written (StdoutMark).
    void on_message(NodeIndex branch, NodeIndex from, Message message);
    // The window has become larger, or the queue shorter.
    void resume();

    bool empty() const { return waiting_.empty(); }

  private:
    struct Item {
        NodeIndex branch = 0;
        FrameKind kind = FrameKind::kControl;
        std::uint8_t flags = 0;
        TaskId task = -1;  // of control: the node
        std::string payload;
    };
    void send(NodeIndex branch, const Frame& frame);
    // A part of the queue is left to the node's own tasks, as of the window.
    bool may_send() const {
        return up_.closed() || (window_.open_for_relay() && !up_.full(Channel::kFullQueue / 4 * 3));
    }

    Channel& up_;
    StreamWindow& window_;
    Taken taken_;
    std::deque<Item> waiting_;
};

}  // namespace poe::pm
