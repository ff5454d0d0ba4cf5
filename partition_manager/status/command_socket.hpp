// Commands to a running poe (job_socket.hpp): one question and one answer, both texts. Only the
// job's owner may send them, because they change the job.
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

// poe's side. Call only from the event loop's thread. No call blocks.
class CommandSocket {
  public:
    // Sends the answer. Call it from the event loop's thread, at any later time.
    using Answer = std::function<void(std::string)>;
    using Handler = std::function<void(const std::string& question, Answer answer)>;

    // If the socket cannot be created, the job runs without it.
    CommandSocket(asio::io_context& loop, uid_t owner, const std::string& job, Handler handler);

  private:
    struct Caller {
        explicit Caller(asio::io_context& loop) : socket(loop) {}
        asio::posix::stream_descriptor socket;
        std::string question;
    };
    void read(const std::shared_ptr<Caller>& asker);

    Handler handler_;
    JobListener listener_;
};

// The caller's side: sends the question and blocks until the answer arrives, without a time limit.
// Returns nothing if this computer has no such poe, if it belongs to another user, or if it ended
// before it answered.
std::optional<std::string> ask_command(uid_t owner, const std::string& job,
                                       const std::string& question);

}  // namespace poe::pm
