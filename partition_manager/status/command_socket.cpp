// See command_socket.hpp.
#include "partition_manager/status/command_socket.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace poe::pm {

namespace {

constexpr std::size_t kLongestText = 65536;

}  // namespace

CommandSocket::CommandSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                             Handler handler)
    : handler_(std::move(handler)),
      listener_(loop, owner, job, kCommandSocket, false, [this, &loop](UniqueFd caller) {
          auto asker = std::make_shared<Caller>(loop);
          asker->socket.assign(caller.release());
          read(asker);
      }) {}

// The question ends when the caller shuts down its sending side.
void CommandSocket::read(const std::shared_ptr<Caller>& asker) {
    asker->socket.async_wait(
        asio::posix::stream_descriptor::wait_read, [this, asker](const asio::error_code& error) {
            if (error) return;
            char buffer[4096];
            const ssize_t count = ::recv(asker->socket.native_handle(), buffer, sizeof buffer, 0);
            if (count < 0 && (errno == EAGAIN || errno == EINTR)) return read(asker);
            if (count < 0 || asker->question.size() > kLongestText) return;
            asker->question.append(buffer, static_cast<std::size_t>(count));
            if (count > 0) return read(asker);
            // An answer fits into the socket's buffer, so it is written at once or lost.
            handler_(asker->question, [asker](const std::string& answer) {
                static_cast<void>(::send(asker->socket.native_handle(), answer.data(),
                                         answer.size(), MSG_NOSIGNAL));
            });
        });
}

std::optional<std::string> ask_command(uid_t owner, const std::string& job,
                                       const std::string& question) {
    const UniqueFd fd = call_job(owner, job, kCommandSocket);
    if (!fd ||
        ::send(fd.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(question.size()) ||
        ::shutdown(fd.get(), SHUT_WR) != 0)
        return std::nullopt;
    std::string answer = read_to_end(fd.get(), kLongestText);
    if (answer.empty()) return std::nullopt;
    return answer;
}

}  // namespace poe::pm
