// The shared-memory pipe: one direction between two tasks of a node, in memory that both map. It is
// separate from shm_device.hpp so that the protocol can be tested on any piece of memory.
//
// Memory of one direction (offsets in its pipe, see base/segment/segment_layout.hpp):
//   line 0      written by the receiver only: frames_read, bytes_read, tokens_given per class
//   line 1      written by the sender only: bytes_written
//   lines 2, 3  a message that is handed over without the ring (handover.hpp)
//   cells       two lines each: sequence, frame header, up to 108 bytes of payload, of which 44
//               are in the first line
//   ring        payloads that do not fit into a cell; its size is a power of two bytes
//
// Frame k (from 0) uses cell k modulo the number of cells. All positions count bytes or frames
// since the start; they are 64 bits wide and never wrap. Only the sequence has 32 bits. It is
// compared for equality with k+1, which a stale cell (k+1 - cells) cannot equal.
//
//   payload           place
//   up to 108 bytes   in the cell; only one line, or two, move from core to core
//   up to 4096 bytes  in the ring, from the next multiple of 64, written before the cell
//   longer            pipelined ("streamed"): the cell is published with the first piece in the
//                     ring; bytes_written publishes the sender's progress, so the receiver copies
//                     while the sender writes
//
// Reuse of the ring's beginning. Messages that are answered should always use the same lines,
// because these stay in the caches; the whole ring is larger than the caches.
//   1. A sender that knows that the ring is empty continues at one of two places at the ring's
//      beginning, alternately. It sets kFromStart, and kSecond for the second place. Both sides
//      round their position up in the same way.
//   2. While the receiver reads at one place, the sender prefetches the lines of the other.
//   3. An alternating bit tells the sender that the ring is empty. A frame with bytes in the ring
//      is marked with the opposite bit of the last marked frame, but only if the bit of that frame
//      has come back.
//   4. The receiver puts the bit of the last marked frame that it has finished into every frame
//      that it sends.
//   5. The bit thus comes back, in order, only after that frame was read. If no other frame with
//      bytes in the ring was sent meanwhile, the ring is empty.
// Streamed frames do not return to the beginning, because reuse no longer pays at such lengths
// (8 KiB measured 7 % slower).
//
// Memory order:
//   - The sender writes the payload, then the header, then stores `sequence` (release). The
//     receiver loads `sequence` (acquire), so everything that it reads afterwards is complete.
//   - bytes_written is stored (release) after the bytes, and loaded (acquire) before them.
//   - The receiver stores frames_read and bytes_read (release) after its last read of the memory
//     that they free. The sender loads them (acquire) before it writes there again.
//
// The receiver publishes its line only after a quarter of the cells, an eighth of the ring or an
// eighth of the tokens, because every such store takes the line away from the sender. This cannot
// deadlock: a sender without room needs at most one cell, or 4160 bytes of a ring of at least 32
// KiB, or a quarter of the tokens. The receiver then still has something to read or to give back.
//
// If a task dies: it has either published or not. Unpublished bytes are never read; published ones
// are complete. A sender that dies in a stream leaves a frame that never ends and a receiver that
// waits until pmd ends the job. A sender that dies between publishing and the wake-up leaves a
// receiver asleep for at most the time limit of its sleep (wait.hpp); then the receiver finds the
// frame.
//
// Validation: each side keeps its own positions in private memory and checks what the other side
// wrote before using it:
//   bytes_written              in [own position, own position + ring]
//   frames_read, tokens_given  between the last value seen and what was sent
//   bytes_read                 at most what was sent
//   echo (step 4)              not checked; a false one harms only the messages to its sender
// The header is copied once and then used from the copy. An invalid value breaks the pipe
// (fault()), never the process. A payload may be garbage; its place and length cannot.
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
    static constexpr std::size_t kInline = 108;
    static constexpr std::size_t kFirstLine = 44;  // payload bytes in the first line
    alignas(2 * kLine) std::atomic<std::uint32_t> sequence;
    FrameHeader header;
    std::byte payload[kInline];
};
static_assert(sizeof(ShmCell) == 2 * kLine);

