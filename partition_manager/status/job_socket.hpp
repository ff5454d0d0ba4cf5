// The connection of commands to a running poe: a Unix socket without a name in the file system, so
// that nothing has to be removed. Each side checks the user of the other. status_socket.hpp,
// command_socket.hpp, home_jobs.hpp, watch_socket.hpp and debug_socket.hpp define what is sent.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.hpp"

namespace poe::pm {

// Selects one of a job's sockets: the end of its name.
inline constexpr const char* kStatusSocket = "";
inline constexpr const char* kCommandSocket = "-command";
inline constexpr const char* kFactsSocket = "-facts";
inline constexpr const char* kWatchSocket = "-watch";
inline constexpr const char* kDebugSocket = "-debug";

// poe's side. Call only from the event loop's thread. No call blocks.
class JobListener {
  public:
    // `or_root`: root may connect, too. `on_caller` receives each connection, in non-blocking mode.
    // If the socket cannot be created, the job runs without it.
    JobListener(asio::io_context& loop, uid_t owner, const std::string& job, const char* which,
                bool or_root, std::function<void(UniqueFd)> on_caller);

  private:
    void wait();
    void accept();

    uid_t owner_;
    bool or_root_;
    std::function<void(UniqueFd)> on_caller_;
    asio::posix::stream_descriptor listener_;
};

// The caller's side: returns a connection in blocking mode. Empty if this computer has no such poe,
// or if it belongs to another user.
UniqueFd call_job(uid_t owner, const std::string& job, const char* which);

// Reads until the other side has closed, up to about `most` bytes. Blocks.
std::string read_to_end(int fd, std::size_t most);

}  // namespace poe::pm
