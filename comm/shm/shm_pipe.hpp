// The shared-memory pipe: one direction between two tasks of a node, in memory that both map. Apart
// from shm_device.hpp so that the protocol can be tested on any piece of memory.
//
// Memory of one direction (offsets in its pipe, see base/segment/segment_layout.hpp):
//   line 0   written by the receiver only: frames_read, bytes_read, tokens_given of each context
//   line 1   written by the sender only: bytes_written
//   lines 2, 3  a message that is handed over without the ring (handover.hpp)
//   cells    two lines each: sequence, frame header, up to 112 bytes of payload, of which 48 are in
//            the first line
//   ring     a power of two of bytes, for payloads that do not fit into a cell
//
// Frame k (from 0) uses cell k modulo the number of cells. All positions count bytes or frames
// since the beginning and never wrap (64 bits); only the sequence is 32 bits wide, and it is
// compared for equality with k+1, which a stale cell (k+1 - cells) cannot equal.
//
//   up to 112 bytes   in the cell: one line moves from core to core, or two, and nothing else
//   up to 4096 bytes  whole in the ring, from the next multiple of 64 on, written before the cell
//   more              streamed: the cell is published with the first piece in the ring, and
//                     bytes_written tells how far the sender is: the receiver copies while it
//                     writes
//
// The ring's beginning. Messages that are answered should always use the same lines, which stay in
// the caches; a ring that is walked through is longer than those. So a sender that knows the ring
// to be empty goes on at one of two places at its beginning, in turn, and says so (kFromStart,
// kSecond: both round their position up in the same way); while the receiver reads in the one, the
// sender asks for the lines of the other. It knows that the ring is empty from an alternating bit:
// a frame with bytes in the ring is marked with the other bit than the last marked one, but only
// when that one's bit has come back; the receiver puts the bit of the last marked frame that it has
// finished into every frame that it sends. The bit comes back, in order, only after that frame was
// read; if no other frame with bytes in the ring was sent meanwhile, the ring is empty. Streamed
// frames walk on: they are longer than what the caches gain (8 KiB measured 7 % slower).
//
// Order: the sender writes payload, then header, then stores `sequence` (release). The receiver
// loads `sequence` (acquire), so what it reads after that is complete. bytes_written is stored
// (release) after the bytes, loaded (acquire) before them. The receiver stores frames_read and
// bytes_read (release) after its last read of what they free; the sender loads them (acquire)
// before it writes there again. The receiver publishes its line only after a quarter of the cells,
// an eighth of the ring or an eighth of the tokens, because every such store takes the line away
// from the sender. That cannot stall: a sender without room needs at most one cell, or 4160 bytes
// of a ring of at least 32 KiB, or a quarter of the tokens, so at that moment the receiver still
// has something to read or to give back.
//
// Death: whoever dies between two instructions has either published or not. Unpublished bytes are
// never read; published ones are whole. A sender that dies in a stream leaves a frame that never
// ends and a receiver that waits until pmd ends the job. A sender that dies between publishing and
// waking leaves a receiver asleep for at most the time limit of its sleep (wait.hpp), then it finds
// the frame.
//
// Distrust: each side keeps its own positions in private memory. What the other side wrote is
// checked before use: bytes_written must lie in [own position, own position + ring], frames_read
// and tokens_given between what was last seen and what was sent, bytes_read at most at what was
// sent; a false echo harms only the messages to who sent it. The header is copied
// once and then used from the copy. A value out of bounds breaks the pipe (fault()), never the
// process. Payload may be garbage, its place and length cannot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/relax.hpp"
#include "base/segment/segment_layout.hpp"
#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"
#include "comm/matching/handover.hpp"
#include "comm/matching/pipe.hpp"
#include "comm/shm/ring_copy.hpp"

namespace poe::comm {

struct ShmCell {
    static constexpr std::size_t kInline = 112;
    static constexpr std::size_t kFirstLine = 48;  // of the payload; the rest is in the second
    alignas(2 * kLine) std::atomic<std::uint32_t> sequence;
    FrameHeader header;
    std::byte payload[kInline];
};
static_assert(sizeof(ShmCell) == 2 * kLine);

inline constexpr std::uint32_t kAhead = 4;         // cells that either side asks for early
inline constexpr std::uint32_t kStreamFrames = 8;  // so many frames without an answer are a stream
inline constexpr Bytes kWholeFrame = 4096;         // longer payloads are streamed
inline constexpr Bytes kSecondPlace = 8192;        // of the two at the ring's beginning

// In FrameHeader::device of a frame in a cell.
inline constexpr std::uint16_t kFromStart = 1;  // its payload starts at the first place
inline constexpr std::uint16_t kMarked = 2;     // kMark counts
inline constexpr std::uint16_t kMark = 4;
inline constexpr std::uint16_t kEcho = 8;     // the mark of the other direction that is finished
inline constexpr std::uint16_t kSecond = 16;  // with kFromStart: at the second

struct ShmControl {
    alignas(kLine) std::atomic<std::uint64_t> frames_read;
    std::atomic<std::uint64_t> bytes_read;
    std::atomic<std::uint64_t> tokens_given[kContexts];
    alignas(kLine) std::atomic<std::uint64_t> bytes_written;
    ShmHandover handover;
};
static_assert(sizeof(ShmControl) == 4 * kLine);

// Where one direction lies and how big it is. The memory must be zero at the start and outlive both
// ends. `reserve` is called with a growing size before ring bytes up to there are first touched; it
// throws Error when they cannot be had.
struct ShmPipeMemory {
    static ShmPipeMemory at(std::byte* start, Bytes control_bytes, Bytes ring_bytes,
                            Bytes token_capacity, std::function<void(Bytes ring_size)> reserve);

