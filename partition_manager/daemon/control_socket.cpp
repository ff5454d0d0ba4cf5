// See control_socket.hpp.
#include "partition_manager/daemon/control_socket.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utility>

#include "base/error.hpp"
#include "base/unique_fd.hpp"

namespace poe::pm {

namespace {

UniqueFd make_socket(const std::string& path) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    if (path.size() >= sizeof name.sun_path) throw Error("the path " + path + " is too long");
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
        ::chmod(path.c_str(), 0600) != 0)
        throw_errno("making the socket " + path);
    return fd;
}

}  // namespace

ControlSocket::ControlSocket(asio::io_context& loop, const std::string& path, Handler handler)
    : socket_(loop, make_socket(path).release()), handler_(std::move(handler)) {
    wait();
}

void ControlSocket::wait() {
    socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [this](const asio::error_code& error) {
                           if (error) return;
                           read_all();
                           wait();
                       });
}

void ControlSocket::read_all() {
    for (;;) {
        FlushRequest request;
        Address from;
        from.size = sizeof from.name;
        // With MSG_TRUNC recvfrom returns the length of the datagram even if the datagram is too
        // long.
        const ssize_t count =
            ::recvfrom(socket_.native_handle(), &request, sizeof request, MSG_TRUNC,
                       reinterpret_cast<sockaddr*>(&from.name), &from.size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return;
        if (count != sizeof request || request.magic != kControlMagic) continue;
        if (handler_(request)) askers_[request.task] = from;
    }
}

void ControlSocket::answer_all(const FlushAnswer& answer) {
    for (const auto& [task, to] : std::exchange(askers_, {}))
        ::sendto(socket_.native_handle(), &answer, sizeof answer, MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&to.name), to.size);
}

}  // namespace poe::pm
