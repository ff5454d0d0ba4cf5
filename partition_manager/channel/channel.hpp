// Channel: one end of the framed conversation between `poe` and a `pmd`, or two of them, over any
// byte stream (a socketpair on this node, the standard streams of ssh or srun elsewhere).
//
// Sending never blocks and never fails at the call: frames are queued in order and written as the
// stream takes them. Who sends much asks before whether the queue is full() and waits for on_room,
// so that what a slow stream makes wait does so where it comes from. A receiver always reads: it
// never has to store more than the windows that it has given (stream_window.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.hpp"
#include "partition_manager/channel/byte_queue.hpp"
#include "partition_manager/channel/frame.hpp"
#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// On a control frame: for every node below, or from nowhere in particular.
inline constexpr NodeIndex kAllNodes = -1;

// Belongs to one event loop; not thread-safe. Handlers are called from the loop only, never from
// within a call of send.
class Channel {
  public:
    struct Handlers {
        std::function<void(const Frame&)> on_data;  // every frame that is not control
        // With the node that it comes from, or is for; kAllNodes: unsaid, or all.
        std::function<void(NodeIndex, Message)> on_message;
        // Once, last: the peer closed (empty text), or what went wrong.
        std::function<void(std::string)> on_closed;
    };

    // Takes the descriptors; `out` may be empty when `in` carries both directions.
    Channel(asio::io_context& loop, UniqueFd in, UniqueFd out, Handlers handlers);
    ~Channel();

    void start();
    void send(const Message& message, NodeIndex node = kAllNodes);
    void send_data(FrameKind kind, std::uint8_t flags, TaskId task, std::string_view payload);
    void send_credit(FrameKind stream, std::uint64_t bytes);

    // Zero-copy sending: payload space of `size` bytes at the end of the queue; the frame exists
    // when commit_data() has said how many were used (0: none). No other send may come between.
    std::span<char> reserve_data(std::size_t size);
    void commit_data(FrameKind kind, std::uint8_t flags, TaskId task, std::size_t used);

    // A queue longer than this is full for those who send much; control is queued whatever its
    // length.
    static constexpr std::size_t kFullQueue = std::size_t{1} << 20;

    std::size_t queued_bytes() const { return queue_.size(); }
    // Never when it is closed: nothing is stored then.
    bool full(std::size_t limit = kFullQueue) const { return !closed_ && queue_.size() >= limit; }
    // Called from the loop when the queue has become shorter than half of kFullQueue, after it was
    // longer.
    std::function<void()> on_room;

    // Writes what is queued, waiting for the peer no longer than `patience` in all. Blocks. For the
    // last words of a program that ends.
    void drain(std::chrono::milliseconds patience);

    // No handler is called after it.
    void close();
    bool closed() const { return closed_; }

  private:
    void wait_readable();
    void read_some();
    bool deliver();
    // Makes the bytes behind the queue's end a frame.
    void enqueue(FrameKind kind, std::uint8_t flags, TaskId task, std::size_t length);
    void schedule_write();
    void write_some();
    void fail(std::string why);

    asio::io_context& loop_;
    asio::posix::stream_descriptor in_;
    asio::posix::stream_descriptor out_;
    bool duplex_;  // in_ carries both directions
    Handlers handlers_;
    FrameReader reader_;
    ByteQueue queue_;
    std::size_t reserved_ = 0;  // payload bytes handed out by reserve_data()
    bool write_scheduled_ = false;
    bool was_long_ = false;  // since on_room was called
    bool closed_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for posted handlers
};

}  // namespace poe::pm
