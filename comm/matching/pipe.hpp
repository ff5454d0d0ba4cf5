// Pipe and Device: the boundary between the message layer and the devices that move bytes (the pipe
// layer of the SP2 communication subsystem, IBM Systems Journal 34/2, 1995). A device creates
// pipes. A pipe moves frames to and from one other task, in order and reliably, with tokens for
// flow control. Code above this header does not know which device a pipe belongs to.
//
// Flow control has two levels:
//   - Room in the pipe is managed by the pipe: start_frame and continue_frame accept what fits, and
//     the message layer calls again for the rest.
//   - Tokens stand for buffer memory at the receiver. The message layer takes tokens before it
//     sends a frame that the receiver may have to buffer; the receiver gives them back when the
//     message has left the buffer. Frames that always have a destination need no tokens.
// A receiver can therefore always empty its pipes, and no frame blocks a later one. Each class of
// flow control has the same number of tokens of its own, so a program's unreceived messages do not
// block its collective calls.
//
// The class of flow control and the matching context are independent of each other. The class
// decides from which tokens a message is paid, the context which receives it may match.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/contexts.hpp"
#include "base/types.hpp"
#include "comm/matching/buffer_view.hpp"

namespace poe::comm {

// Classes of flow control. Each has its own tokens, buffer memory and order of frames.
enum class FlowClass : std::uint8_t { kUser = 0, kCollective = 1 };
inline constexpr std::uint8_t kFlowClasses = 2;
// True if a value that a peer wrote is a valid class.
constexpr bool is_flow_class(FlowClass flow) noexcept {
    return static_cast<std::uint8_t>(flow) < kFlowClasses;
}
// A valid index of an array of kFlowClasses elements, for any value.
constexpr std::size_t index_of(FlowClass flow) noexcept {
    static_assert((kFlowClasses & (kFlowClasses - 1)) == 0);
    return static_cast<std::uint8_t>(flow) & (kFlowClasses - 1);
}

enum class FrameKind : std::uint8_t {
    kEager = 1,    // a whole message; tag = type. Needs tokens.
    kRequest = 2,  // rendezvous: announces a message; tag = type, body RequestBody. Needs tokens.
    kGrant = 3,    // rendezvous: asks for the bytes; body GrantBody
    kData = 4,     // rendezvous: bytes of a granted message; tag = the receive's id
    kCancel = 5,   // rendezvous: withdraws an announced message; body CancelBody
    kCancelled =
        6,  // rendezvous: the message was withdrawn before a receive matched it; CancelBody
};

// The header of a frame; `length` bytes of payload follow. The same on every device.
struct FrameHeader {
    std::uint32_t length = 0;
    std::int32_t tag = 0;
    ContextId context = kMplContext;  // kEager and kRequest; otherwise unused
    FrameKind kind = FrameKind::kEager;
    FlowClass flow = FlowClass::kUser;
    std::uint16_t device = 0;  // for the device's own use
};
static_assert(sizeof(FrameHeader) == 16);

struct RequestBody {
    std::uint64_t length = 0;   // of the message
    std::uint64_t address = 0;  // address in the sender if contiguous; otherwise 0
    std::uint32_t send_id = 0;
    std::uint32_t flags = 0;
};
// Flag of RequestBody: the send ends only when a receive has matched, so the message must not be
// taken into buffer memory before that.
inline constexpr std::uint32_t kSynchronous = 1;

struct GrantBody {
    std::uint64_t length = 0;  // bytes wanted, at most those of the message
    std::uint32_t send_id = 0;
    std::uint32_t receive_id = 0;
};

struct CancelBody {
    // 0 in kCancel: a message was withdrawn before it was sent. The receiver only counts it.
    std::uint32_t send_id = 0;
};

// One end of the connection to a peer, for both directions. Not thread-safe: only the message layer
// calls it. No call blocks. Calls may throw poe::Error if memory cannot be reserved.
class Pipe {
  public:
    static constexpr Bytes kNoRoom = ~Bytes{0};

