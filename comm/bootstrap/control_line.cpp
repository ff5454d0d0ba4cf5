// Implementation of control_line.hpp.
#include "comm/bootstrap/control_line.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.hpp"

namespace poe::comm {
namespace {

[[noreturn]] void fail(const char* what) {
    throw Error(std::string("cannot ") + what + " this node's daemon", errno);
}

}  // namespace

ControlLine::ControlLine(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (!socket_) fail("make a socket to");
    // The kernel chooses a name, so that the daemon has an address to answer to. A connected socket
    // receives from the daemon only.
    sockaddr_un own = {};
    own.sun_family = AF_UNIX;
    sockaddr_un daemon = {};
    daemon.sun_family = AF_UNIX;
    if (path.size() >= sizeof daemon.sun_path) {
        errno = ENAMETOOLONG;
        fail("connect to");
    }
    std::memcpy(daemon.sun_path, path.c_str(), path.size() + 1);
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own.sun_family) != 0 ||
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&daemon), sizeof daemon) != 0)
        fail("connect to");
}

void ControlLine::send(const void* request, std::size_t bytes) {
    while (::send(socket_.get(), request, bytes, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) fail("ask");
}

// True if an answer of this size has come.
bool ControlLine::wait(std::chrono::milliseconds patience, void* answer, std::size_t bytes) {
    pollfd readable = {socket_.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(patience.count())) <= 0) return false;
    const ssize_t count = ::recv(socket_.get(), answer, bytes, MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0 && errno != EINTR && errno != EAGAIN) fail("hear");
    return count == static_cast<ssize_t>(bytes);
}

}  // namespace poe::comm
