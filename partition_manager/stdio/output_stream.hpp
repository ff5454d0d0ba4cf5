// OutputStream: stdout, or stderr, of all tasks of a node, on its way from their pipes to `poe`.
//
// Frames end where lines end, so that `poe` can merge the frames of many tasks without tearing a
// line. What follows the last line end is held back until the line is complete, the task closes the
// stream, or (stderr, and stdout when a person looks at it) a moment has passed: then it goes out
// as an open line. A line longer than kLongLine gets the stream for itself: it goes out in pieces,
// and the pipes of the other tasks wait until it ends or pauses, so no line is ever stored whole.
//
// Memory: kLongLine per task, plus what the channel's queue holds. Reading stops while that is full
// or the window is used up; then the tasks' own writes wait.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/channel/channel.hpp"
#include "partition_manager/channel/stream_window.hpp"

namespace poe::pm {

// How many bytes at the start of `data` are complete: up to and with the last line feed, or the
// last carriage return that another byte follows (a progress bar's; at the very end it may be the
// first half of CR LF).
std::size_t complete_bytes(std::string_view data);

class OutputStream {
  public:
    static constexpr std::size_t kLongLine = 64 << 10;
    static constexpr std::chrono::milliseconds kOpenLineDelay{40};
    static constexpr std::chrono::milliseconds kLongLinePause{1000};

    // `open_lines`: an incomplete line goes out after kOpenLineDelay. `stamps`: a frame with
    // kFlagTime goes before what is read.
    OutputStream(asio::io_context& loop, Channel& channel, StreamWindow& window, FrameKind kind,
                 bool open_lines, bool stamps);

    // Starts reading from a task's pipe; `discard`: reads and forgets.
    void add(TaskId task, UniqueFd pipe, bool discard);

    // Reads and forgets from now on, or no longer.
    void set_discard(TaskId task, bool discard);

    // Calls `then` when all that the task's pipe holds at this moment has been sent, or forgotten;
    // at once when there is nothing. An incomplete line goes out, too. One at a time for each task.
    void when_sent(TaskId task, std::function<void()> then);

    // Sends what the pipe holds at this moment, as far as the window and a long line of another
    // task allow.
    void send_now(TaskId task);

    // The window has become larger, or the queue shorter: waits again for the input of all that are
    // stalled and may read now.
    void resume();

    // Pipes that have not come to their end.
    std::size_t open_pipes() const { return open_; }
    // Called whenever open_pipes() has become smaller.
    std::function<void()> on_pipe_closed;

    // True: incomplete lines go out at once, as for a terminal with one task.
    bool cuts_anywhere = false;

    // Sends what the pipes hold at this moment, then lets go of those whose end does not come
    // (a process outside of the job holds them). Ignores the window.
    void close_all();

  private:
    struct Source {
        Source(asio::io_context& loop, TaskId id, UniqueFd pipe, bool forget)
            : descriptor(loop, pipe.release()), task(id), discard(forget) {}
        asio::posix::stream_descriptor descriptor;
        TaskId task;
        bool discard;
        bool stalled =
            false;         // not waiting for input: window used up, or a long line has the stream
        std::string held;  // after the last line end
        std::chrono::steady_clock::time_point held_since{};
        std::size_t until_mark = 0;  // bytes to be read before `then`
        std::function<void()> then;  // of when_sent
    };

    Source* find(TaskId task);
    void reach_mark(Source& source);

    void wait(Source& source);
    // False when the source is at its end, or stalled.
    bool read_once(Source& source);
    void send(Source& source, std::size_t held_before, std::size_t count, std::span<char> space);
    void send_time(TaskId task);
    void send_held(Source& source);
    void end(Source& source);
    bool may_read(const Source& source) const;
    void arm_timer();
    void on_timer();

    asio::io_context& loop_;
    Channel& channel_;
    StreamWindow& window_;
    FrameKind kind_;
    bool open_lines_;
    bool stamps_;
    std::vector<std::unique_ptr<Source>> sources_;
    std::size_t open_ = 0;
    Source* long_line_ = nullptr;  // has the stream for itself
    std::chrono::steady_clock::time_point long_line_since_{};
    asio::steady_timer timer_;
    bool timer_armed_ = false;
    bool closing_ = false;
};

}  // namespace poe::pm