inline constexpr std::uint32_t kAhead = 4;         // cells that either side prefetches
inline constexpr std::uint32_t kStreamFrames = 8;  // after this many unanswered frames, more follow
inline constexpr Bytes kWholeFrame = 4096;         // longer payloads are streamed
inline constexpr Bytes kSecondPlace = 8192;  // offset of the second place at the ring's beginning

// Flags in FrameHeader::device of a frame in a cell.
inline constexpr std::uint16_t kFromStart = 1;  // the payload starts at the first place
inline constexpr std::uint16_t kMarked = 2;     // kMark is valid
inline constexpr std::uint16_t kMark = 4;
inline constexpr std::uint16_t kEcho = 8;     // bit of the last finished marked frame
inline constexpr std::uint16_t kSecond = 16;  // with kFromStart: at the second place

struct ShmControl {
    alignas(kLine) std::atomic<std::uint64_t> frames_read;
    std::atomic<std::uint64_t> bytes_read;
    std::atomic<std::uint64_t> tokens_given[kFlowClasses];
    alignas(kLine) std::atomic<std::uint64_t> bytes_written;
    ShmHandover handover;
};
static_assert(sizeof(ShmControl) == 4 * kLine);

// The memory of one direction and its size. It must be zero at the start and outlive both ends.
// `reserve` is called with an increasing size before ring bytes up to that size are first touched.
// It throws Error if the memory cannot be reserved.
struct ShmPipeMemory {
    static ShmPipeMemory at(std::byte* start, Bytes control_bytes, Bytes ring_bytes,
                            Bytes token_capacity, std::function<void(Bytes ring_size)> reserve);

    // Returns the first position from `position` that is at the start of the ring, or at its second
    // place.
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

// Returns the cell `ahead` places after cell `index`.
inline ShmCell& cell_ahead(const ShmPipeMemory& memory, std::uint32_t index,
                           std::uint32_t ahead) noexcept {
    const std::uint32_t at = index + ahead;
    return memory.cells[at < memory.cell_count ? at : at - memory.cell_count];
}

// Returns the first position from `position` that starts a cache line.
constexpr std::uint64_t next_line(std::uint64_t position) noexcept {
    return (position + kLine - 1) & ~static_cast<std::uint64_t>(kLine - 1);
}

// The sending end. For one thread. Never blocks.
class ShmSender {
  public:
    explicit ShmSender(ShmPipeMemory memory) : memory_(std::move(memory)) {}

    // See Pipe.
    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) {
        const bool small = header.length <= ShmCell::kInline && payload.contiguous();
        if (small && frames_sent_ - frames_read_ < memory_.cell_count &&
            tokens_[index_of(header.flow)].left(memory_) >= cost && fault_ == nullptr) [[likely]] {
            copy_small(memory_.cells[next_cell_].payload, payload.start() + offset, header.length);
            tokens_[index_of(header.flow)].taken += cost;
            publish(header);
            return header.length;
        }
        return start_slowly(header, payload, offset, cost);
    }
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest);
    const char* fault() const noexcept { return fault_; }

    // Sets the echo that every later frame carries: that of the other direction's receiver.
    void set_echo(std::uint16_t echo) noexcept { echo_ = echo; }
    // Evaluates the `device` field of a frame of the other direction.
    void take_echo(std::uint16_t device) noexcept {
        if (!mark_under_way_ || ((device & kEcho) != 0) != mark_) return;
        mark_under_way_ = false;
        ring_is_empty_ = marked_last_;
    }

  private:
    Bytes start_slowly(const FrameHeader& header, const BufferView& payload, Bytes offset,
                       Bytes cost);
    bool has_tokens(FlowClass flow, Bytes cost) noexcept;
    bool has_cell() noexcept;
    Bytes ring_room(Bytes wanted, std::uint64_t position) noexcept;
    void look_at_receiver() noexcept;
    // `fetched`: the lines there have been prefetched for writing.
    void copy_to_ring(std::uint64_t position, const BufferView& payload, Bytes offset, Bytes n,
                      bool fetched);
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
        std::uint64_t given = 0;  // given back, as last seen and checked

        Bytes left(const ShmPipeMemory& memory) const noexcept {
            return memory.token_capacity - (taken - given);
        }
    };
    Tokens tokens_[kFlowClasses];
    std::uint16_t echo_ = 0;
    bool mark_ = false;            // bit of the last marked frame
    bool mark_under_way_ = false;  // its bit has not come back
    bool marked_last_ = false;     // the last frame with bytes in the ring is the marked one
    bool ring_is_empty_ = false;
    bool second_place_ = false;  // the last frame sent into an empty ring is there
    // The receiver's positions, as last seen and checked.
    std::uint64_t frames_read_ = 0;
    std::uint64_t bytes_read_ = 0;  // or derived from an echo
    Bytes reserved_ = 0;
    RingCopy copy_;
    const char* fault_ = nullptr;
};

