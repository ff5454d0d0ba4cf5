// The event-loop side of frames: reading, queueing and writing. See channel.hpp.
#include "partition_manager/channel/channel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <asio/post.hpp>

#include "base/check.hpp"
#include "base/error.hpp"
#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {

namespace {

// A socketpair holds more than the pipe of a remote shell, and there may be many of the latter.
constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::size_t kReadBytesOfPipe = 64 << 10;

void adopt(asio::posix::stream_descriptor& descriptor, UniqueFd fd) {
    asio::error_code error;
    descriptor.assign(fd.get(), error);
    if (!error) {
        fd.release();
        descriptor.non_blocking(true, error);
    }
    if (error) throw Error("channel", error.value());
}

// If the peer sends text, as login scripts do, the error message quotes it.
std::string beginning_in_words(std::string_view bytes) {
    constexpr std::size_t kMost = 60;
    std::size_t length = 0;
    while (length < std::min(bytes.size(), kMost) && bytes[length] >= ' ' && bytes[length] <= '~')
        ++length;
    if (length < 4) return "";
    return "; it says: " + std::string(bytes.substr(0, length));
}

}  // namespace

Channel::Channel(asio::io_context& loop, UniqueFd in, UniqueFd out, Handlers handlers)
    : loop_(loop), in_(loop), out_(loop), duplex_(!out), handlers_(std::move(handlers)) {
    adopt(in_, std::move(in));
    if (!duplex_) adopt(out_, std::move(out));
}

Channel::~Channel() {
    close();
}

void Channel::close() {
    closed_ = true;
    *alive_ = false;
    asio::error_code ignored;
    in_.close(ignored);
    out_.close(ignored);
}

void Channel::fail(std::string why) {
    if (closed_) return;
    closed_ = true;
    asio::error_code ignored;
    in_.close(ignored);
    out_.close(ignored);
    asio::post(loop_, [this, alive = alive_, why = std::move(why)]() mutable {
        if (!*alive) return;
        const auto on_closed = handlers_.on_closed;  // it may destroy this object
        on_closed(std::move(why));
    });
}

void Channel::start() {
    wait_readable();
}

void Channel::wait_readable() {
    in_.async_wait(asio::posix::stream_descriptor::wait_read,
                   [this, alive = alive_](const asio::error_code& error) {
                       if (*alive && !closed_ && !error) read_some();
                   });
}

// Reads once and returns to the event loop, so that other descriptors are served, too.
void Channel::read_some() {
    const std::span<char> space = reader_.prepare(duplex_ ? kReadBytes : kReadBytesOfPipe);
    const ssize_t count = ::read(in_.native_handle(), space.data(), space.size());
    if (count < 0 && errno != EAGAIN && errno != EINTR)
        return fail(std::string("reading: ") + std::strerror(errno));
    if (count == 0) return fail("");
    if (count > 0) {
        reader_.commit(static_cast<std::size_t>(count));
        if (!deliver()) return;
    }
    wait_readable();
}

bool Channel::deliver() {
    const std::shared_ptr<bool> alive = alive_;
    Frame frame;
    for (;;) {
        const FrameReader::Status status = reader_.next(frame);
        if (status == FrameReader::Status::kNeedMore) return true;
        if (status == FrameReader::Status::kBad) {
            fail("the peer does not speak the channel protocol: " + reader_.error() +
                 beginning_in_words(reader_.rest()));
            return false;
        }
        if (frame.kind == FrameKind::kControl) {
            std::optional<Message> message = decode(frame.payload);
            if (!message) {
                fail("the peer sent a control message that cannot be read");
                return false;
            }
            handlers_.on_message(frame.task, std::move(*message));
        } else {
            handlers_.on_data(frame);
        }
        if (!*alive || closed_) return false;
    }
}

void Channel::send(const Message& message, NodeIndex node) {
    send_data(FrameKind::kControl, 0, node, encode(message));
}

void Channel::send_data(FrameKind kind, std::uint8_t flags, TaskId task, std::string_view payload) {
    const std::span<char> space = reserve_data(payload.size());
    std::copy(payload.begin(), payload.end(), space.begin());
    enqueue(kind, flags, task, payload.size());
}

void Channel::send_credit(FrameKind stream, std::uint64_t bytes) {
    char payload[8];
    for (int i = 0; i < 8; ++i) payload[i] = static_cast<char>(bytes >> (8 * i));
    send_data(FrameKind::kCredit, static_cast<std::uint8_t>(stream), -1, {payload, sizeof payload});
}

std::span<char> Channel::reserve_data(std::size_t size) {
    reserved_ = size;
    return {queue_.reserve(kFrameHeaderBytes + size) + kFrameHeaderBytes, size};
}

void Channel::commit_data(FrameKind kind, std::uint8_t flags, TaskId task, std::size_t used) {
    POE_CHECK(used <= reserved_, used, reserved_);
    if (used > 0) enqueue(kind, flags, task, used);
}

void Channel::enqueue(FrameKind kind, std::uint8_t flags, TaskId task, std::size_t length) {
    if (closed_) return;
    write_frame_header(queue_.reserve(kFrameHeaderBytes + length), kind, flags, task, length);
    queue_.append(kFrameHeaderBytes + length);
    was_long_ = was_long_ || queue_.size() >= kFullQueue / 2;
    schedule_write();
}

void Channel::schedule_write() {
    if (write_scheduled_ || closed_) return;
    write_scheduled_ = true;
    asio::post(loop_, [this, alive = alive_] {
        if (*alive && !closed_) write_some();
    });
}

void Channel::write_some() {
    write_scheduled_ = false;
    asio::posix::stream_descriptor& out = duplex_ ? in_ : out_;
    while (queue_.size() > 0) {
        const ssize_t count = ::write(out.native_handle(), queue_.data(), queue_.size());
        if (count > 0) {
            queue_.take(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            write_scheduled_ = true;
            out.async_wait(asio::posix::stream_descriptor::wait_write,
                           [this, alive = alive_](const asio::error_code& error) {
                               if (*alive && !closed_ && !error) write_some();
                           });
            break;
        } else if (errno != EINTR) {
            // The peer's last messages may still be unread, so reading is left to find the end.
            if (errno != EPIPE && errno != ECONNRESET)
                return fail(std::string("writing: ") + std::strerror(errno));
            queue_.take(queue_.size());
        }
    }
    if (was_long_ && queue_.size() < kFullQueue / 2) {
        was_long_ = false;
        asio::post(loop_, [this, alive = alive_] {
            if (*alive && on_room) on_room();
        });
    }
}

void Channel::drain(std::chrono::milliseconds patience) {
    if (closed_) return;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    write_some();
    pollfd wait{(duplex_ ? in_ : out_).native_handle(), POLLOUT, 0};
    while (queued_bytes() > 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return;
        const int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
        if (ready < 0 && errno == EINTR) continue;
        if (ready != 1 || (wait.revents & POLLERR) != 0) return;
        write_some();
    }
}

}  // namespace poe::pm
