// The TCP pipe: frames in both directions on one byte stream. It is separate from tcp_device.hpp so
// that it can be tested on any stream socket.
//
// Wire format: FrameHeader and payload without conversion, because all nodes of a job have the same
// architecture. An additional kind of frame, kTokenReturn, is used only within the device: it
// returns `length` tokens of its context and has no payload. Tokens are returned when an eighth of
// the capacity is owed, or half of that if a frame is sent anyway. A frame needs at most a quarter
// of the capacity (message_layer.hpp). If a sender has too few tokens for it, three quarters are
// outstanding, which is more than the receiver may owe. So the sender never waits only for tokens
// that the receiver has not returned yet.
//
// Output. Bytes that the socket does not accept, and all bytes before there is a connection, go
// into a private buffer of at most kPrivateOut bytes: whole frames, or the rest of a small frame. A
// small blocking send therefore need not wait for a peer that computes. Long frames are sent from
// the user's memory, as much as the socket accepts. Token returns follow only after complete
// frames.
//
// Input. There is one buffer per connection, so that one recv fetches many small frames. The rest
// of a long frame goes directly to the user's memory, and the bytes after it into the buffer, with
// one call.
//
// Validation: kind and tokens of a frame are checked here, everything else by the message layer. A
// peer that violates the protocol breaks its pipe. The end of a connection becomes a fault only
// after all its data have been read, and after kFaultDelay. pmd reports a task that was killed by
// name, and its report should come before those of tasks that merely lost the connection.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <sys/uio.h>
#include <vector>

#include "base/unique_fd.hpp"
#include "comm/matching/pipe.hpp"

namespace poe::comm {

class TcpPipe;

// The pipe's owner: establishes its connection and watches its socket.
class TcpPipeHost {
  public:
    virtual ~TcpPipeHost() = default;
    // The first frame is waiting for a connection; called once.
    virtual void want_connection(TcpPipe& pipe) = 0;
    // needs_room() has become true: call flush() when the socket accepts more.
    virtual void want_room(TcpPipe& pipe) = 0;
};

class TcpPipe final : public Pipe {
  public:
    static constexpr Bytes kPrivateOut = Bytes{128} * 1024;
    static constexpr Bytes kInput = Bytes{64} * 1024;
    static constexpr auto kFaultDelay = std::chrono::milliseconds(500);

    // `name` names the peer in diagnostics: "task 3 on node". `host` must outlive the pipe.
    TcpPipe(TaskId peer, Bytes token_capacity, const std::string& name, TcpPipeHost& host);

    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) override;
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) override;
    const FrameHeader* front() override;
    Bytes read(const BufferView& to, Bytes offset, Bytes n) override;
    Bytes skip(Bytes n) override;
    bool read_whole(const BufferView& to, Bytes cost) override;
    void finish_frame() override;
    void give_tokens(FlowClass flow, Bytes cost) override;
    const char* fault() const override;
    bool shows_end_of_peer() const override { return fd_ || broken(); }
    bool connects() const override { return true; }

    // Takes ownership of the connection, a connected, non-blocking stream socket. Sends the
    // buffered output.
    void open(UniqueFd fd);
    bool is_open() const noexcept { return fd_ && !broken(); }
    // True if no more bytes are sent or received, for whatever reason. Input that has arrived may
    // still be read.
    bool broken() const noexcept { return ended_ || fault_ != nullptr; }
    int fd() const noexcept { return fd_.get(); }
    // Records that there will be no connection.
    void lose(const std::string& why);

    // Reads input that has arrived into the input buffer, with one system call. Never blocks.
    // Returns true if that changed anything.
    bool fill();
    // True if something can be read without a system call.
    bool has_input() const noexcept {
        const std::size_t there = in_end_ - in_at_;
        return there > 0 && (have_header_ ? rest_in_ > 0 : there >= sizeof(FrameHeader));
    }
    // True if the frame in progress is long, so that its next bytes should bypass the buffer. False
    // if the reader has just asked for few bytes or none (a message that is truncated).
    bool reads_directly() const noexcept {
        return have_header_ && rest_in_ >= kDirect && in_at_ == in_end_ && !wants_input_ &&
               is_open();
    }

    // True if output waits for room in the socket.
    bool needs_room() const noexcept { return is_open() && (wants_room_ || !kept_.empty()); }
    // Output bytes that are still in this process.
    Bytes kept() const noexcept { return kept_.size() - kept_at_; }
    // For the end of the task: shuts down the sending direction once nothing is buffered. Returns
    // true if the other end's system has received everything, or never will.
    bool finish_sending();
    // Sends as much buffered output as the socket accepts. Returns true if any was sent.
    bool flush();

  private:
    static constexpr Bytes kDirect = Bytes{16} * 1024;
    static constexpr Bytes kStaging = Bytes{64} * 1024;

    Bytes keep_frame(const FrameHeader& header, const BufferView& payload, Bytes offset);
    Bytes send_frame(const FrameHeader& header, const BufferView& payload, Bytes offset);
    void keep(const void* bytes, std::size_t n);
    void keep(const BufferView& payload, Bytes offset, Bytes n);
    Bytes gather_or_pack(const BufferView& view, Bytes offset, Bytes n, iovec* pieces,
                         std::size_t& count);
    ssize_t send(iovec* pieces, std::size_t count);
    void end();
    void break_off(const std::string& why);
    void ask_for_room();
    void return_tokens(Bytes threshold);
    FrameHeader token_return(FlowClass flow) const noexcept;
    bool make_room();

    TcpPipeHost& host_;
    UniqueFd fd_;
    std::string where_;
    std::string fault_text_;
    const char* fault_ = nullptr;  // of a peer that violated the protocol
    bool ended_ = false;
    std::chrono::steady_clock::time_point ended_at_{};

    Bytes capacity_;
    Bytes tokens_taken_[kFlowClasses] = {};  // not yet returned by the peer
    Bytes tokens_owed_[kFlowClasses] = {};   // to return to the peer

    bool asked_for_connection_ = false;
    bool wants_room_ = false;
    bool finished_ = false;  // the sending direction is shut down
    Bytes rest_out_ = 0;     // of the frame in progress
    std::vector<std::byte> kept_;
    std::size_t kept_at_ = 0;
    std::unique_ptr<std::byte[]> staging_;  // for output of short pieces

    std::unique_ptr<std::byte[]> in_;
    std::size_t in_at_ = 0;
    std::size_t in_end_ = 0;
    bool have_header_ = false;
    FrameHeader header_;
    Bytes rest_in_ = 0;         // unread payload of the front frame
    bool wants_input_ = false;  // the reader needs more than the buffer holds
};

}  // namespace poe::comm
