// See pmi1_client.hpp.
#include "comm/bootstrap/pmi1_client.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

#include "base/error.hpp"

namespace poe::comm {

void throw_pmi1_failure(const std::string& why, int cause) {
    throw Error("the launcher's PMI service (PMI_FD) does not answer as it should: " + why, cause);
}

std::optional<std::string> pmi1_field(const std::string& line, const std::string& name) {
    const auto at = (" " + line).find(" " + name + "=");
    if (at == std::string::npos) return std::nullopt;
    const auto begin = at + name.size() + 1;
    const auto end = name == "value" ? line.size() : line.find(' ', begin);
    return line.substr(begin, end == std::string::npos ? end : end - begin);
}

void Pmi1Client::send(std::string_view lines) {
    while (!lines.empty()) {
        const ssize_t n = ::send(fd_, lines.data(), lines.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw_pmi1_failure("it cannot be written to", errno);
        lines.remove_prefix(static_cast<std::size_t>(n));
    }
}

// Returns false if nothing has arrived.
bool Pmi1Client::receive(int flags) {
    std::array<char, 4096> bytes;
    const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), flags);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (n < 0) throw_pmi1_failure("it cannot be read from", errno);
    if (n == 0) throw_pmi1_failure("it has closed the connection");
    unread_.append(bytes.data(), static_cast<std::size_t>(n));
    return true;
}

std::optional<std::string> Pmi1Client::try_read_line() {
    auto end = unread_.find('\n');
    while (end == std::string::npos && receive(MSG_DONTWAIT)) end = unread_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

std::string Pmi1Client::read_line() {
    for (;;) {
        if (auto line = try_read_line()) return std::move(*line);
        receive(0);
    }
}

std::string Pmi1Client::ask(const std::string& command) {
    send("cmd=" + command + "\n");
    std::string answer = read_line();
    const auto code = pmi1_field(answer, "rc");
    if (code && *code != "0")
        throw_pmi1_failure("to \"" + command + "\" it says \"" + answer + "\"");
    return answer;
}

bool Pmi1Client::alive() const noexcept {
    pollfd connection{fd_, POLLIN, 0};
    return ::poll(&connection, 1, 0) <= 0 || (connection.revents & (POLLHUP | POLLERR)) == 0;
}

}  // namespace poe::comm
