// ControlSocket: the daemon's end of the job's control socket. Tasks use it to request what they
// cannot do themselves (base/segment/control_request.hpp).
#pragma once

#include <cstdint>
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
    struct Handlers {
        // Returns false if no task of this node can have sent this request. The request is then not
        // answered.
        std::function<bool(const FlushRequest&)> on_flush;
        // Returns true if the process must wait for answer_process().
        std::function<bool(const DebuggerRequest&)> on_process;
    };

    // Creates the socket at `path`, for this user only. Its file is removed with the job's
    // directory. Invalid datagrams are discarded. Throws Error.
    ControlSocket(asio::io_context& loop, const std::string& path, Handlers handlers);

    // Answers every task whose request has arrived since the last answer. Tasks that have ended are
    // ignored.
    void answer_all(const FlushAnswer& answer);

    // Lets a process continue that waits for the debugger; 0: all such processes.
    void answer_process(std::int32_t pid);

  private:
    struct Address {
        sockaddr_un name = {};
        socklen_t size = 0;
    };

    void wait();
    void read_all();
    template <typename Answer>
    void send(const Answer& answer, const Address& to);

    asio::posix::stream_descriptor socket_;
    Handlers handlers_;
    std::unordered_map<TaskId, Address> askers_;
    std::unordered_map<std::int32_t, Address> processes_;  // by process number
};

}  // namespace poe::pm