    // The first position from `position` on where one of the two places begins, at the ring's
    // beginning.
    std::uint64_t next_place(std::uint64_t position, bool second) const noexcept {
        return ((position + ring_bytes - 1) & ~(ring_bytes - 1)) + (second ? kSecondPlace : 0);
    }

    ShmControl* control = nullptr;
    ShmCell* cells = nullptr;
    std::byte* ring = nullptr;
    std::uint32_t cell_count = 0;
    Bytes ring_bytes = 0;
    Bytes token_capacity = 0;
    std::function<void(Bytes ring_size)> reserve;
};

// The cell `ahead` places behind cell `index`.
inline ShmCell& cell_ahead(const ShmPipeMemory& memory, std::uint32_t index,
                           std::uint32_t ahead) noexcept {
    const std::uint32_t at = index + ahead;
    return memory.cells[at < memory.cell_count ? at : at - memory.cell_count];
}

// The first position of a new cache line from `position` on.
constexpr std::uint64_t next_line(std::uint64_t position) noexcept {
    return (position + kLine - 1) & ~static_cast<std::uint64_t>(kLine - 1);
}

// The sending end. One thread. Never blocks.
class ShmSender {
  public:
    explicit ShmSender(ShmPipeMemory memory) : memory_(std::move(memory)) {}

    // As in Pipe.
    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) {
        const bool small = header.length <= ShmCell::kInline && payload.contiguous();
        if (small && frames_sent_ - frames_read_ < memory_.cell_count &&
            tokens_[index_of(header.context)].left(memory_) >= cost && fault_ == nullptr)
            [[likely]] {
            copy_small(memory_.cells[next_cell_].payload, payload.start() + offset, header.length);
            tokens_[index_of(header.context)].taken += cost;
            publish(header);
            return header.length;
        }
        return start_slowly(header, payload, offset, cost);
    }
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest);
    const char* fault() const noexcept { return fault_; }

    // What every frame from now on echoes: of the receiver of the other direction.
    void set_echo(std::uint16_t echo) noexcept { echo_ = echo; }
    // The `device` of a frame of the other direction.
    void take_echo(std::uint16_t device) noexcept {
        if (!mark_under_way_ || ((device & kEcho) != 0) != mark_) return;
        mark_under_way_ = false;
        ring_is_empty_ = marked_last_;
    }

  private:
    Bytes start_slowly(const FrameHeader& header, const BufferView& payload, Bytes offset,
                       Bytes cost);
    bool has_tokens(Context context, Bytes cost) noexcept;
    bool has_cell() noexcept;
    Bytes ring_room(Bytes wanted, std::uint64_t position) noexcept;
    void look_at_receiver() noexcept;
    void copy_to_ring(std::uint64_t position, const BufferView& payload, Bytes offset, Bytes n);
    void publish(const FrameHeader& header, unsigned flags = 0) noexcept {
        ShmCell& cell = memory_.cells[next_cell_];
        cell.header = header;
        cell.header.device = static_cast<std::uint16_t>(echo_ | flags);
        ++frames_sent_;
        if (++next_cell_ == memory_.cell_count) next_cell_ = 0;
        cell.sequence.store(static_cast<std::uint32_t>(frames_sent_), std::memory_order_release);
        ShmCell& later = cell_ahead(memory_, next_cell_, kAhead);
        fetch_for_writing(&later);
        if (header.length > ShmCell::kFirstLine)
            fetch_for_writing(later.payload + ShmCell::kFirstLine);
    }

    ShmPipeMemory memory_;
    std::uint64_t frames_sent_ = 0;
    std::uint32_t next_cell_ = 0;
    std::uint64_t write_at_ = 0;  // ring position
    struct Tokens {
        std::uint64_t taken = 0;
        std::uint64_t given = 0;  // back, as last seen and checked

        Bytes left(const ShmPipeMemory& memory) const noexcept {
            return memory.token_capacity - (taken - given);
        }
    };
    Tokens tokens_[kContexts];
    std::uint16_t echo_ = 0;
    bool mark_ = false;            // of the last marked frame
    bool mark_under_way_ = false;  // has not come back
    bool marked_last_ = false;     // the last frame with bytes in the ring is the marked one
    bool ring_is_empty_ = false;
    bool second_place_ = false;  // the last frame of an empty ring was put there
    // Last seen and checked.
    std::uint64_t frames_read_ = 0;
    std::uint64_t bytes_read_ = 0;  // or known from an echo
    Bytes reserved_ = 0;
    RingCopy copy_;
    const char* fault_ = nullptr;
};

