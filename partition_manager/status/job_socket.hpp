// How people's commands reach a running poe: a Unix socket without a name in the file system, so
// that nothing has to be removed; each side checks whose the other is. What is said there is the
// business of status_socket.hpp, command_socket.hpp, home_jobs.hpp and watch_socket.hpp.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.hpp"

namespace poe::pm {

// Which of a job's sockets: the end of its name.
inline constexpr const char* kStatusSocket = "";
inline constexpr const char* kCommandSocket = "-command";
inline constexpr const char* kFactsSocket = "-facts";
inline constexpr const char* kWatchSocket = "-watch";

// poe's side. For the thread of the loop; never blocks.
class JobListener {
  public:
    // `or_root`: root may call, too. `on_caller` gets each connection, which does not block. A job
    // whose socket cannot be made goes on without.
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

// The other side: a connection that blocks. Empty: there is no such poe here, or it is somebody
// else's.
UniqueFd call_job(uid_t owner, const std::string& job, const char* which);

// What comes until the other side has closed, up to about `most` bytes. Blocks.
std::string read_to_end(int fd, std::size_t most);

}  // namespace poe::pm
