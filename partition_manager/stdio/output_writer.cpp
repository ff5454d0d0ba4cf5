// The writer's thread; see output_writer.hpp.
#include "partition_manager/stdio/output_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/open_lines.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kWriteBytes = 256 << 10;

}  // namespace

OutputWriter::OutputWriter(int fd, std::function<void()> on_progress)
    : fd_(fd), on_progress_(std::move(on_progress)) {}

OutputWriter::~OutputWriter() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void OutputWriter::announce() {
    if (error_ != 0) pending_.clear();
    if (pending_.empty()) return;
    if (!thread_.joinable()) {
        // Only the event loop's thread handles signals.
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread([this] { work(); });
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    } else if (idle_) {
        changed_.notify_all();
    }
}

std::size_t OutputWriter::backlog() const {
    const std::lock_guard lock(mutex_);
    return pending_.size() + writing_;
}

int OutputWriter::error() const {
    const std::lock_guard lock(mutex_);
    return error_;
}

bool OutputWriter::wait_until_below(std::size_t limit, const std::function<bool()>& stop) {
    std::unique_lock lock(mutex_);
    while (error_ == 0 && pending_.size() + writing_ > limit) {
        changed_.wait_for(lock, std::chrono::milliseconds(20));
        lock.unlock();
        if (stop()) return false;
        lock.lock();
    }
    return true;
}

void OutputWriter::abandon() {
    if (thread_.joinable()) thread_.detach();
}

void OutputWriter::work() {
    std::string text;
    std::unique_lock lock(mutex_);
    for (;;) {
        idle_ = true;
        changed_.wait(lock, [this] { return stop_ || !pending_.empty(); });
        idle_ = false;
        if (pending_.empty()) return;
        text.clear();
        text.swap(pending_);
        for (std::size_t at = 0; at < text.size() && error_ == 0;) {
            writing_ = text.size() - at;
            lock.unlock();
            const bool written = write_piece(text, at);
            const int cause = errno;
            lock.lock();
            if (!written) error_ = cause;
            writing_ = error_ != 0 ? 0 : text.size() - at;
            changed_.notify_all();
            lock.unlock();
            on_progress_();
            lock.lock();
        }
        if (error_ != 0) {
            pending_.clear();
            return;
        }
    }
}

// Makes one write. Returns false if the output is broken; errno then has the cause.
bool OutputWriter::write_piece(const std::string& text, std::size_t& at) {
    const ssize_t count = ::write(fd_, text.data() + at, std::min(text.size() - at, kWriteBytes));
    if (count >= 0) {
        at += static_cast<std::size_t>(count);
        if (count > 0) note_open_line(fd_, text[at - 1] != '\n');
        // Another process has made the descriptor non-blocking.
    } else if (errno == EAGAIN) {
        pollfd wait{fd_, POLLOUT, 0};
        ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
        return false;
    }
    return true;
}

}  // namespace poe::pm