// The receiving end. One thread. Never blocks.
class ShmReceiver {
  public:
    explicit ShmReceiver(ShmPipeMemory memory) : memory_(std::move(memory)) {}

    // Cheap look: a new frame, or more of the one being received.
    bool has_input() const noexcept {
        if (!in_frame_) {
            return memory_.cells[next_cell_].sequence.load(std::memory_order_relaxed) ==
                       static_cast<std::uint32_t>(frames_finished_ + 1) &&
                   fault_ == nullptr;
        }
        return !streamed_ ||
               memory_.control->bytes_written.load(std::memory_order_relaxed) != read_at_;
    }

    // As in Pipe.
    const FrameHeader* front() noexcept {
        if (in_frame_) return &header_;
        const ShmCell& cell = memory_.cells[next_cell_];
        if (cell.sequence.load(std::memory_order_acquire) !=
                static_cast<std::uint32_t>(frames_finished_ + 1) ||
            fault_ != nullptr) {
            return nullptr;
        }
        header_ = cell.header;
        in_frame_ = true;
        consumed_ = 0;
        streamed_ = header_.length > kWholeFrame;
        if (header_.length > ShmCell::kInline) start_in_ring();
        return &header_;
    }
    bool read_whole(const BufferView& to, Bytes cost) {
        const Bytes length = header_.length;
        if (streamed_ || length > to.size() || !to.contiguous()) return false;
        if (length <= ShmCell::kInline) {
            copy_small(to.start(), memory_.cells[next_cell_].payload, length);
        } else if (consume(&to, 0, length) != length) {
            return false;
        }
        in_frame_ = false;
        take_mark();
        tokens_returned_[index_of(header_.context)] += cost;
        ++frames_finished_;
        if (++next_cell_ == memory_.cell_count) next_cell_ = 0;
        if (++in_row_ >= kStreamFrames) prefetch_cells();
        publish_if(due());
        return true;
    }
    Bytes read(const BufferView& to, Bytes offset, Bytes n) { return consume(&to, offset, n); }
    Bytes skip(Bytes n) { return consume(nullptr, 0, n); }
    void finish_frame() noexcept;
    void give_tokens(Context context, Bytes cost) noexcept;
    const char* fault() const noexcept { return fault_; }

    // A frame was sent the other way.
    void answered() noexcept { in_row_ = 0; }
    std::uint16_t echo() const noexcept { return echo_; }

    // Whether line 0 was stored since the last call, so that a sender may be waiting for it.
    bool take_published() noexcept { return std::exchange(published_, false); }

  private:
    void take_mark() noexcept {
        if ((header_.device & kMarked) != 0) echo_ = (header_.device & kMark) != 0 ? kEcho : 0;
    }
    void start_in_ring() noexcept {
        std::uint64_t start = next_line(read_at_);
        if ((header_.device & kFromStart) != 0) {
            start = memory_.next_place(read_at_, (header_.device & kSecond) != 0);
            // What was left out was not read.
            bytes_published_ += start - read_at_;
        }
        read_at_ = start;
    }
    Bytes consume(const BufferView* to, Bytes offset, Bytes n);
    Bytes arrived(Bytes wanted) noexcept;
    bool tokens_due(Context context) const noexcept {
        const std::size_t of = index_of(context);
        return tokens_returned_[of] - tokens_published_[of] >= memory_.token_capacity / 8;
    }
    bool due() const noexcept {
        return frames_finished_ - frames_published_ >= memory_.cell_count / 4 ||
               tokens_due(Context::kUser) || tokens_due(Context::kCollective);
    }
    // What a stream's sender has written meanwhile comes in several lines at once.
    void prefetch_cells() const noexcept {
        for (std::uint32_t i = 1; i < kAhead; ++i)
            __builtin_prefetch(&cell_ahead(memory_, next_cell_, i));
    }
    void publish_if(bool due) noexcept {
        if (due) [[unlikely]]
            publish();
    }
    void publish() noexcept;

    ShmPipeMemory memory_;
    std::uint64_t frames_finished_ = 0;
    std::uint32_t next_cell_ = 0;
    std::uint64_t read_at_ = 0;  // ring position
    std::uint64_t tokens_returned_[kContexts] = {};
    // The frame being received.
    bool in_frame_ = false;
    bool streamed_ = false;
    FrameHeader header_;
    Bytes consumed_ = 0;
    std::uint16_t echo_ = 0;    // of the last marked frame
    std::uint32_t in_row_ = 0;  // short frames since answered()
    // Last published.
    std::uint64_t frames_published_ = 0;
    std::uint64_t bytes_published_ = 0;
    std::uint64_t tokens_published_[kContexts] = {};
    Bytes reserved_ = 0;
    bool published_ = false;
    const char* fault_ = nullptr;
};

}  // namespace poe::comm
