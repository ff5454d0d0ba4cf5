// InputSource: poe's standard input, read on behalf of the tasks but not consumed before a task wants it,
// because `while read h; do poe hostname; done < list` must not lose lines.
//
//   kind           how it is read
//   file           at an offset of its own; at the end the file's offset is moved by what the tasks consumed
//   pipe, socket   by tee or MSG_PEEK until a task has read its first byte, then by read
//   terminal       cannot be read without consuming, so it is read only while poe is in the foreground. The
//                  kernel does not report that a running job has come to the foreground (fg), so InputSource
//                  asks four times a second as long as there is input and poe is in the background
//
// The descriptor is shared with the shell: its flags are not changed. Readiness comes from an epoll
// descriptor of our own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/unique_fd.hpp"
#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

class InputSource {
  public:
    // How far reading may be ahead of what all tasks have in their pipes.
    static constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;

    struct Handlers {
        std::function<void(std::string_view)> on_data;
        std::function<void()> on_end;
    };

    InputSource(asio::io_context& loop, int fd, Handlers handlers);

    // True for /dev/null and a closed descriptor: there is nothing to carry.
    static bool is_empty(int fd);

    void start();
    void on_progress(const StdinProgress& progress);
    // We are in the foreground again (SIGCONT).
    void on_continue();
    // The job is over, nothing more is wanted: gives back what no task consumed.
    void finish();

  private:
    enum class Kind { kFile, kPipe, kSocket, kOther };

    void read_file();
    void watch();
    void on_ready();
    bool look();
    void discard(std::uint64_t count);
    void read_stream();
    void end();
    bool in_foreground() const;
    void wait_for_foreground();

    int fd_;
    Handlers handlers_;
    Kind kind_ = Kind::kOther;
    std::int64_t file_start_ = 0;
    std::uint64_t sent_ = 0;    // bytes handed to on_data
    std::uint64_t looked_ = 0;  // of these, still in the pipe or socket
    StdinProgress progress_;
    bool ended_ = false;
    bool paused_ = false;  // in the background, or the window is used up
    bool watching_ = false;
    bool always_ready_ = false;  // a device that never waits, as /dev/zero
    UniqueFd look_read_;         // a pipe of our own, to look into another
    UniqueFd look_write_;
    asio::posix::stream_descriptor ready_;  // epoll descriptor that watches fd_
    asio::steady_timer
        next_ask_;  // whether we are in the foreground, or for more of what never waits
    std::string buffer_;
};

}  // namespace poe::pm
