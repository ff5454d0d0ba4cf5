// Pipe and Device: the boundary between the message layer and whatever moves bytes (the pipe layer
// of the SP2 communication subsystem, IBM Systems Journal 34/2, 1995). A device makes pipes; a pipe
// moves frames to and from one other task, in order and reliably, with tokens for flow control.
// Nothing above this header knows which device a pipe belongs to.
//
// Flow control has two levels. Room in the pipe itself is the pipe's own affair: start_frame and
// continue_frame take what fits, and the message layer comes back. Tokens stand for buffer memory
// at the other end: the message layer takes tokens before it sends a frame that the receiver may
// have to keep, and gives them back when the message has left the buffer. Frames that always have a
// place to go need no tokens. So a receiver can always empty its pipes, and no frame ever blocks a
// later one. Each context has tokens of its own, as many as the others: what a program leaves
// unreceived holds up none of its collective calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"

namespace poe::comm {

// Messages of different contexts never match each other, wildcards included.
enum class Context : std::uint8_t { kUser = 0, kCollective = 1 };
inline constexpr std::uint8_t kContexts = 2;
// Whether a value that a peer wrote is one.
constexpr bool is_context(Context context) noexcept {
    return static_cast<std::uint8_t>(context) < kContexts;
}
// Inside of any array of kContexts, whatever the context is.
constexpr std::size_t index_of(Context context) noexcept {
    static_assert((kContexts & (kContexts - 1)) == 0);
    return static_cast<std::uint8_t>(context) & (kContexts - 1);
}

enum class FrameKind : std::uint8_t {
    kEager = 1,    // a whole message; tag = type. Needs tokens.
    kRequest = 2,  // rendezvous: "I have a message"; tag = type, body RequestBody. Needs tokens.
    kGrant = 3,    // rendezvous: "send it there"; body GrantBody
    kData = 4,     // rendezvous: bytes of a granted message; tag = the receive's id
};

// What a frame says about itself; `length` bytes of payload follow. Same on every device.
struct FrameHeader {
    std::uint32_t length = 0;
    std::int32_t tag = 0;
    FrameKind kind = FrameKind::kEager;
    Context context = Context::kUser;
    std::uint16_t device = 0;  // the device's own
};
static_assert(sizeof(FrameHeader) == 12);

struct RequestBody {
    std::uint64_t length = 0;   // of the message
    std::uint64_t address = 0;  // where it lies at the sender, in one piece; 0: in pieces
    std::uint32_t send_id = 0;
    std::uint32_t unused = 0;
};

struct GrantBody {
    std::uint64_t length = 0;  // bytes wanted, at most the message's
    std::uint32_t send_id = 0;
    std::uint32_t receive_id = 0;
};

// One end of the channel to one peer; both directions. Not thread-safe: the message layer's owner
// calls. No call blocks. Calls may throw poe::Error when memory cannot be had.
class Pipe {
  public:
    static constexpr Bytes kNoRoom = ~Bytes{0};

    explicit Pipe(TaskId peer) : peer_(peer) {}
    virtual ~Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    TaskId peer() const noexcept { return peer_; }

    // Sending. Starts a frame and takes the first bytes of its payload, header.length bytes from
    // position `offset` of `payload`, and `cost` tokens of the header's context. Answers how many
    // bytes it took, or kNoRoom when there is no room or there are too few tokens; then nothing has
    // been taken. When fewer than header.length, continue_frame must bring the rest before the next
    // start_frame.
    virtual Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                              Bytes cost) = 0;
    // Takes more of the frame under way: up to `rest` bytes from position `offset` on.
    virtual Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) = 0;

    // Receiving. The header of the frame that is being received, once it is there; stays until
    // finish_frame. Null: nothing has arrived, or the pipe is broken.
    virtual const FrameHeader* front() = 0;
    // Moves up to n payload bytes that have arrived to position `offset` of `to`.
    virtual Bytes read(const BufferView& to, Bytes offset, Bytes n) = 0;
    // Drops up to n payload bytes that have arrived.
    virtual Bytes skip(Bytes n) = 0;
    // The short way for a frame that is there as a whole and fits: reads all of it to position 0 of
    // `to`, finishes it and gives `cost` tokens of its context back. False: not done, go the long
    // way.
    virtual bool read_whole(const BufferView& to, Bytes cost) = 0;
    // All payload of the front frame has been read or skipped.
    virtual void finish_frame() = 0;
    virtual void give_tokens(Context context, Bytes cost) = 0;

    // Fetching: whether this device can read the peer's memory. May turn to false, never back.
    virtual bool can_fetch() const { return false; }
    // Copies n bytes at `address` of the peer to position `offset` of `to`. False if it could not;
    // then the contents of `to` are undefined.
    virtual bool fetch(std::uint64_t address, const BufferView& to, Bytes offset, Bytes n) {
        static_cast<void>(address), static_cast<void>(to), static_cast<void>(offset);
        static_cast<void>(n);
        return false;
    }

    // Handing over (handover.hpp): the two halves of this pipe; null if the device has none, or if
    // the peer cannot look for an offer at this moment.
    virtual class HandoverSender* handover_out() { return nullptr; }
    virtual class HandoverReceiver* handover_in() { return nullptr; }
    // Wakes the peer if it sleeps, after a store that it may be waiting for.
    virtual void wake_after_store() {}

    // What the peer did that it may not do, or null. A broken pipe neither sends nor receives.
    virtual const char* fault() const = 0;

  private:
    TaskId peer_;
};

// Told by Device::poll which pipes have something to read. Answers whether anything was moved.
class PipeSink {
  public:
    virtual ~PipeSink() = default;
    virtual bool on_input(Pipe& pipe) = 0;
};

class Device {
  public:
    virtual ~Device() = default;

    // The pipe to a peer that this device reaches; made at the first call. Throws Error.
    virtual Pipe& pipe_to(TaskId peer) = 0;
    // Looks at every active pipe once and tells the sink. Never blocks. Answers whether anything
    // moved.
    virtual bool poll(PipeSink& sink) = 0;
};

}  // namespace poe::comm
