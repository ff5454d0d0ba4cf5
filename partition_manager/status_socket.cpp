// See status_socket.hpp.
#include "partition_manager/status_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "comm/base/unique_fd.hpp"

namespace poe::pm {

namespace {

// How long poe waits for daemons, and poestat for poe.
constexpr std::chrono::seconds kPatience{2};
constexpr timeval kAskerPatience{5, 0};
constexpr std::size_t kMostAskers = 16;
constexpr std::size_t kLongestAnswer = kMaxControlPayload;

struct Name {
    sockaddr_un address{};
    socklen_t size = 0;
};

Name name_of(uid_t owner, const std::string& job) {
    Name name;
    const std::string text = "poe-" + std::to_string(owner) + "-" + job;
    name.address.sun_family = AF_UNIX;
    // After a zero byte: not in the file system.
    const std::size_t length = std::min(text.size(), sizeof name.address.sun_path - 1);
    std::memcpy(name.address.sun_path + 1, text.data(), length);
    name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return name;
}

// Root may look at others' jobs.
bool is_of(int socket, uid_t owner, bool or_root) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == owner || (or_root && peer.uid == 0));
}

}  // namespace

StatusSocket::StatusSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                           NodeIndex nodes, std::function<void(AskTaskStates)> ask)
    : loop_(loop), owner_(owner), nodes_(nodes), ask_(std::move(ask)), listener_(loop) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Name name = name_of(owner, job);
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        ::listen(fd.get(), 8) != 0)
        return;
    listener_.assign(fd.release());
    wait();
}

void StatusSocket::wait() {
    listener_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this](const asio::error_code& error) {
                             if (error) return;
                             accept();
                             wait();
                         });
}

void StatusSocket::accept() {
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd || !is_of(fd.get(), owner_, true) || askers_.size() >= kMostAskers) return;
    auto asker = std::make_shared<Asker>(loop_);
    asker->socket.assign(fd.release());
    asker->round = round_ = std::max(round_ + 1, kStatusRounds);
    asker->heard.assign(static_cast<std::size_t>(nodes_), false);
    askers_.push_back(asker);
    asker->timer.expires_after(kPatience);
    asker->timer.async_wait([this, asker](const asio::error_code& error) {
        if (!error) give_answer(asker);
    });
    ask_(AskTaskStates{asker->round});
}

void StatusSocket::on_states(NodeIndex node, TaskStates states) {
    for (const auto& asker : askers_) {
        const auto place = static_cast<std::size_t>(node);
        if (asker->round != states.round || node < 0 || place >= asker->heard.size() ||
            asker->heard[place])
            continue;
        asker->heard[place] = true;
        for (TaskState& state : states.states) {
            state.node = node;
            asker->states.push_back(state);
        }
        const bool complete =
            std::find(asker->heard.begin(), asker->heard.end(), false) == asker->heard.end();
        if (complete) give_answer(std::shared_ptr(asker));
        return;
    }
}

void StatusSocket::give_answer(const std::shared_ptr<Asker>& asker) {
    asker->timer.cancel();
    std::erase(askers_, asker);
    std::sort(asker->states.begin(), asker->states.end(),
              [](const TaskState& a, const TaskState& b) { return a.task < b.task; });
    asker->answer = encode(TaskStates{0, std::move(asker->states)});
    write(asker);
}

void StatusSocket::write(const std::shared_ptr<Asker>& asker) {
    while (!asker->answer.empty()) {
        const ssize_t count = ::send(asker->socket.native_handle(), asker->answer.data(),
                                     asker->answer.size(), MSG_NOSIGNAL);
        if (count > 0) {
            asker->answer.erase(0, static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            asker->socket.async_wait(asio::posix::stream_descriptor::wait_write,
                                     [this, asker](const asio::error_code& error) {
                                         if (!error) write(asker);
                                     });
            return;
        } else if (errno != EINTR) {
            return;  // it does not want to know any more
        }
    }
    asio::error_code ignored;
    asker->socket.close(ignored);
}

std::optional<std::vector<TaskState>> ask_poe(uid_t owner, const std::string& job) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Name name = name_of(owner, job);
    if (!fd ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0 ||
        !is_of(fd.get(), owner, false))
        return std::nullopt;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kAskerPatience, sizeof kAskerPatience);
    std::string answer;
    char buffer[16384];
    while (answer.size() < kLongestAnswer) {
        const ssize_t count = ::recv(fd.get(), buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        answer.append(buffer, static_cast<std::size_t>(count));
    }
    auto message = decode(answer);
    auto* states = message ? std::get_if<TaskStates>(&*message) : nullptr;
    if (states == nullptr) return std::nullopt;
    return std::move(states->states);
}

}  // namespace poe::pm