// The receiving end. For one thread. Never blocks.
class ShmReceiver {
  public:
    explicit ShmReceiver(ShmPipeMemory memory) : memory_(std::move(memory)) {}

    // A cheap test for a new frame, or for more bytes of the current one.
    bool has_input() const noexcept {
        if (!in_frame_) {
            return memory_.cells[next_cell_].sequence.load(std::memory_order_relaxed) ==
                       static_cast<std::uint32_t>(frames_finished_ + 1) &&
                   fault_ == nullptr;
        }
        return !streamed_ ||
               memory_.control->bytes_written.load(std::memory_order_relaxed) != read_at_;
    }

    // See Pipe.
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
        if (streamed_ || length > to.size()) return false;
        if (length <= ShmCell::kInline && to.contiguous()) {
            copy_small(to.start(), memory_.cells[next_cell_].payload, length);
        } else if (consume(&to, 0, length) != length) {
            return false;
        }
        in_frame_ = false;
        take_mark();
        tokens_returned_[index_of(header_.flow)] += cost;
        ++frames_finished_;
        if (++next_cell_ == memory_.cell_count) next_cell_ = 0;
        if (++in_row_ >= kStreamFrames) prefetch_cells();
        publish_if(due());
        return true;
    }
    Bytes read(const BufferView& to, Bytes offset, Bytes n) { return consume(&to, offset, n); }
    Bytes skip(Bytes n) { return consume(nullptr, 0, n); }
    void finish_frame() noexcept;
    void give_tokens(FlowClass flow, Bytes cost) noexcept;
    const char* fault() const noexcept { return fault_; }

    // Call when a frame was sent in the other direction.
    void answered() noexcept { in_row_ = 0; }
    std::uint16_t echo() const noexcept { return echo_; }

    // True if line 0 was stored since the last call, so that the sender may be waiting for it.
    bool take_published() noexcept { return std::exchange(published_, false); }

  private:
    void take_mark() noexcept {
        if ((header_.device & kMarked) != 0) echo_ = (header_.device & kMark) != 0 ? kEcho : 0;
    }
    void start_in_ring() noexcept {
        std::uint64_t start = next_line(read_at_);
        if ((header_.device & kFromStart) != 0) {
            start = memory_.next_place(read_at_, (header_.device & kSecond) != 0);
            // The skipped bytes do not count as read.
            bytes_published_ += start - read_at_;
        }
        read_at_ = start;
    }
    Bytes consume(const BufferView* to, Bytes offset, Bytes n);
    Bytes arrived(Bytes wanted) noexcept;
    bool tokens_due(FlowClass flow) const noexcept {
        const std::size_t of = index_of(flow);
        return tokens_returned_[of] - tokens_published_[of] >= memory_.token_capacity / 8;
    }
    bool due() const noexcept {
        return frames_finished_ - frames_published_ >= memory_.cell_count / 4 ||
               tokens_due(FlowClass::kUser) || tokens_due(FlowClass::kCollective);
    }
    // Prefetches several cells that the sender of a stream has written meanwhile.
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
    std::uint64_t tokens_returned_[kFlowClasses] = {};
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
    std::uint64_t tokens_published_[kFlowClasses] = {};
    Bytes reserved_ = 0;
    bool published_ = false;
    const char* fault_ = nullptr;
};

}  // namespace poe::comm
