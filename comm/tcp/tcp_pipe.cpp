// Sends and receives frames over a stream socket; see tcp_pipe.hpp.
#include "comm/tcp/tcp_pipe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "base/error.hpp"

namespace poe::comm {
namespace {

constexpr auto kTokenReturn = static_cast<FrameKind>(128);
constexpr std::size_t kHeader = sizeof(FrameHeader);
constexpr std::size_t kPieces = 64;

// A frame that starts closer to the buffer's end than this is first moved to the beginning.
constexpr std::size_t kLeastRoom = 4096;

bool is_known(FrameKind kind) noexcept {
    return (kind >= FrameKind::kEager && kind <= FrameKind::kCancelled) || kind == kTokenReturn;
}

bool would_block(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// Stores the contiguous blocks of up to n bytes of a view in `pieces`. Returns how many bytes they
// have.
Bytes gather(const BufferView& view, Bytes offset, Bytes n, iovec* pieces, std::size_t room,
             std::size_t& count) noexcept {
    Bytes gathered = 0;
    while (gathered < n && count < room) {
        Bytes length = 0;
        std::byte* start = view.piece(offset + gathered, length);
        length = std::min(length, n - gathered);
        pieces[count++] = {start, length};
        gathered += length;
    }
    return gathered;
}

}  // namespace

TcpPipe::TcpPipe(TaskId peer, Bytes token_capacity, const std::string& name, TcpPipeHost& host)
    : Pipe(peer),
      host_(host),
      where_("the connection to " + name),
      fault_text_(where_ + " was lost"),
      capacity_(token_capacity) {}

void TcpPipe::open(UniqueFd fd) {
    fd_ = std::move(fd);
    in_.reset(new std::byte[kInput]);  // not zeroed, because most of it is never touched
    flush();
}

void TcpPipe::lose(const std::string& why) {
    fault_text_ = where_ + " was lost (" + why + ")";
    end();
}

void TcpPipe::break_off(const std::string& why) {
    if (fault_ != nullptr) return;
    fault_text_ = why;
    fault_ = fault_text_.c_str();
}

void TcpPipe::end() {
    if (ended_) return;
    ended_ = true;
    ended_at_ = std::chrono::steady_clock::now();
    // The other end may be waiting for the acknowledgement of its last bytes, which the system
    // would delay. The option is only an optimization, and not every stream socket supports it.
    const int on = 1;
    if (fd_) ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

const char* TcpPipe::fault() const {
    if (fault_ != nullptr) return fault_;
    if (!ended_ || has_input() || std::chrono::steady_clock::now() - ended_at_ < kFaultDelay)
        return nullptr;
    return fault_text_.c_str();
}

// --- out

ssize_t TcpPipe::send(iovec* pieces, std::size_t count) {
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    // A failed connection ends in the reading code, after the data that arrived before.
    if (!would_block(errno) && errno != EPIPE && errno != ECONNRESET && errno != ETIMEDOUT &&
        errno != ENOBUFS && errno != ENOMEM)
        break_off(where_ + " failed: " + std::strerror(errno));
    return 0;
}

void TcpPipe::ask_for_room() {
    const bool had_asked = needs_room();
    wants_room_ = true;
    if (!had_asked && is_open()) host_.want_room(*this);
}

void TcpPipe::keep(const void* bytes, std::size_t n) {
    const bool had_asked = needs_room();
    if (kept_at_ > kPrivateOut / 2) {
        kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(kept_at_));
        kept_at_ = 0;
    }
    const auto* start = static_cast<const std::byte*>(bytes);
    kept_.insert(kept_.end(), start, start + n);
    if (!had_asked && is_open()) host_.want_room(*this);
}

void TcpPipe::keep(const BufferView& payload, Bytes offset, Bytes n) {
    std::array<std::byte, 4096> packed;
    while (n > 0) {
        Bytes length = 0;
        const std::byte* piece = packed.data();
        if (payload.scattered(offset)) {
            length = std::min<Bytes>(packed.size(), n);
            payload.copy_out(offset, packed.data(), length);
        } else {
            piece = payload.piece(offset, length);
            length = std::min(length, n);
        }
        keep(piece, length);
        offset += length;
        n -= length;
    }
}

Bytes TcpPipe::keep_frame(const FrameHeader& header, const BufferView& payload, Bytes offset) {
    if (kept() + kHeader + header.length > kPrivateOut) {
        ask_for_room();
        return kNoRoom;
    }
    keep(&header, kHeader);
    keep(payload, offset, header.length);
    return header.length;
}

Bytes TcpPipe::start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                           Bytes cost) {
    Bytes& tokens_taken = tokens_taken_[index_of(header.flow)];
    if (broken() || cost > capacity_ - tokens_taken) return kNoRoom;
    if (!fd_ && !asked_for_connection_) {
        asked_for_connection_ = true;
        host_.want_connection(*this);
    }
    if (kept() > 0 && fd_) flush();
    const Bytes taken = fd_ && kept() == 0 ? send_frame(header, payload, offset)
                                           : keep_frame(header, payload, offset);
    if (taken == kNoRoom) return kNoRoom;
    tokens_taken += cost;
    rest_out_ = header.length - taken;
    if (rest_out_ == 0) return_tokens(capacity_ / 8);
    return taken;
}

// Builds a frame that returns the owed tokens of that class.
FrameHeader TcpPipe::token_return(FlowClass flow) const noexcept {
    FrameHeader header;
    header.length = static_cast<std::uint32_t>(
        std::min<Bytes>(tokens_owed_[index_of(flow)], std::numeric_limits<std::uint32_t>::max()));
    header.kind = kTokenReturn;
    header.flow = flow;
    return header;
}

// Adds up to n bytes of a view to `pieces`. Copies the bytes to the staging buffer first if their
// pieces in memory are short. Returns how many bytes were added.
Bytes TcpPipe::gather_or_pack(const BufferView& view, Bytes offset, Bytes n, iovec* pieces,
                              std::size_t& count) {
    if (n == 0 || !view.scattered(offset)) return gather(view, offset, n, pieces, kPieces, count);
    const Bytes packed = std::min(n, kStaging);
    if (!staging_) staging_.reset(new std::byte[kStaging]);
    view.copy_out(offset, staging_.get(), packed);
    pieces[count++] = {staging_.get(), packed};
    return packed;
}

// Precondition: nothing is buffered. Sends the frame directly to the socket.
Bytes TcpPipe::send_frame(const FrameHeader& header, const BufferView& payload, Bytes offset) {
    std::array<iovec, kPieces> pieces;
    std::size_t count = 0;
    std::array<FrameHeader, 2> headers{FrameHeader{}, header};
    Bytes& tokens_owed = tokens_owed_[index_of(header.flow)];
    const bool with_tokens = tokens_owed >= capacity_ / 16 && tokens_owed > 0;
    if (with_tokens) headers[0] = token_return(header.flow);
    const std::size_t front = with_tokens ? 2 * kHeader : kHeader;
    auto* const front_bytes = reinterpret_cast<std::byte*>(headers.data()) + (2 * kHeader - front);
    pieces[count++] = {front_bytes, front};
    gather_or_pack(payload, offset, header.length, pieces.data(), count);
    const auto sent = static_cast<std::size_t>(send(pieces.data(), count));
    if (sent == 0) return keep_frame(header, payload, offset);
    if (with_tokens) tokens_owed -= headers[0].length;
    if (sent < front) keep(front_bytes + sent, front - sent);
    const Bytes taken = sent < front ? 0 : sent - front;
    if (taken == header.length) {
        wants_room_ = false;
        return taken;
    }
    const Bytes rest = header.length - taken;
    if (kHeader + header.length > kPrivateOut) {
        ask_for_room();
        return taken;
    }
    keep(payload, offset + taken, rest);
    return header.length;
}

Bytes TcpPipe::continue_frame(const BufferView& payload, Bytes offset, Bytes rest) {
    if (broken() || !fd_) return 0;
    if (kept() > 0) flush();
    if (kept() > 0) return 0;
    std::array<iovec, kPieces> pieces;
    std::size_t count = 0;
    gather_or_pack(payload, offset, rest, pieces.data(), count);
    const auto sent = static_cast<std::size_t>(send(pieces.data(), count));
    rest_out_ -= sent;
    if (rest_out_ > 0) {
        ask_for_room();
    } else {
        wants_room_ = false;
        return_tokens(capacity_ / 8);
    }
    return sent;
}

bool TcpPipe::flush() {
    if (!is_open()) return false;
    wants_room_ = false;
    bool moved = false;
    if (kept() > 0) {
        iovec piece{kept_.data() + kept_at_, kept()};
        const auto sent = static_cast<std::size_t>(send(&piece, 1));
        kept_at_ += sent;
        moved = sent > 0;
        if (kept() == 0) {
            kept_.clear();
            kept_at_ = 0;
        }
    }
    if (kept() == 0) return_tokens(capacity_ / 8);
    return moved;
}

bool TcpPipe::finish_sending() {
    if (broken() || (!fd_ && kept() == 0)) return true;
    if (!fd_ || kept() > 0) return false;
    if (!finished_) ::shutdown(fd_.get(), SHUT_WR);
    finished_ = true;
    int unacknowledged = 0;
    return ::ioctl(fd_.get(), SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

void TcpPipe::give_tokens(FlowClass flow, Bytes cost) {
    tokens_owed_[index_of(flow)] += cost;
    return_tokens(capacity_ / 8);
}

// Sends only between two frames and only if nothing is buffered; then the buffer always has room
// for the token return.
void TcpPipe::return_tokens(Bytes threshold) {
    for (std::uint8_t of = 0; of < kFlowClasses; ++of) {
        Bytes& owed = tokens_owed_[of];
        while (owed > 0 && owed >= threshold && rest_out_ == 0 && kept() == 0 && is_open() &&
               !finished_) {
            FrameHeader header = token_return(static_cast<FlowClass>(of));
            owed -= header.length;
            iovec piece{&header, kHeader};
            const auto sent = static_cast<std::size_t>(send(&piece, 1));
            if (sent < kHeader)
                keep(reinterpret_cast<const std::byte*>(&header) + sent, kHeader - sent);
        }
    }
}

// --- in

// Makes room after the buffered input. Returns false if the buffer is full.
bool TcpPipe::make_room() {
    if (in_at_ == in_end_) in_at_ = in_end_ = 0;
    if (kInput - in_end_ < kLeastRoom && in_at_ > 0) {
        std::memmove(in_.get(), in_.get() + in_at_, in_end_ - in_at_);
        in_end_ -= in_at_;
        in_at_ = 0;
    }
    return in_end_ < kInput;
}

bool TcpPipe::fill() {
    if (!is_open() || !make_room()) return false;
    const ssize_t got = ::recv(fd_.get(), in_.get() + in_end_, kInput - in_end_, MSG_DONTWAIT);
    if (got > 0) {
        in_end_ += static_cast<std::size_t>(got);
        wants_input_ = false;
        return true;
    }
    if (got < 0 && would_block(errno)) return false;
    end();
    return true;
}

const FrameHeader* TcpPipe::front() {
    while (!have_header_ && fault_ == nullptr && in_end_ - in_at_ >= kHeader) {
        std::memcpy(&header_, in_.get() + in_at_, kHeader);
        in_at_ += kHeader;
        if (!is_known(header_.kind)) {
            break_off("it sent a frame of an unknown kind");
        } else if (header_.kind != kTokenReturn) {
            have_header_ = true;
            rest_in_ = header_.length;
        } else if (!is_flow_class(header_.flow) ||
                   header_.length > tokens_taken_[index_of(header_.flow)]) {
            break_off("it gave more tokens back than it had got");
        } else {
            tokens_taken_[index_of(header_.flow)] -= header_.length;
        }
    }
    return have_header_ && fault_ == nullptr ? &header_ : nullptr;
}

Bytes TcpPipe::read(const BufferView& to, Bytes offset, Bytes n) {
    n = std::min(n, rest_in_);
    const Bytes buffered = std::min<Bytes>(n, in_end_ - in_at_);
    if (buffered > 0) to.copy_in(offset, in_.get() + in_at_, buffered);
    in_at_ += buffered;
    rest_in_ -= buffered;
    if (n - buffered < kDirect || !is_open() || to.scattered(offset + buffered)) {
        wants_input_ = buffered < n;
        return buffered;
    }
    // The buffer is empty now.
    in_at_ = in_end_ = 0;
    std::array<iovec, kPieces> pieces;
    std::size_t count = 0;
    const Bytes direct =
        gather(to, offset + buffered, n - buffered, pieces.data(), kPieces - 1, count);
    if (direct == rest_in_) pieces[count++] = {in_.get(), kInput};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
    if (got <= 0) {
        if (got == 0 || !would_block(errno)) end();
        return buffered;
    }
    const Bytes straight = std::min<Bytes>(static_cast<Bytes>(got), direct);
    in_end_ = static_cast<std::size_t>(got) - straight;
    rest_in_ -= straight;
    return buffered + straight;
}

Bytes TcpPipe::skip(Bytes n) {
    const Bytes skipped = std::min<Bytes>({n, rest_in_, in_end_ - in_at_});
    in_at_ += skipped;
    rest_in_ -= skipped;
    wants_input_ = skipped < n;
    return skipped;
}

bool TcpPipe::read_whole(const BufferView& to, Bytes cost) {
    const Bytes length = header_.length;
    if (!have_header_ || rest_in_ != length || length > in_end_ - in_at_ || length > to.size())
        return false;
    to.copy_in(0, in_.get() + in_at_, length);
    in_at_ += length;
    rest_in_ = 0;
    have_header_ = false;
    give_tokens(header_.flow, cost);
    return true;
}

void TcpPipe::finish_frame() {
    POE_CHECK(have_header_ && rest_in_ == 0, rest_in_);
    have_header_ = false;
}

}  // namespace poe::comm
