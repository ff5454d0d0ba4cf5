// ControlSocket: the daemon's end of the job's control socket. Tasks use it to request what they
// cannot do themselves (base/segment/control_request.hpp).
#pragma once

#include <functional>
#include <string>
#include <sys/un.h>
#include <unordered_map>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/segment/control_request.hpp"

namespace poe::pm {

// Call only from the event loop's thread. No call blocks.
class ControlSocket {
  public:
    // Returns false if no task of this node can have sent this request. The request is then not
    // answered.
    using Handler = std::function<bool(const FlushRequest&)>;

    // Creates the socket at `path`, for this user only. Its file is removed with the job's
    // directory. Invalid datagrams are discarded. Throws Error.
    ControlSocket(asio::io_context& loop, const std::string& path, Handler handler);

    // Answers every task whose request has arrived since the last answer. Tasks that have ended are
    // ignored.
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
