// Reads pipes, cuts at line ends and sends frames; see output_stream.hpp.
#include "partition_manager/stdio/output_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace poe::pm {

namespace {

constexpr std::size_t kReadBytes = 128 << 10;

using Clock = std::chrono::steady_clock;

// Returns the number of bytes that a read would find now.
std::size_t bytes_in(int pipe) {
    int count = 0;
    return ::ioctl(pipe, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

std::size_t complete_bytes(std::string_view data) {
    if (data.empty()) return 0;
    const void* feed = ::memrchr(data.data(), '\n', data.size());
    const std::size_t lines =
        feed == nullptr
            ? 0
            : static_cast<std::size_t>(static_cast<const char*>(feed) - data.data()) + 1;
    const std::string_view rest = data.substr(lines);
    if (rest.size() < 2) return lines;
    const void* carriage_return = ::memrchr(rest.data(), '\r', rest.size() - 1);
    if (carriage_return == nullptr) return lines;
    return static_cast<std::size_t>(static_cast<const char*>(carriage_return) - data.data()) + 1;
}

OutputStream::OutputStream(asio::io_context& loop, Channel& channel, StreamWindow& window,
                           FrameKind kind, bool open_lines, bool stamps)
    : loop_(loop),
      channel_(channel),
      window_(window),
      kind_(kind),
      open_lines_(open_lines),
      stamps_(stamps),
      timer_(loop) {}

void OutputStream::add(TaskId task, UniqueFd pipe, bool discard) {
    sources_.push_back(std::make_unique<Source>(loop_, task, std::move(pipe), discard));
    sources_.back()->descriptor.non_blocking(true);
    ++open_;
    wait(*sources_.back());
}

OutputStream::Source* OutputStream::find(TaskId task) {
    const auto found =
        std::find_if(sources_.begin(), sources_.end(),
                     [task](const std::unique_ptr<Source>& one) { return one->task == task; });
    return found != sources_.end() && (*found)->descriptor.is_open() ? found->get() : nullptr;
}

void OutputStream::set_discard(TaskId task, bool discard) {
    Source* source = find(task);
    if (source == nullptr) return;
    source->discard = discard;
    if (discard && long_line_ == source) long_line_ = nullptr;
    if (discard) source->held.clear();
    resume();
}

void OutputStream::when_sent(TaskId task, std::function<void()> then) {
    Source* source = find(task);
    if (source == nullptr) return then();
    source->then = std::move(then);
    source->until_mark = bytes_in(source->descriptor.native_handle());
    if (source->until_mark == 0) reach_mark(*source);
}

void OutputStream::reach_mark(Source& source) {
    send_held(source);
    std::exchange(source.then, nullptr)();
}

void OutputStream::send_now(TaskId task) {
    Source* source = find(task);
    if (source == nullptr) return;
    std::size_t left = bytes_in(source->descriptor.native_handle());
    // While the pipe holds bytes, a read does not reach its end, which would be reported.
    while (left > 0 && may_read(*source)) {
        read_once(*source);
        left -= std::min(left, kReadBytes);
    }
}

bool OutputStream::may_read(const Source& source) const {
    if (closing_ || source.discard) return true;
    return window_.open() && !channel_.full() && (long_line_ == nullptr || long_line_ == &source);
}

void OutputStream::wait(Source& source) {
    source.descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                 [this, &source](const asio::error_code& error) {
                                     if (!error && read_once(source)) wait(source);
                                 });
}

bool OutputStream::read_once(Source& source) {
    if (!may_read(source)) {
        source.stalled = true;
        return false;
    }
    if (stamps_ && !source.discard) send_time(source.task);
    const std::size_t held = source.held.size();
    const std::span<char> space = channel_.reserve_data(held + kReadBytes);
    const ssize_t count =
        ::read(source.descriptor.native_handle(), space.data() + held, kReadBytes);
    if (count > 0) {
        std::memcpy(space.data(), source.held.data(), held);
        send(source, held, static_cast<std::size_t>(count), space);
        if (source.then) {
            source.until_mark -= std::min(source.until_mark, static_cast<std::size_t>(count));
            if (source.until_mark == 0) reach_mark(source);
        }
        return true;
    }
    channel_.commit_data(kind_, 0, source.task, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    end(source);
    return false;
}

// `space` contains the bytes held before and `count` new bytes. Sends the complete part and holds
// the rest.
void OutputStream::send(Source& source, std::size_t held_before, std::size_t count,
                        std::span<char> space) {
    if (source.discard) return channel_.commit_data(kind_, 0, source.task, 0);
    const std::size_t total = held_before + count;
    std::size_t sent = cuts_anywhere ? total : complete_bytes({space.data(), total});
    const bool had_stream = long_line_ == &source;
    if (sent > 0 && had_stream) long_line_ = nullptr;
    if (total - sent > kLongLine || long_line_ == &source) {
        long_line_ = &source;
        long_line_since_ = Clock::now();
        sent = total;
    }
    if (sent < total && (held_before == 0 || sent > 0)) source.held_since = Clock::now();
    source.held.assign(space.data() + sent, total - sent);
    const bool open = sent > 0 && space[sent - 1] != '\n';
    channel_.commit_data(kind_, open ? kFlagOpenLine : 0, source.task, sent);
    window_.spend(sent);
    if (!source.held.empty() || long_line_ != nullptr) arm_timer();
    if (had_stream && long_line_ == nullptr) resume();
}

void OutputStream::send_time(TaskId task) {
    const std::string time = pack_time(std::chrono::system_clock::now());
    channel_.send_data(kind_, kFlagTime, task, time);
    window_.spend(time.size());
}

void OutputStream::send_held(Source& source) {
    if (source.held.empty()) return;
    channel_.send_data(kind_, kFlagOpenLine, source.task, source.held);
    window_.spend(source.held.size());
    source.held.clear();
}

void OutputStream::end(Source& source) {
    send_held(source);
    if (source.then) reach_mark(source);
    asio::error_code ignored;
    source.descriptor.close(ignored);
    source.held.shrink_to_fit();
    --open_;
    if (long_line_ == &source) {
        long_line_ = nullptr;
        resume();
    }
    if (on_pipe_closed) on_pipe_closed();
}

void OutputStream::resume() {
    for (const auto& source : sources_) {
        if (!source->stalled || !may_read(*source)) continue;
        source->stalled = false;
        wait(*source);
    }
}

void OutputStream::arm_timer() {
    if (timer_armed_) return;
    timer_armed_ = true;
    timer_.expires_after(kOpenLineDelay);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) on_timer();
    });
}

void OutputStream::on_timer() {
    timer_armed_ = false;
    const Clock::time_point now = Clock::now();
    // A line that waits for the window does not count as paused.
    if (!window_.open() || channel_.full()) long_line_since_ = now;
    if (long_line_ != nullptr && now - long_line_since_ >= kLongLinePause) {
        long_line_ = nullptr;
        resume();
    }
    bool again = long_line_ != nullptr;
    for (const auto& source : sources_) {
        if (source->held.empty()) continue;
        if (!open_lines_ && source->held.back() != '\r') continue;
        if (long_line_ == nullptr && now - source->held_since >= kOpenLineDelay)
            send_held(*source);
        else
            again = true;
    }
    if (again) arm_timer();
}

void OutputStream::close_all() {
    closing_ = true;
    long_line_ = nullptr;
    for (const auto& source : sources_) {
        if (!source->descriptor.is_open()) continue;
        for (std::size_t rounds = 0; rounds < 64 && source->descriptor.is_open(); ++rounds) {
            const std::size_t before = channel_.queued_bytes();
            if (!read_once(*source)) break;
            if (channel_.queued_bytes() == before && source->held.empty()) break;
        }
        if (source->descriptor.is_open()) end(*source);
    }
}

}  // namespace poe::pm
