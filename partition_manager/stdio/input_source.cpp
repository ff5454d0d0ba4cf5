// Peeking, reading and giving back; see input_source.hpp.
#include "partition_manager/stdio/input_source.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr std::chrono::milliseconds kAskAfter(250);

}  // namespace

bool InputSource::is_empty(int fd) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) return true;
    if ((::fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) return true;
    return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

InputSource::InputSource(asio::io_context& loop, int fd, Handlers handlers)
    : fd_(fd), handlers_(std::move(handlers)), ready_(loop), next_ask_(loop) {
    struct stat status = {};
    ::fstat(fd, &status);
    if (S_ISREG(status.st_mode)) kind_ = Kind::kFile;
    if (S_ISFIFO(status.st_mode)) kind_ = Kind::kPipe;
    if (S_ISSOCK(status.st_mode)) kind_ = Kind::kSocket;
    if (kind_ == Kind::kFile) file_start_ = ::lseek(fd, 0, SEEK_CUR);
    buffer_.resize(kChunk);
    progress_.wanted = true;
}

void InputSource::start() {
    if (kind_ == Kind::kFile) return read_file();
    if (kind_ == Kind::kPipe) {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("standard input");
        look_read_.reset(fds[0]);
        look_write_.reset(fds[1]);
    }
    UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event = {};
    event.events = EPOLLIN;
    if (!epoll) throw_errno("standard input");
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd_, &event) != 0) {
        if (errno != EPERM) return end();  // there is no descriptor, so there is nothing to read
        always_ready_ = true;
    }
    ready_.assign(epoll.release());
    watch();
}

void InputSource::read_file() {
    while (!ended_ && progress_.wanted && sent_ < progress_.delivered + kWindow) {
        const ssize_t count = ::pread(fd_, buffer_.data(), buffer_.size(),
                                      static_cast<off_t>(file_start_ + static_cast<off_t>(sent_)));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return end();
        sent_ += static_cast<std::uint64_t>(count);
        handlers_.on_data({buffer_.data(), static_cast<std::size_t>(count)});
    }
}

bool InputSource::in_foreground() const {
    const pid_t group = ::tcgetpgrp(fd_);
    return group < 0 || group == ::getpgrp();
}

void InputSource::watch() {
    if (watching_ || ended_ || !progress_.wanted) return;
    watching_ = true;
    const auto look_again = [this](const asio::error_code& error) {
        if (error) return;
        watching_ = false;
        on_ready();
    };
    if (always_ready_) {
        next_ask_.expires_after({});
        next_ask_.async_wait(look_again);
    } else {
        ready_.async_wait(asio::posix::stream_descriptor::wait_read, look_again);
    }
}

void InputSource::on_ready() {
    if (ended_ || !progress_.wanted) return;
    // Before a task has begun to read, the source is peeked at once only.
    const bool can_look = kind_ == Kind::kPipe || kind_ == Kind::kSocket;
    if (can_look && progress_.consumed == 0) {
        if (looked_ == 0 && !look()) end();
        return;
    }
    const bool first_not_read = kind_ == Kind::kOther && sent_ > 0 && progress_.consumed == 0;
    if (first_not_read || sent_ >= progress_.delivered + kWindow) {
        paused_ = true;
        return;
    }
    if (!in_foreground()) return wait_for_foreground();
    read_stream();
}

void InputSource::wait_for_foreground() {
    paused_ = true;
    next_ask_.expires_after(kAskAfter);
    next_ask_.async_wait([this](const asio::error_code& error) {
        if (error || !paused_) return;
        in_foreground() ? on_continue() : wait_for_foreground();
    });
}

// Sends a copy of what is in the pipe or socket, and leaves the data there. Returns false at the
// end of the data.
bool InputSource::look() {
    ssize_t count = 0;
    if (kind_ == Kind::kSocket) {
        count = ::recv(fd_, buffer_.data(), buffer_.size(), MSG_PEEK | MSG_DONTWAIT);
    } else {
        count = ::tee(fd_, look_write_.get(), buffer_.size(), SPLICE_F_NONBLOCK);
        if (count > 0) count = ::read(look_read_.get(), buffer_.data(), buffer_.size());
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        watch();
        return true;
    }
    if (count <= 0) return false;
    looked_ = static_cast<std::uint64_t>(count);
    sent_ += looked_;
    handlers_.on_data({buffer_.data(), static_cast<std::size_t>(count)});
    return true;
}

// Removes data from the pipe or socket that has been peeked at.
void InputSource::discard(std::uint64_t count) {
    while (count > 0) {
        const ssize_t got = ::read(fd_, buffer_.data(), std::min<std::uint64_t>(count, kChunk));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        count -= static_cast<std::uint64_t>(got);
        looked_ -= static_cast<std::uint64_t>(got);
    }
}

void InputSource::read_stream() {
    const ssize_t count = ::read(fd_, buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return watch();
    if (count <= 0) return end();
    sent_ += static_cast<std::uint64_t>(count);
    handlers_.on_data({buffer_.data(), static_cast<std::size_t>(count)});
    watch();
}

void InputSource::on_progress(const StdinProgress& progress) {
    progress_ = progress;
    if (kind_ == Kind::kFile) return read_file();
    if (progress_.consumed > 0 && looked_ > 0) {
        discard(looked_);
        watch();
    }
    if (paused_) on_continue();
}

void InputSource::on_continue() {
    if (kind_ == Kind::kFile || ended_) return;
    paused_ = false;
    watch();
}

void InputSource::finish() {
    if (kind_ == Kind::kFile) {
        const auto used = static_cast<off_t>(std::min(progress_.consumed, sent_));
        ::lseek(fd_, file_start_ + used, SEEK_SET);
    }
    asio::error_code ignored;
    ready_.close(ignored);
    next_ask_.cancel();
    ended_ = true;
}

void InputSource::end() {
    if (ended_) return;
    ended_ = true;
    handlers_.on_end();
}

}  // namespace poe::pm
