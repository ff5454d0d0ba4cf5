// What people ask of a running poe (job_socket.hpp): one question and one answer, both texts. For
// the job's owner only, since it changes what the job does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "partition_manager/status/job_socket.hpp"

namespace poe::pm {

// poe's side. For the thread of the loop; never blocks.
class CommandSocket {
  public:
    // Gives the answer, from the loop, at any time later.
    using Answer = std::function<void(std::string)>;
    using Handler = std::function<void(const std::string& question, Answer answer)>;

    // A job whose socket cannot be made goes on without.
    CommandSocket(asio::io_context& loop, uid_t owner, const std::string& job, Handler handler);

  private:
    struct ReplyTo {
        explicit ReplyTo(asio::io_context& loop) : socket(loop) {}
        asio::posix::stream_descriptor socket;
        std::string question;
    };
    void read(const std::shared_ptr<ReplyTo>& asker);

    Handler handler_;
    JobListener listener_;
};

// The other side: asks, and waits for the answer, however long it takes. Nothing: there is no such
// poe here, it is somebody else's, or it has ended before it answered.
std::optional<std::string> ask_command(uid_t owner, const std::string& job,
                                       const std::string& question);

}  // namespace poe::pm
