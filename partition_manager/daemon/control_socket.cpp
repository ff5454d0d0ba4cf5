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

ControlSocket::ControlSocket(asio::io_context& loop, const std::string& path, Handlers handlers)
    : socket_(loop, make_socket(path).release()), handlers_(std::move(handlers)) {
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
        union {
            std::uint32_t magic;
            FlushRequest flush;
            DebuggerRequest process;
        } request{};
        Address from;
        from.size = sizeof from.name;
        // With MSG_TRUNC recvfrom returns the length of the datagram even if the datagram is too
        // long.
        const ssize_t count =
            ::recvfrom(socket_.native_handle(), &request, sizeof request, MSG_TRUNC,
                       reinterpret_cast<sockaddr*>(&from.name), &from.size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return;
        if (count == sizeof request.flush && request.magic == kControlMagic) {
            if (handlers_.on_flush(request.flush)) askers_[request.flush.task] = from;
        } else if (count == sizeof request.process && request.magic == kDebuggerMagic) {
            if (handlers_.on_process(request.process))
                processes_[request.process.pid] = from;
            else
                send(DebuggerAnswer{}, from);
        }
    }
}

template <typename Answer>
void ControlSocket::send(const Answer& answer, const Address& to) {
    ::sendto(socket_.native_handle(), &answer, sizeof answer, MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to.name), to.size);
}

void ControlSocket::answer_all(const FlushAnswer& answer) {
    for (const auto& each : std::exchange(askers_, {})) send(answer, each.second);
}

void ControlSocket::answer_process(std::int32_t pid) {
    if (pid == 0) {
        for (const auto& each : std::exchange(processes_, {})) send(DebuggerAnswer{}, each.second);
    } else if (const auto found = processes_.find(pid); found != processes_.end()) {
        send(DebuggerAnswer{}, found->second);
        processes_.erase(found);
    }
}

}  // namespace poe::pm
