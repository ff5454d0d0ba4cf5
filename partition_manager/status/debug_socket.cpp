// See debug_socket.hpp.
#include "partition_manager/status/debug_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kReadOfDebugger = 256 << 10;

template <class... Types>
bool is_any(const Message& message) {
    return (std::holds_alternative<Types>(message) || ...);
}

}  // namespace

DebugSocket::DebugSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                         UniqueFd first, Handlers handlers)
    : loop_(loop),
      handlers_(std::move(handlers)),
      listener_(loop, owner, job, kDebugSocket, true,
                [this](UniqueFd caller) { begin(std::move(caller)); }) {
    if (first) begin(std::move(first));
}

void DebugSocket::begin(UniqueFd caller) {
    if (connected()) {
        Channel busy(loop_, std::move(caller), UniqueFd(), {});
        busy.send(Attention{"another pdbx debugs this job already"});
        busy.drain(std::chrono::milliseconds(100));
        return;
    }
    detached_ = false;
    channel_ = std::make_unique<Channel>(
        loop_, std::move(caller), UniqueFd(),
        Channel::Handlers{
            [](const Frame&) {},
            [this](NodeIndex to, Message message) {
                if (is_any<EndDebugger>(message) && to == kAllNodes) detached_ = true;
                if (is_any<StartDebugger, DebuggerInput, DebuggerCredit, EndDebugger, ProcessTaken,
                           InterruptCommand, TasksHeld, AskTaskStates>(message))
                    handlers_.on_message(to, std::move(message));
            },
            [this](const std::string&) { handlers_.on_left(detached_); }});
    channel_->start();
    handlers_.on_arrived();
}

void DebugSocket::send(const Message& message, NodeIndex from) {
    if (connected()) channel_->send(message, from);
}

std::optional<DebugCall> DebugCall::to(uid_t owner, const std::string& job) {
    UniqueFd fd = call_job(owner, job, kDebugSocket);
    if (!fd) return std::nullopt;
    return DebugCall(std::move(fd));
}

DebugCall::DebugCall(UniqueFd fd) : fd_(std::move(fd)) {}

std::vector<std::pair<NodeIndex, Message>> DebugCall::take() {
    std::vector<std::pair<NodeIndex, Message>> messages;
    while (fd_) {
        const std::span<char> room = reader_.prepare(kReadOfDebugger);
        const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) {
            fd_.reset();
            break;
        }
        reader_.commit(static_cast<std::size_t>(count));
        Frame frame;
        FrameReader::Status status{};
        while ((status = reader_.next(frame)) == FrameReader::Status::kFrame)
            if (auto message = decode(frame.payload))
                messages.emplace_back(frame.task, std::move(*message));
        if (status == FrameReader::Status::kBad) fd_.reset();
    }
    return messages;
}

void DebugCall::send(const Message& message, NodeIndex to) {
    const std::string payload = encode(message);
    char header[kFrameHeaderBytes];
    write_frame_header(header, FrameKind::kControl, 0, to, payload.size());
    queue_.append(header, sizeof header).append(payload);
    flush();
}

void DebugCall::flush() {
    while (fd_ && !queue_.empty()) {
        const ssize_t count =
            ::send(fd_.get(), queue_.data(), queue_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) {
            queue_.erase(0, static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            queue_.clear();  // the end of the connection is about to be read
        }
    }
}

}  // namespace poe::pm
