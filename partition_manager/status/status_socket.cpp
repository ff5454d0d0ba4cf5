// See status_socket.hpp.
#include "partition_manager/status/status_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <sys/time.h>
#include <utility>

#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {

namespace {

// Time limits: poe waits for the daemons, and poestat waits for poe.
constexpr std::chrono::seconds kAnswerTimeout{2};
constexpr timeval kAskerTimeout{5, 0};
constexpr std::size_t kMostAskers = 16;
constexpr std::size_t kLongestAnswer = kMaxControlPayload;

}  // namespace

// Root may query the jobs of other users.
StatusSocket::StatusSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                           NodeIndex nodes, std::function<void(AskTaskStates)> ask)
    : loop_(loop),
      nodes_(nodes),
      ask_(std::move(ask)),
      listener_(loop, owner, job, kStatusSocket, true,
                [this](UniqueFd caller) { begin(std::move(caller)); }) {}

void StatusSocket::begin(UniqueFd caller) {
    if (askers_.size() >= kMostAskers) return;
    auto asker = std::make_shared<Caller>(loop_);
    asker->socket.assign(caller.release());
    asker->round = round_ = std::max(round_ + 1, kStatusRounds);
    asker->heard.assign(static_cast<std::size_t>(nodes_), false);
    askers_.push_back(asker);
    asker->timer.expires_after(kAnswerTimeout);
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

void StatusSocket::give_answer(const std::shared_ptr<Caller>& asker) {
    asker->timer.cancel();
    std::erase(askers_, asker);
    std::sort(asker->states.begin(), asker->states.end(),
              [](const TaskState& a, const TaskState& b) { return a.task < b.task; });
    asker->answer = encode(TaskStates{0, std::move(asker->states)});
    write(asker);
}

void StatusSocket::write(const std::shared_ptr<Caller>& asker) {
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
            return;  // the caller has closed the connection
        }
    }
    asio::error_code ignored;
    asker->socket.close(ignored);
}

std::optional<std::vector<TaskState>> ask_poe(uid_t owner, const std::string& job) {
    const UniqueFd fd = call_job(owner, job, kStatusSocket);
    if (!fd) return std::nullopt;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kAskerTimeout, sizeof kAskerTimeout);
    auto message = decode(read_to_end(fd.get(), kLongestAnswer));
    auto* states = message ? std::get_if<TaskStates>(&*message) : nullptr;
    if (states == nullptr) return std::nullopt;
    return std::move(states->states);
}

}  // namespace poe::pm
