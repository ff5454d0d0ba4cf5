// Writes the pipes at their readers' pace; see stdin_feeder.hpp.
#include "partition_manager/stdio/stdin_feeder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace poe::pm {

StdinFeeder::StdinFeeder(asio::io_context& loop, std::function<void(const StdinProgress&)> report)
    : loop_(loop), report_(std::move(report)), timer_(loop) {}

void StdinFeeder::add(TaskId task, UniqueFd pipe, bool terminal) {
    readers_.push_back(std::make_unique<Reader>(loop_, task, std::move(pipe), terminal));
    readers_.back()->descriptor.non_blocking(true);
}

void StdinFeeder::on_data(std::string_view bytes) {
    buffer_.append(bytes);
    if (!bytes.empty()) in_line_ = bytes.back() != '\n';
    for (std::size_t i = 0; i < readers_.size(); ++i) feed(*readers_[i]);
    trim_and_report();
    if (consumed_ == 0) watch_first_bytes();
}

void StdinFeeder::on_end() {
    ended_ = true;
    for (std::size_t i = 0; i < readers_.size(); ++i) feed(*readers_[i]);
}

void StdinFeeder::feed(Reader& reader) {
    const std::uint64_t end = base_ + buffer_.size();
    while (reader.descriptor.is_open() && reader.written < end) {
        const std::size_t at = static_cast<std::size_t>(reader.written - base_);
        const ssize_t count =
            ::write(reader.descriptor.native_handle(), buffer_.data() + at, buffer_.size() - at);
        if (count > 0) {
            reader.written += static_cast<std::uint64_t>(count);
        } else if (errno == EAGAIN) {
            if (reader.waiting) return;
            reader.waiting = true;
            reader.descriptor.async_wait(asio::posix::stream_descriptor::wait_write,
                                         [this, &reader](const asio::error_code& error) {
                                             if (error) return;
                                             reader.waiting = false;
                                             feed(reader);
                                             trim_and_report();
                                         });
            return;
        } else if (errno != EINTR) {
            return close(reader);  // EPIPE: the task has closed its standard input
        }
    }
    if (ended_ && reader.descriptor.is_open()) end_of_input(reader);
}

// A terminal does not report how much of its input has been read, so everything written counts as
// consumed.
void StdinFeeder::note_consumed(Reader& reader) {
    if (reader.terminal) {
        consumed_ = std::max(consumed_, reader.written);
        return;
    }
    const int fd = reader.unread ? reader.unread.get() : reader.descriptor.native_handle();
    int unread = 0;
    if (fd < 0 || ::ioctl(fd, FIONREAD, &unread) != 0) return;
    const auto left = static_cast<std::uint64_t>(std::max(unread, 0));
    consumed_ = std::max(consumed_, reader.written - std::min(left, reader.written));
}

// The task must see the end of input, and the daemon must still see what the task leaves unread.
// Therefore the pipe's write side is closed, and its read side is kept instead.
void StdinFeeder::end_of_input(Reader& reader) {
    if (reader.terminal) {
        // Ctrl-D completes the line that it is on. At the start of a line it is the end of input.
        constexpr char kCtrlD[] = {4, 4};
        if (std::exchange(reader.told_end, true)) return;
        static_cast<void>(!::write(reader.descriptor.native_handle(), kCtrlD, in_line_ ? 2 : 1));
        return;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(reader.descriptor.native_handle());
    reader.unread.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    asio::error_code ignored;
    reader.descriptor.close(ignored);
}

void StdinFeeder::close(Reader& reader) {
    note_consumed(reader);
    reader.unread.reset();
    asio::error_code ignored;
    reader.descriptor.close(ignored);
}

void StdinFeeder::on_task_exit(TaskId task) {
    for (const auto& reader : readers_)
        if (reader->task == task) close(*reader);
    trim_and_report();
}

void StdinFeeder::trim_and_report() {
    StdinProgress now;
    now.wanted = false;
    now.delivered = base_ + buffer_.size();
    for (const auto& reader : readers_) {
        note_consumed(*reader);
        if (!reader->descriptor.is_open()) continue;
        now.wanted = true;
        now.delivered = std::min(now.delivered, reader->written);
    }
    now.consumed = consumed_;
    if (now.delivered > base_) {
        buffer_.erase(0, static_cast<std::size_t>(now.delivered - base_));
        base_ = now.delivered;
    }
    if (now.delivered == reported_.delivered && now.consumed == reported_.consumed &&
        now.wanted == reported_.wanted)
        return;
    reported_ = now;
    report_(now);
}

void StdinFeeder::watch_first_bytes() {
    if (watching_) return;
    watching_ = true;
    timer_.expires_after(pause_);
    pause_ = std::min(2 * pause_, kMaxPause);
    timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        watching_ = false;
        trim_and_report();
        if (consumed_ == 0 && reported_.wanted) watch_first_bytes();
    });
}

}  // namespace poe::pm
