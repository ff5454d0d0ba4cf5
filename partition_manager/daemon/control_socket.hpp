// ControlSocket: the daemon's end of the job's control socket, over which its tasks ask for what
// they cannot do themselves (base/segment/control_request.hpp).
#pragma once

#include <functional>
#include <string>
#include <sys/un.h>
#include <unordered_map>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/segment/control_request.hpp"

namespace poe::pm {

// Belongs to one loop; never blocks.
class ControlSocket {
  public:
    // False: no task of this node asks so, and there will be no answer.
    using Handler = std::function<bool(const FlushRequest&)>;

    // Makes the socket at `path`, for this user only. Its file goes with the job's directory. What
    // is no request is thrown away. Throws Error.
    ControlSocket(asio::io_context& loop, const std::string& path, Handler handler);

    // Answers every task that has asked since the last answer. A task that is gone does not matter.
    void answer_all(const FlushAnswer& answer);

  private:
    struct Address {
        sockaddr_un name = {};
        socklen_t size = 0;
    };

    void wait();
    void read_all();

    asio::posix::stream_descriptor socket_;
    Handler handler_;
    std::unordered_map<TaskId, Address> askers_;
};

}  // namespace poe::pm
