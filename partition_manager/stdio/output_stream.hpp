// OutputStream: standard output or standard error of all tasks of a node, from their pipes to
// `poe`.
//
// Frames end where lines end, so that `poe` can merge the frames of many tasks without tearing a
// line. The bytes after the last line end are held back. They are sent as an open line when the
// task closes the stream or when a moment has passed (for stderr, and for stdout on a terminal).
//
// A line longer than kLongLine gets the stream exclusively: it is sent in pieces, and the pipes of
// the other tasks wait until it ends or pauses. Therefore no line is ever stored as a whole.
//
// Memory: kLongLine per task, plus what the channel's queue holds. If the queue is full or the
// window is closed, reading stops, and the tasks' writes block (back-pressure).
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

// Returns the number of bytes at the start of `data` that are complete: up to and including the
// last line feed, or the last carriage return that another byte follows (as in a progress bar). A
// carriage return at the very end may be the first half of CR LF.
std::size_t complete_bytes(std::string_view data);

class OutputStream {
  public:
    static constexpr std::size_t kLongLine = 64 << 10;
    static constexpr std::chrono::milliseconds kOpenLineDelay{40};
    static constexpr std::chrono::milliseconds kLongLinePause{1000};

    // `open_lines`: an incomplete line is sent after kOpenLineDelay. `stamps`: a frame with
    // kFlagTime is sent before the data that was read. `channel` and `window` must outlive this
    // object.
    OutputStream(asio::io_context& loop, Channel& channel, StreamWindow& window, FrameKind kind,
                 bool open_lines, bool stamps);

    // Starts reading from a task's pipe, which the object then owns. `discard`: the data is read
    // and discarded.
    void add(TaskId task, UniqueFd pipe, bool discard);

    // From now on discards the data of a task, or stops discarding it.
    void set_discard(TaskId task, bool discard);

    // Calls `then` when everything that the task's pipe holds at this moment has been sent or
    // discarded; at once if the pipe is empty. An incomplete line is sent, too. One request at a
    // time for each task.
    void when_sent(TaskId task, std::function<void()> then);

    // Sends what the pipe holds at this moment, unless the window or a long line of another task
    // prevents this.
    void send_now(TaskId task);

    // The window has grown, or the queue has become shorter. Waits again for input of all stalled
    // tasks that may read now.
    void resume();

    // Number of pipes that have not reached their end.
    std::size_t open_pipes() const { return open_; }
    // Called whenever open_pipes() has decreased.
    std::function<void()> on_pipe_closed;

    // If true, incomplete lines are sent at once, as for a terminal with one task.
    bool cuts_anywhere = false;

    // Sends what the pipes hold at this moment, then closes those that have not reached their end
    // (a process outside the job holds them). Ignores the window.
    void close_all();

  private:
    struct Source {
        Source(asio::io_context& loop, TaskId id, UniqueFd pipe, bool forget)
            : descriptor(loop, pipe.release()), task(id), discard(forget) {}
        asio::posix::stream_descriptor descriptor;
        TaskId task;
        bool discard;
        // It does not wait for input: the window is closed, or a long line of another task has the
        // stream.
        bool stalled = false;
        std::string held;  // data after the last line end
        std::chrono::steady_clock::time_point held_since{};
        std::size_t until_mark = 0;  // bytes still to be read before `then`
        std::function<void()> then;  // of when_sent
    };

    Source* find(TaskId task);
    void reach_mark(Source& source);

    void wait(Source& source);
    // Returns false if the source is at its end or stalled.
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
    Source* long_line_ = nullptr;  // the source that has the stream exclusively
    std::chrono::steady_clock::time_point long_line_since_{};
    asio::steady_timer timer_;
    bool timer_armed_ = false;
    bool closing_ = false;
};

}  // namespace poe::pm
