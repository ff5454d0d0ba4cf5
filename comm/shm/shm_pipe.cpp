// Both ends of the shared-memory pipe; shm_pipe.hpp has the protocol and its proofs.
#include "comm/shm/shm_pipe.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace poe::comm {
namespace {

// The pieces of a stream: the first is small, so that the receiver starts early; later ones are
// larger, to reduce traffic on the line of bytes_written.
constexpr Bytes kFirstPiece = 4096;
constexpr Bytes kLargestPiece = Bytes{16} * 1024;
constexpr Bytes kWorthPrefetch = 2048;
constexpr Bytes kReserveStep = Bytes{64} * 1024;

// Reserves the ring's memory up to `end`, an offset from its beginning.
inline void reserve_up_to(const ShmPipeMemory& memory, Bytes& reserved, std::uint64_t end) {
    if (reserved == memory.ring_bytes || end <= reserved) [[likely]]
        return;
    const Bytes wanted =
        std::min(memory.ring_bytes, (end + kReserveStep - 1) / kReserveStep * kReserveStep);
    if (memory.reserve) memory.reserve(wanted);
    reserved = wanted;
}

}  // namespace

ShmPipeMemory ShmPipeMemory::at(std::byte* start, Bytes control_bytes, Bytes ring_bytes,
                                Bytes token_capacity, std::function<void(Bytes)> reserve) {
    POE_CHECK((ring_bytes & (ring_bytes - 1)) == 0 && ring_bytes >= 8 * kWholeFrame, ring_bytes);
    ShmPipeMemory memory;
    memory.control = reinterpret_cast<ShmControl*>(start);
    memory.cells = reinterpret_cast<ShmCell*>(start + sizeof(ShmControl));
    memory.ring = start + control_bytes;
    memory.cell_count =
        static_cast<std::uint32_t>((control_bytes - sizeof(ShmControl)) / sizeof(ShmCell));
    memory.ring_bytes = ring_bytes;
    memory.token_capacity = token_capacity;
    memory.reserve = std::move(reserve);
    return memory;
}

// --- sender

void ShmSender::look_at_receiver() noexcept {
    const ShmControl& control = *memory_.control;
    const std::uint64_t frames = control.frames_read.load(std::memory_order_acquire);
    const std::uint64_t bytes = control.bytes_read.load(std::memory_order_acquire);
    bool possible = frames >= frames_read_ && frames <= frames_sent_ && bytes <= write_at_;
    for (std::size_t of = 0; of < kFlowClasses; ++of) {
        const std::uint64_t given = control.tokens_given[of].load(std::memory_order_acquire);
        possible = possible && given >= tokens_[of].given && given <= tokens_[of].taken;
        if (possible) tokens_[of].given = given;
    }
    if (!possible) [[unlikely]] {
        fault_ = "it says that it has received what was never sent";
        return;
    }
    frames_read_ = frames;
    bytes_read_ = std::max(bytes, bytes_read_);
}

inline bool ShmSender::has_cell() noexcept {
    if (frames_sent_ - frames_read_ < memory_.cell_count) [[likely]]
        return true;
    look_at_receiver();
    return frames_sent_ - frames_read_ < memory_.cell_count;
}

// Returns the free ring bytes from `position`. Reads the receiver's line only if fewer than
// `wanted` are known to be free.
inline Bytes ShmSender::ring_room(Bytes wanted, std::uint64_t position) noexcept {
    const std::uint64_t limit = memory_.ring_bytes;
    Bytes used = position - bytes_read_;
    if (used + wanted <= limit) [[likely]]
        return limit - used;
    look_at_receiver();
    used = position - bytes_read_;
    return used < limit ? limit - used : 0;
}

void ShmSender::copy_to_ring(std::uint64_t position, const BufferView& payload, Bytes offset,
                             Bytes n, bool fetched) {
    const Bytes inside = position & (memory_.ring_bytes - 1);
    const Bytes first = std::min(n, memory_.ring_bytes - inside);
    reserve_up_to(memory_, reserved_, inside + first);
    copy_.gather(memory_.ring + inside, payload, offset, first, fetched);
    if (first < n) copy_.gather(memory_.ring, payload, offset + first, n - first, fetched);
}

