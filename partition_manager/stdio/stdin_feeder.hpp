// StdinFeeder: the last step of standard input, from the channel into the pipes of a node's tasks.
// Every task gets every byte, each at its own pace. The slowest reader limits the flow, because
// `poe` sends only up to its window ahead of what has been delivered to all tasks.
#pragma once

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
#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks.
class StdinFeeder {
  public:
    // `report` is called with new progress for `poe`, from the event loop or within a call of this
    // object.
    StdinFeeder(asio::io_context& loop, std::function<void(const StdinProgress&)> report);

    // Adds the write end of a task's standard input, which the object then owns. `terminal`: it is
    // a pseudo-terminal, not a pipe.
    void add(TaskId task, UniqueFd pipe, bool terminal = false);
    // Takes the next bytes of standard input, which are copied; then its end.
    void on_data(std::string_view bytes);
    void on_end();
    // The task has ended. Bytes that it has not read count as not consumed.
    void on_task_exit(TaskId task);

  private:
    struct Reader {
        Reader(asio::io_context& loop, TaskId id, UniqueFd pipe, bool is_terminal)
            : descriptor(loop, pipe.release()), task(id), terminal(is_terminal) {}
        asio::posix::stream_descriptor descriptor;
        TaskId task;
        bool terminal;
        bool told_end = false;  // terminal: the end of input has been written
        std::uint64_t written = 0;
        bool waiting = false;
        // After the end of input: the pipe's read side, used to see what is left in it.
        UniqueFd unread;
    };

    void feed(Reader& reader);
    void end_of_input(Reader& reader);
    void close(Reader& reader);
    void trim_and_report();
    void watch_first_bytes();
    void note_consumed(Reader& reader);

    asio::io_context& loop_;
    std::function<void(const StdinProgress&)> report_;
    std::vector<std::unique_ptr<Reader>> readers_;
    std::string buffer_;
    std::uint64_t base_ = 0;  // stream position of buffer_[0]
    bool in_line_ = false;    // the last byte received did not end a line
    bool ended_ = false;
    std::uint64_t consumed_ = 0;  // maximum number of bytes that any task has read
    StdinProgress reported_;
    // A pipe does not signal that its reader begins to read. Until a task has read the first byte,
    // the pipes are checked after 1, 2, 4, ... kMaxPause milliseconds.
    static constexpr std::chrono::milliseconds kMaxPause{100};
    asio::steady_timer timer_;
    std::chrono::milliseconds pause_{1};
    bool watching_ = false;
};

}  // namespace poe::pm
