// The TCP pipe: frames of both directions on one byte stream. Apart from tcp_device.hpp so that it
// can be tested on any stream socket.
//
// On the wire: FrameHeader and payload, as they are (all nodes of a job are of one kind), and one
// kind of frame more, kTokenReturn, which the device keeps to itself: `length` tokens of its
// context come back, no payload. Tokens are given back when an eighth of the capacity is owed; when
// a frame is sent anyway, half of that is enough. A sender without tokens for a frame lacks at most
// a quarter (message_layer.hpp), so what keeps it waiting is more than what may be owed.
//
// Out. What the socket does not take, and everything before there is a connection, goes into a
// private buffer of at most kPrivateOut bytes, as whole frames or as the rest of a small frame, so
// that a small blocking send need not wait for a peer that computes. Long frames go from the user's
// memory, as far as the socket has room. Only complete frames are followed by token returns.
//
// In. One buffer per connection, so that one recv fetches many small frames; what is left of a long
// frame goes straight to the user's memory, and what follows it into the buffer, with one call.
//
// Distrust: kind and tokens of a frame are checked here, everything else by the message layer. A
// peer that breaks the rules breaks its pipe. A connection that ends is no fault before all that
// came over it has been read, and not at once then: a task that has been killed is pmd's news, and
// a report that names it should not be beaten by those who only miss it.
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

// What a pipe needs of whoever makes its connection and watches its socket.
class TcpPipeHost {
  public:
    virtual ~TcpPipeHost() = default;
    // The first frame is waiting; called once.
    virtual void want_connection(TcpPipe& pipe) = 0;
    // From now on needs_room() is true: flush() is to be called when the socket takes more.
    virtual void want_room(TcpPipe& pipe) = 0;
};

class TcpPipe final : public Pipe {
  public:
    static constexpr Bytes kPrivateOut = Bytes{128} * 1024;
    static constexpr Bytes kInput = Bytes{64} * 1024;
    static constexpr auto kFaultDelay = std::chrono::milliseconds(500);

    // `where` names the peer's node in texts. `host` must outlive the pipe.
    TcpPipe(TaskId peer, Bytes token_capacity, const std::string& where, TcpPipeHost& host);

    Bytes start_frame(const FrameHeader& header, const BufferView& payload, Bytes offset,
                      Bytes cost) override;
    Bytes continue_frame(const BufferView& payload, Bytes offset, Bytes rest) override;
    const FrameHeader* front() override;
    Bytes read(const BufferView& to, Bytes offset, Bytes n) override;
    Bytes skip(Bytes n) override;
    bool read_whole(const BufferView& to, Bytes cost) override;
    void finish_frame() override;
    void give_tokens(Context context, Bytes cost) override;
    const char* fault() const override;

    // The connection is there: a connected, non-blocking stream socket. Sends what has waited.
    void open(UniqueFd fd);
    bool is_open() const noexcept { return fd_ && !broken(); }
    // No byte comes or goes any more, whatever the reason; what came may still be read.
    bool broken() const noexcept { return ended_ || fault_ != nullptr; }
    int fd() const noexcept { return fd_.get(); }
    // There will be no connection.
    void lose(const std::string& why);

    // Fetches what has arrived into the input buffer, with one system call. Answers whether that
    // changed anything.
    bool fill();
    // Something can be read without a system call.
    bool has_input() const noexcept {
        const std::size_t there = in_end_ - in_at_;
        return there > 0 && (have_header_ ? rest_in_ > 0 : there >= sizeof(FrameHeader));
    }
    // The frame under way is long, and its next bytes should not take the way through the buffer;
    // unless the reader has just asked for few of them, or for none (a message that is cut).
    bool reads_directly() const noexcept {
        return have_header_ && rest_in_ >= kDirect && in_at_ == in_end_ && !wants_input_ &&
               is_open();
    }

    // Output waits for room in the socket.
    bool needs_room() const noexcept { return is_open() && (wants_room_ || !kept_.empty()); }
    // Bytes that are only in this process.
    Bytes kept() const noexcept { return kept_.size() - kept_at_; }
    // At the task's end: says to the other end that no more comes, once nothing is kept. Answers
    // whether the other end's system has got all of it, or never will.
    bool finish_sending();
    // Sends what is kept, as far as the socket takes it. Answers whether anything went.
    bool flush();

  private:
    static constexpr Bytes kDirect = Bytes{16} * 1024;

    Bytes keep_frame(const FrameHeader& header, const BufferView& payload, Bytes offset);
    Bytes send_frame(const FrameHeader& header, const BufferView& payload, Bytes offset);
    void keep(const void* bytes, std::size_t n);
    void keep(const BufferView& payload, Bytes offset, Bytes n);
    ssize_t send(iovec* pieces, std::size_t count);
    void end();
    void break_off(const std::string& why);
    void ask_for_room();
    void return_tokens(Bytes threshold);
    FrameHeader token_return(Context context) const noexcept;
    bool make_room();

    TcpPipeHost& host_;
    UniqueFd fd_;
    std::string where_;
    std::string fault_text_;
    const char* fault_ = nullptr;  // of a peer that broke the rules
    bool ended_ = false;
    std::chrono::steady_clock::time_point ended_at_{};

    Bytes capacity_;
    Bytes tokens_taken_[kContexts] = {};  // that the peer has not given back
    Bytes tokens_owed_[kContexts] = {};   // to give back to the peer

    bool asked_for_connection_ = false;
    bool wants_room_ = false;
    bool finished_ = false;  // no more is sent
    Bytes rest_out_ = 0;     // of the frame under way
    std::vector<std::byte> kept_;
    std::size_t kept_at_ = 0;

    std::unique_ptr<std::byte[]> in_;
    std::size_t in_at_ = 0;
    std::size_t in_end_ = 0;
    bool have_header_ = false;
    FrameHeader header_;
    Bytes rest_in_ = 0;         // payload of the front frame that has not been read
    bool wants_input_ = false;  // the reader has found the buffer empty and could not do without
};

}  // namespace poe::comm
