// See job_socket.hpp.
#include "partition_manager/status/job_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace poe::pm {

namespace {

struct Name {
    sockaddr_un address{};
    socklen_t size = 0;
};

Name name_of(uid_t owner, const std::string& job, const char* which) {
    Name name;
    const std::string text = "poe-" + std::to_string(owner) + "-" + job + which;
    name.address.sun_family = AF_UNIX;
    // The name begins with a zero byte: it is not in the file system.
    const std::size_t length = std::min(text.size(), sizeof name.address.sun_path - 1);
    std::memcpy(name.address.sun_path + 1, text.data(), length);
    name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return name;
}

bool is_of(int socket, uid_t owner, bool or_root) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == owner || (or_root && peer.uid == 0));
}

}  // namespace

JobListener::JobListener(asio::io_context& loop, uid_t owner, const std::string& job,
                         const char* which, bool or_root, std::function<void(UniqueFd)> on_caller)
    : owner_(owner), or_root_(or_root), on_caller_(std::move(on_caller)), listener_(loop) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Name name = name_of(owner, job, which);
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        ::listen(fd.get(), 8) != 0)
        return;
    listener_.assign(fd.release());
    wait();
}

void JobListener::wait() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this](const asio::error_code& error) {
                             if (error) return;
                             accept();
                             wait();
                         });
}

void JobListener::accept() {
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd && is_of(fd.get(), owner_, or_root_)) on_caller_(std::move(fd));
}

UniqueFd call_job(uid_t owner, const std::string& job, const char* which) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Name name = name_of(owner, job, which);
    if (!fd ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        !is_of(fd.get(), owner, false))
        return {};
    return fd;
}

std::string read_to_end(int fd, std::size_t most) {
    std::string text;
    char buffer[16384];
    while (text.size() < most) {
        const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace poe::pm
