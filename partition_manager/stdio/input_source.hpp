// InputSource: poe's standard input. It is read on behalf of the tasks but not consumed before a
// task wants it, because `while read h; do poe hostname; done < list` must not lose lines.
//
//   kind           how it is read
//   file           at a separate offset; at the end of the job the file's offset is advanced by
//                  what the tasks have consumed
//   pipe, socket   by tee or MSG_PEEK until a task has read its first byte, then by read
//   terminal       reading always consumes, so it is read only while poe is in the foreground; the
//                  kernel does not report that a running job has come to the foreground (fg), so
//                  InputSource checks four times a second while there is input and poe is in the
//                  background
//
// The shell shares the descriptor, so its flags are not changed. Readiness is detected by an epoll
// descriptor of this object.
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
    // Maximum number of bytes that are read ahead of what all tasks have in their pipes.
    static constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;

    // Both handlers are called from the event loop, from start() or from on_progress(). on_end is
    // called once.
    struct Handlers {
        std::function<void(std::string_view)> on_data;
        std::function<void()> on_end;
    };

    // `fd` is not owned and must stay open.
    InputSource(asio::io_context& loop, int fd, Handlers handlers);

    // True for /dev/null, a closed descriptor, or one that is open only for writing: there is
    // nothing to read.
    static bool is_empty(int fd);

    // Begins to read. Throws Error if descriptors are exhausted.
    void start();
    // To be called when the tasks have received or consumed more.
    void on_progress(const StdinProgress& progress);
    // poe is in the foreground again (SIGCONT).
    void on_continue();
    // The job is over and no more input is wanted. Sets a file's offset to the end of what the
    // tasks consumed.
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
    std::uint64_t sent_ = 0;    // bytes passed to on_data
    std::uint64_t looked_ = 0;  // bytes of these that are still in the pipe or socket
    StdinProgress progress_;
    bool ended_ = false;
    bool paused_ = false;  // poe is in the background, or the window is closed
    bool watching_ = false;
    bool always_ready_ = false;  // a device that never blocks, such as /dev/zero
    UniqueFd look_read_;         // a pipe that receives copies by tee
    UniqueFd look_write_;
    asio::posix::stream_descriptor ready_;  // epoll descriptor that watches fd_
    // Checks whether poe is in the foreground, or reads more of a source that never blocks.
    asio::steady_timer next_ask_;
    std::string buffer_;
};

}  // namespace poe::pm
