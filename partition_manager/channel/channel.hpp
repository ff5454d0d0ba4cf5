// Channel: one end of the framed connection between `poe` and a `pmd`, or between two `pmd`, over
// any byte stream (a socketpair on this node; the standard streams of ssh or srun for other nodes).
//
// Sending never blocks and never fails in the call: frames are queued in order and written when the
// stream accepts them. A sender of bulk data checks full() first and waits for on_room, so that
// back-pressure reaches the source of the data. A receiver always reads; it never has to store more
// than the windows that it has granted (stream_window.hpp).
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

// In the header of a control frame: the message is for every node below, or names no sender.
inline constexpr NodeIndex kAllNodes = -1;

// Belongs to one event loop; not thread-safe. Handlers are called only from the event loop, never
// from within a send call.
class Channel {
  public:
    struct Handlers {
        std::function<void(const Frame&)> on_data;  // every frame but control frames
        // The node is the sender or the receiver of the message; kAllNodes: not stated, or all.
        std::function<void(NodeIndex, Message)> on_message;
        // Called once, as the last handler. The text is empty if the peer has closed, otherwise the
        // error.
        std::function<void(std::string)> on_closed;
    };

    // Takes the descriptors. `out` is empty if `in` carries both directions. Throws Error if a
    // descriptor cannot be used.
    Channel(asio::io_context& loop, UniqueFd in, UniqueFd out, Handlers handlers);
    ~Channel();

    // Begins to read. To be called once.
    void start();
    // The channel copies messages and payloads. After close() or an error they are ignored.
    void send(const Message& message, NodeIndex node = kAllNodes);
    void send_data(FrameKind kind, std::uint8_t flags, TaskId task, std::string_view payload);
    // Tells the peer that `bytes` of its stream have been consumed.
    void send_credit(FrameKind stream, std::uint64_t bytes);

    // Zero-copy sending: returns `size` bytes of payload space at the end of the queue.
    // commit_data() then creates the frame with the number of bytes used (0: no frame). No other
    // send may come between.
    std::span<char> reserve_data(std::size_t size);
    void commit_data(FrameKind kind, std::uint8_t flags, TaskId task, std::size_t used);

    // A queue of this many bytes is full for bulk data. Control messages are queued even then.
    static constexpr std::size_t kFullQueue = std::size_t{1} << 20;

    std::size_t queued_bytes() const { return queue_.size(); }
    // Always false once the channel is closed, because nothing is stored then.
    bool full(std::size_t limit = kFullQueue) const { return !closed_ && queue_.size() >= limit; }
    // Called from the event loop when the queue has become shorter than half of kFullQueue after it
    // was longer.
    std::function<void()> on_room;

    // Writes the queued frames. Blocks until they are written, but for at most `patience` in total.
    // For the last messages of a program that ends.
    void drain(std::chrono::milliseconds patience);

    // Closes the descriptors. No handler is called afterwards.
    void close();
    bool closed() const { return closed_; }

  private:
    void wait_readable();
    void read_some();
    bool deliver();
    // Turns the bytes after the queue's end into a frame.
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
    std::size_t reserved_ = 0;  // payload bytes that reserve_data() has returned
    bool write_scheduled_ = false;
    bool was_long_ = false;  // the queue was long since the last call of on_room
    bool closed_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for posted handlers
};

}  // namespace poe::pm
