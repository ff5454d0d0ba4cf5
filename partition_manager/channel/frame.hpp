// Frames: the format of the bytes on the channel between `poe` and a `pmd`. A frame is a 12-byte
// header and a payload. Control payloads are CBOR (messages.hpp), all others are raw bytes.
// FrameReader is pure and accepts any bytes: a hostile peer can only make it return kBad.
//
//   offset 0  u32  length of the payload, little endian
//          4  u8   kind
//          5  u8   flags
//          6  u16  zero
//          8  i32  by kind:
//                  stdout, stderr   the task whose bytes they are
//                  control, stdin   the node that sends or receives it; -1: all
//                  credit           -1
//                  trace            the task or node whose stream it is; `flags` is the stream's
//                                   kind (tracer/probe/format.hpp)
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "partition_manager/channel/byte_queue.hpp"

namespace poe::pm {

enum class FrameKind : std::uint8_t {
    kControl = 1,  // CBOR, both directions
    kStdout = 2,   // pmd -> poe, bytes of one task
    kStderr = 3,   // pmd -> poe, bytes of one task
    kStdin = 4,    // poe -> pmd
    kCredit = 5,   // poe -> pmd: 8 bytes, a u64: bytes consumed; flags: the stream's FrameKind
    kTrace = 6,    // pmd -> poe: the next bytes of a trace stream; empty: complete
};

// The payload stops within a line. The next frame of this task and stream continues the line.
inline constexpr std::uint8_t kFlagOpenLine = 1;
// Not output, but the time at which the following output was read, 8 bytes (JobSpec::stamp_output).
inline constexpr std::uint8_t kFlagTime = 2;

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::size_t kMaxDataPayload = std::size_t{1} << 20;
inline constexpr std::size_t kMaxControlPayload = std::size_t{64} << 20;

struct Frame {
    FrameKind kind = FrameKind::kControl;
    std::uint8_t flags = 0;
    TaskId task = -1;
    std::string_view payload;  // points into the reader; valid until the next call of prepare()
};

// Writes the 12 header bytes to `out`.
void write_frame_header(char* out, FrameKind kind, std::uint8_t flags, TaskId task,
                        std::size_t length);

// Convert the payload of a frame with kFlagTime: ns since the epoch. A payload of another size is
// the epoch.
std::string pack_time(std::chrono::system_clock::time_point time);
std::chrono::system_clock::time_point unpack_time(std::string_view payload);

// Splits a byte stream into frames. Not thread-safe. Allocates if a frame is larger than all
// before; the space for an unusually large one is released. Usage:
//   1. Read into the space that prepare() returns.
//   2. Call commit() with the number of bytes read.
//   3. Call next() until it returns kNeedMore.
class FrameReader {
  public:
    enum class Status { kFrame, kNeedMore, kBad };

    // Returns space for at least `want` more bytes. Invalidates all frames returned before.
    std::span<char> prepare(std::size_t want);
    void commit(std::size_t count);

    // kBad is final; error() then describes the error.
    Status next(Frame& frame);
    const std::string& error() const { return error_; }
    // Bytes received and not yet returned in frames; valid until the next call of prepare().
    std::string_view rest() const {
        return {received_.data() + handed_out_, received_.size() - handed_out_};
    }

  private:
    Status bad(std::string why);

    ByteQueue received_;
    std::size_t handed_out_ = 0;  // bytes in frames that prepare() invalidates
    std::string error_;
};

}  // namespace poe::pm