Bytes ShmSender::start_slowly(const FrameHeader& header, const BufferView& payload, Bytes offset,
                              Bytes cost) {
    if (!has_cell() || !has_tokens(header.flow, cost) || fault_ != nullptr) return Pipe::kNoRoom;
    const Bytes length = header.length;
    if (length <= ShmCell::kInline) {
        payload.copy_out(offset, memory_.cells[next_cell_].payload, length);
        tokens_[index_of(header.flow)].taken += cost;
        publish(header);
        return length;
    }
    std::uint64_t start = next_line(write_at_);
    unsigned flags = 0;
    if (ring_is_empty_ && length <= kWholeFrame) {
        second_place_ = !second_place_;
        flags |= kFromStart | (second_place_ ? kSecond : 0U);
        start = write_at_ = bytes_read_ = memory_.next_place(write_at_, second_place_);
    }
    const Bytes piece = std::min(length, length <= kWholeFrame ? kWholeFrame : kFirstPiece);
    if (ring_room(piece, start) < piece || fault_ != nullptr) return Pipe::kNoRoom;
    copy_to_ring(start, payload, offset, piece, (flags & kFromStart) != 0);
    tokens_[index_of(header.flow)].taken += cost;
    write_at_ = start + piece;
    if (length > kWholeFrame) {
        memory_.control->bytes_written.store(write_at_, std::memory_order_release);
    }
    ring_is_empty_ = false;
    marked_last_ = !mark_under_way_;
    if (marked_last_) {
        mark_under_way_ = true;
        mark_ = !mark_;
        flags |= kMarked | (mark_ ? kMark : 0U);
    }
    publish(header, flags);
    // The next message probably has the same length and is sent after an answer, so its lines are
    // prefetched while the receiver processes this message.
    if ((flags & kFromStart) != 0 && copy_.takes_lines(piece)) {
        const std::byte* other = memory_.ring + (second_place_ ? 0 : kSecondPlace);
        for (Bytes at = 0; at < piece; at += kLine) fetch_for_writing(other + at);
    }
    return piece;
}

Bytes ShmSender::continue_frame(const BufferView& payload, Bytes offset, Bytes rest) {
    const Bytes wanted = std::min({rest, kLargestPiece, memory_.ring_bytes / 4});
    const Bytes piece = std::min(wanted, ring_room(wanted, write_at_));
    if (piece == 0 || fault_ != nullptr) return 0;
    copy_to_ring(write_at_, payload, offset, piece, false);
    write_at_ += piece;
    memory_.control->bytes_written.store(write_at_, std::memory_order_release);
    return piece;
}

bool ShmSender::has_tokens(FlowClass flow, Bytes cost) noexcept {
    const Tokens& tokens = tokens_[index_of(flow)];
    if (tokens.left(memory_) >= cost) return true;
    look_at_receiver();
    return tokens.left(memory_) >= cost;
}

// --- receiver

// Returns how many of the next `wanted` ring bytes have been written.
inline Bytes ShmReceiver::arrived(Bytes wanted) noexcept {
    if (!streamed_) return wanted;
    const std::uint64_t written = memory_.control->bytes_written.load(std::memory_order_acquire);
    const Bytes ahead = written - read_at_;
    if (ahead > memory_.ring_bytes) [[unlikely]] {
        fault_ = "its count of bytes written is impossible";
        return 0;
    }
    return std::min(wanted, ahead);
}

Bytes ShmReceiver::consume(const BufferView* to, Bytes offset, Bytes n) {
    const Bytes wanted = std::min<Bytes>(n, header_.length - consumed_);
    if (header_.length <= ShmCell::kInline) {
        const std::byte* from = memory_.cells[next_cell_].payload + consumed_;
        if (to != nullptr) to->copy_in(offset, from, wanted);
        consumed_ += wanted;
        return wanted;
    }
    const Bytes got = arrived(wanted);
    if (got == 0) return 0;
    const Bytes inside = read_at_ & (memory_.ring_bytes - 1);
    const Bytes first = std::min(got, memory_.ring_bytes - inside);
    reserve_up_to(memory_, reserved_, inside + first);
    if (to != nullptr) {
        // Prefetches, because a long copy would otherwise fetch its lines one after the other.
        if (first >= kWorthPrefetch)
            for (Bytes at = 0; at < std::min(first, kWholeFrame); at += kLine)
                __builtin_prefetch(memory_.ring + inside + at);
        if (!streamed_ && to->contiguous()) {
            copy_medium(to->start() + offset, memory_.ring + inside, first);
        } else {
            to->copy_in(offset, memory_.ring + inside, first);
        }
        if (first < got) to->copy_in(offset + first, memory_.ring, got - first);
    }
    read_at_ += got;
    consumed_ += got;
    publish_if(read_at_ - bytes_published_ >= memory_.ring_bytes / 8);
    return got;
}

void ShmReceiver::finish_frame() noexcept {
    POE_CHECK(in_frame_ && consumed_ == header_.length, in_frame_, consumed_, header_.length);
    in_frame_ = false;
    take_mark();
    ++frames_finished_;
    if (++next_cell_ == memory_.cell_count) next_cell_ = 0;
    publish_if(due());
}

void ShmReceiver::give_tokens(FlowClass flow, Bytes cost) noexcept {
    tokens_returned_[index_of(flow)] += cost;
    publish_if(due());
}

void ShmReceiver::publish() noexcept {
    ShmControl& control = *memory_.control;
    frames_published_ = frames_finished_;
    bytes_published_ = read_at_;
    control.frames_read.store(frames_published_, std::memory_order_release);
    control.bytes_read.store(bytes_published_, std::memory_order_release);
    for (std::size_t of = 0; of < kFlowClasses; ++of) {
        tokens_published_[of] = tokens_returned_[of];
        control.tokens_given[of].store(tokens_published_[of], std::memory_order_release);
    }
    published_ = true;
}

}  // namespace poe::comm
