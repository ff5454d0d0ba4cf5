// See child_daemon.hpp.
#include "partition_manager/launch/child_daemon.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <asio/post.hpp>

#include "partition_manager/job/signal_words.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kSaidKept = 4096;
constexpr std::size_t kSaidLines = 3;

// A remote shell ends soon after its channel, and a channel soon after its shell. After this time
// the other one is ended by force.
constexpr std::chrono::seconds kOtherHalf{2};

}  // namespace

ChildDaemon::ChildDaemon(asio::io_context& loop, NodeIndex node, LaunchedDaemon daemon,
                         Handlers handlers)
    : loop_(loop),
      node_(node),
      pid_(daemon.pid),
      handlers_(std::move(handlers)),
      channel_(loop, std::move(daemon.channel), UniqueFd(),
               {[this](const Frame& frame) { handlers_.on_data(frame); },
                [this](NodeIndex from, Message message) {
                    handlers_.on_message(from, std::move(message));
                },
                [this](std::string why) { on_channel_end(std::move(why)); }}),
      said_pipe_(loop),
      timer_(loop) {
    channel_.start();
    if (!daemon.said) return;
    said_pipe_.assign(daemon.said.release());
    said_pipe_.non_blocking(true);
    read_said();
}

void ChildDaemon::read_said() {
    said_pipe_.async_wait(asio::posix::stream_descriptor::wait_read,
                          [this, alive = alive_](const asio::error_code& error) {
                              if (error || !*alive) return;
                              char buffer[1024];
                              const ssize_t count =
                                  ::read(said_pipe_.native_handle(), buffer, sizeof buffer);
                              if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
                                  return said_pipe_.close();
                              if (count > 0) said_.append(buffer, static_cast<std::size_t>(count));
                              if (said_.size() > 2 * kSaidKept)
                                  said_.erase(0, said_.size() - kSaidKept);
                              read_said();
                          });
}

std::string ChildDaemon::said() const {
    std::vector<std::string_view> lines;
    std::string_view rest = said_;
    while (!rest.empty() && lines.size() < kSaidLines) {
        const std::size_t feed = rest.find_last_of("\r\n");
        const std::string_view line = feed == std::string_view::npos ? rest : rest.substr(feed + 1);
        if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back(line);
        rest = rest.substr(0, feed == std::string_view::npos ? 0 : feed);
    }
    std::string text;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        text.append(text.empty() ? "" : " | ").append(*line);
    return text;
}

void ChildDaemon::on_channel_end(std::string why) {
    channel_over_ = true;
    why_ = std::move(why);
    if (!why_.empty()) kill();  // the channel has failed, not only ended
    end_if_over();
    hurry();
}

void ChildDaemon::on_exit(int status) {
    pid_ = 0;
    status_ = status;
    end_if_over();
    hurry();
}

void ChildDaemon::kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void ChildDaemon::let_go() {
    channel_.close();
    channel_over_ = true;
    end_if_over();
    hurry();
}

void ChildDaemon::hurry() {
    if (ended_) return;
    timer_.expires_after(kOtherHalf);
    timer_.async_wait([this, alive = alive_](const asio::error_code& error) {
        if (error || !*alive) return;
        kill();
        if (pid_ == 0) {
            channel_.close();
            channel_over_ = true;
            end_if_over();
        }
    });
}

void ChildDaemon::end_if_over() {
    if (ended_ || !channel_over_ || pid_ != 0) return;
    ended_ = true;
    timer_.cancel();
    // The last output of the remote shell may still be in its pipe.
    char buffer[1024];
    while (said_pipe_.is_open()) {
        const ssize_t count = ::read(said_pipe_.native_handle(), buffer, sizeof buffer);
        if (count <= 0) break;
        said_.append(buffer, static_cast<std::size_t>(count));
        if (said_.size() > 2 * kSaidKept) said_.erase(0, said_.size() - kSaidKept);
    }
    std::string text = !why_.empty() ? why_
                       : WIFSIGNALED(status_)
                           ? "it was killed by " + signal_in_words(WTERMSIG(status_))
                           : "it ended with code " + std::to_string(WEXITSTATUS(status_));
    if (const std::string words = said(); !words.empty()) text += "; it said: " + words;
    asio::post(loop_, [this, alive = alive_, text = std::move(text)]() mutable {
        if (!*alive) return;
        const auto on_end = handlers_.on_end;  // it may destroy this object
        on_end(std::move(text));
    });
}

}  // namespace poe::pm
