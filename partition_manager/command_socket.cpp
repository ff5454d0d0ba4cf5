// See command_socket.hpp.
#include "partition_manager/command_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "comm/base/unique_fd.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kLongestText = 65536;

struct Name {
    sockaddr_un address{};
    socklen_t size = 0;
};

Name name_of(uid_t owner, const std::string& job) {
    Name name;
    const std::string text = "poe-" + std::to_string(owner) + "-" + job + "-command";
    name.address.sun_family = AF_UNIX;
    // After a zero byte: not in the file system.
    const std::size_t length = std::min(text.size(), sizeof name.address.sun_path - 1);
    std::memcpy(name.address.sun_path + 1, text.data(), length);
    name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return name;
}

bool is_of(int socket, uid_t owner) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == owner;
}

std::string read_all(int fd) {
    std::string text;
    char buffer[4096];
    while (text.size() < kLongestText) {
        const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace

CommandSocket::CommandSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                             Handler handler)
    : loop_(loop), owner_(owner), handler_(std::move(handler)), listener_(loop) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Name name = name_of(owner, job);
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        ::listen(fd.get(), 8) != 0)
        return;
    listener_.assign(fd.release());
    wait();
}

void CommandSocket::wait() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this](const asio::error_code& error) {
                             if (error) return;
                             accept();
                             wait();
                         });
}

void CommandSocket::accept() {
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd || !is_of(fd.get(), owner_)) return;
    auto asker = std::make_shared<Asker>(loop_);
    asker->socket.assign(fd.release());
    read(asker);
}

// The question ends where the asker stops to send.
void CommandSocket::read(const std::shared_ptr<Asker>& asker) {
    asker->socket.async_wait(
        asio::posix::stream_descriptor::wait_read, [this, asker](const asio::error_code& error) {
            if (error) return;
            char buffer[4096];
            const ssize_t count = ::recv(asker->socket.native_handle(), buffer, sizeof buffer, 0);
            if (count < 0 && (errno == EAGAIN || errno == EINTR)) return read(asker);
            if (count < 0 || asker->question.size() > kLongestText) return;
            asker->question.append(buffer, static_cast<std::size_t>(count));
            if (count > 0) return read(asker);
            // An answer fits into the socket's memory: it is written at once, or lost.
            handler_(asker->question, [asker](const std::string& answer) {
                static_cast<void>(::send(asker->socket.native_handle(), answer.data(),
                                         answer.size(), MSG_NOSIGNAL));
            });
        });
}

std::optional<std::string> ask_command(uid_t owner, const std::string& job,
                                       const std::string& question) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Name name = name_of(owner, job);
    if (!fd ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        !is_of(fd.get(), owner) ||
        ::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(question.size()) ||
        ::shutdown(fd.get(), SHUT_WR) != 0)
        return std::nullopt;
    std::string answer = read_all(fd.get());
    if (answer.empty()) return std::nullopt;
    return answer;
}

}  // namespace poe::pm
