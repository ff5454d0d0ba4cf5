// Frames: how bytes travel on the channel between `poe` and a `pmd`. A frame is a 12-byte header
// and a payload; control payloads are CBOR (messages.hpp), all others are raw bytes. FrameReader is
// pure and takes any bytes whatever: a hostile peer can make it say kBad, nothing else.
//
//   offset 0  u32  length of the payload, little endian
//          4  u8   kind
//          5  u8   flags
//          6  u16  zero
//          8  i32  stdout, stderr: the task whose bytes they are; control and stdin: the node that
//                  they come from or are for, -1 for all; credit: -1; trace: the task or node whose
//                  stream it is, and flags the stream's kind (tracer/probe/format.hpp)
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
    kControl = 1,  // CBOR, either way
    kStdout = 2,   // pmd -> poe, bytes of one task
    kStderr = 3,   // pmd -> poe, bytes of one task
    kStdin = 4,    // poe -> pmd
    kCredit = 5,   // down: `length` is 8, a u64 of bytes taken; flags = the stream's FrameKind
    kTrace = 6,    // pmd -> poe: the next bytes of a trace's stream, none: it is complete
};

// The payload stops in mid-line; the next frame of this task and stream goes on with it.
inline constexpr std::uint8_t kFlagOpenLine = 1;
// No output: when what follows of this task and stream was read, 8 bytes (JobSpec::stamp_output).
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

// The payload of a frame with kFlagTime, and back; a payload of another size is the beginning of
// time.
std::string pack_time(std::chrono::system_clock::time_point time);
std::chrono::system_clock::time_point unpack_time(std::string_view payload);

// Cuts a byte stream into frames. Use: read into prepare(), commit() what came, then next() until
// it says kNeedMore. Not thread-safe. Allocates when a frame is larger than any before; the space
// for an unusually large one is given back.
class FrameReader {
  public:
    enum class Status { kFrame, kNeedMore, kBad };

    // Space for at least `want` more bytes. Invalidates frames handed out before.
    std::span<char> prepare(std::size_t want);
    void commit(std::size_t count);

    // kBad is final; error() then says what was wrong.
    Status next(Frame& frame);
    const std::string& error() const { return error_; }
    // What was received and not yet handed out; valid until the next call of prepare().
    std::string_view rest() const {
        return {received_.data() + handed_out_, received_.size() - handed_out_};
    }

  private:
    Status bad(std::string why);

    ByteQueue received_;
    std::size_t handed_out_ = 0;  // of it, in frames that prepare() makes invalid
    std::string error_;
};

}  // namespace poe::pm
