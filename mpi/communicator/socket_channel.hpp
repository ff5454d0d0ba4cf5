// SocketChannel: words to and from a process with which this one has no communicator yet, over a
// stream socket. Messages of MPI make progress during each wait.
#pragma once

#include <chrono>
#include <functional>

#include "base/segment/wait_notes.hpp"
#include "base/types.hpp"
#include "base/unique_fd.hpp"
#include "comm/bootstrap/runtime.hpp"
#include "comm/tcp/tcp_handshake.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// A wait for a process that may belong to another job.
inline constexpr Awaited kAwaitsOtherJob{Awaited::Kind::kMessage, kTaskOfOtherJob};

// Returns when over() returns true. Calls it at least every millisecond, and also when `fd` becomes
// ready for `events`, which has the form of pollfd::events in poll(2). `awaited` says for what, for
// watchers.
void wait_for_socket(comm::Runtime& runtime, int fd, short events,
                     const std::function<bool()>& over, const Awaited& awaited = kAwaitsOtherJob);

// Blocks for a moment before an error that another process has caused. If that process has ended
// and is a task of the same poe, the report of its end should come first, as with a connection that
// is lost (comm/tcp/tcp_pipe.hpp).
void let_poe_report(comm::Runtime& runtime);

// For the thread that has the turn. The runtime must outlive this object.
class SocketChannel {
  public:
    // Does not own the socket, which is a connected stream socket. Its flags are not changed.
    // `awaited`: who is at the other end.
    SocketChannel(comm::Runtime& runtime, int fd, const Awaited& awaited = kAwaitsOtherJob) noexcept
        : runtime_(runtime), fd_(fd), awaited_(awaited) {}

    // Completes a handshake that this end has begun. Blocks until then, but not past `deadline`.
    // Returns false if the other end is faulty, has gone, or takes too long. `called`: this end
    // decides.
    bool shake_hands(comm::Handshake& handshake, bool called,
                     std::chrono::steady_clock::time_point deadline);
    // Sends and receives as many bytes. Blocks until both are done.
    Fault swap_bytes(const void* given, void* taken, std::size_t bytes);
    // Sends the words, and receives those of the other side, which makes the same call. Blocks
    // until then.
    Fault swap(const Words& given, Words& taken);

  private:
    Fault move(const std::byte* out, std::size_t out_bytes, std::byte* in, std::size_t in_bytes);

    comm::Runtime& runtime_;
    int fd_;
    Awaited awaited_;
};

}  // namespace poe::mpi