    explicit Pipe(TaskId peer) : peer_(peer) {}
    virtual ~Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    TaskId peer() const noexcept { return peer_; }

    // Sending. Starts a frame whose payload is the header.length bytes from position `offset` of
    // `payload`, takes the first of these bytes, and takes `cost` tokens of the header's class.
    // Returns the number of bytes taken. Returns kNoRoom, and takes nothing, if there is no room or
    // there are too few tokens. If fewer than header.length bytes were taken, continue_frame must
    // supply the rest before the next start_frame.
    virtual Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                              Bytes cost) = 0;
    // start_frame takes all of a payload of up to this many bytes, or nothing.
    virtual Bytes whole_frames() const noexcept { return 0; }
    // Takes more of the frame in progress: up to `rest` bytes from position `offset`. Returns the
    // number of bytes taken.
    virtual Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) = 0;

    // Receiving. Returns the header of the frame being received, from its arrival until
    // finish_frame. Null: nothing has arrived, or the pipe is broken.
    virtual const FrameHeader* front() = 0;
    // Copies up to n payload bytes that have arrived to position `offset` of `to`. Returns their
    // number.
    virtual Bytes read(const BufferView& to, Bytes offset, Bytes n) = 0;
    // Discards up to n payload bytes that have arrived. Returns their number.
    virtual Bytes skip(Bytes n) = 0;
    // Fast path for a frame that is complete and fits: reads all of it to position 0 of `to`,
    // finishes it and gives `cost` tokens of its class back. False: nothing was done; use the
    // slow path.
    virtual bool read_whole(const BufferView& to, Bytes cost) = 0;
    // Precondition: all payload of the front frame has been read or skipped.
    virtual void finish_frame() = 0;
    virtual void give_tokens(FlowClass flow, Bytes cost) = 0;

    // True if this device can read the peer's memory. May become false, never true again.
    virtual bool can_fetch() const { return false; }
    // Copies n bytes from address `address` of the peer to position `offset` of `to`. Returns false
    // if it could not; the contents of `to` are then undefined.
    virtual bool fetch(std::uint64_t address, const BufferView& to, Bytes offset, Bytes n) {
        static_cast<void>(address), static_cast<void>(to), static_cast<void>(offset);
        static_cast<void>(n);
        return false;
    }

    // The two halves of this pipe's handover (handover.hpp). Null if the device has none, or if the
    // peer cannot check for offers at present.
    virtual class HandoverSender* handover_out() { return nullptr; }
    virtual class HandoverReceiver* handover_in() { return nullptr; }
    // Wakes the peer if it sleeps. Call after a store that the peer may be waiting for.
    virtual void wake_after_store() {}

    // Returns what the peer did wrong, or null. A broken pipe neither sends nor receives.
    virtual const char* fault() const = 0;
    // True if fault() shows that the peer has ended, as a TCP connection does. If false, the
    // message layer must find it out.
    virtual bool shows_end_of_peer() const { return true; }
    // True if the pipe needs a connection, which is made when the first frame is sent.
    virtual bool connects() const { return false; }

  private:
    TaskId peer_;
};

// Device::poll calls on_input() for each pipe that has something to read. on_input() returns true
// if anything was moved.
class PipeSink {
  public:
    virtual ~PipeSink() = default;
    virtual bool on_input(Pipe& pipe) = 0;
};

class Device {
  public:
    virtual ~Device() = default;

    // Returns the pipe to a peer that this device reaches; creates it at the first call. The device
    // owns the pipe. Throws Error.
    virtual Pipe& pipe_to(TaskId peer) = 0;
    // Polls every active pipe once and reports input to `sink`. Never blocks. Returns true if
    // anything was moved.
    virtual bool poll(PipeSink& sink) = 0;
};

}  // namespace poe::comm
