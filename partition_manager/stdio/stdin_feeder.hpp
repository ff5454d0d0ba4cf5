// StdinFeeder: standard input on its last step, from the channel into the pipes of a node's tasks.
// Every task gets every byte, each at its own pace; the slowest reader holds back the flow by the
// window that `poe` keeps (it sends only so much beyond what was delivered to all).
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

class StdinFeeder {
  public:
    // `report` is called with news for `poe`, from the loop or from within a call here.
    StdinFeeder(asio::io_context& loop, std::function<void(const StdinProgress&)> report);

    // The write end of a task's standard input; `terminal`: it is a pseudo-terminal, not a pipe.
    void add(TaskId task, UniqueFd pipe, bool terminal = false);
    void on_data(std::string_view bytes);
    void on_end();
    // The task is gone; what it left unread counts as not consumed.
    void on_task_exit(TaskId task);

  private:
    struct Reader {
        Reader(asio::io_context& loop, TaskId id, UniqueFd pipe, bool is_terminal)
            : descriptor(loop, pipe.release()), task(id), terminal(is_terminal) {}
        asio::posix::stream_descriptor descriptor;
        TaskId task;
        bool terminal;
        bool told_end = false;  // terminal: the end of input has been typed
        std::uint64_t written = 0;
        bool waiting = false;
        UniqueFd unread;  // after the end: the pipe's read side, to see what is left in it
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
    bool in_line_ = false;    // the last byte of all did not end a line
    bool ended_ = false;
    std::uint64_t consumed_ = 0;  // the most that any task has read
    StdinProgress reported_;
    // A pipe says nothing when its reader begins to read. Until the first byte of all is taken,
    // look after 1, 2, 4, ... kMaxPause milliseconds.
    static constexpr std::chrono::milliseconds kMaxPause{100};
    asio::steady_timer timer_;
    std::chrono::milliseconds pause_{1};
    bool watching_ = false;
};

}  // namespace poe::pm
