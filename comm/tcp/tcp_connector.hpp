// TcpConnector: how two tasks come to one authenticated connection. It calls, answers, shakes hands
// (tcp_handshake.hpp) and hands over the socket when both ends have agreed on it. Apart from
// tcp_device.hpp, which moves frames over agreed connections only.
//
// One connection per pair. Either task may call. The called one decides (its Verdict), once the
// caller has proved who it is; frames travel only after that. Of the two tasks of a pair, let L be
// the one with the lower id and H the other. Per pair each task is in one of these standings:
//
//   kNone     has not called, has chosen nothing
//   kCalling  has called; no verdict yet
//   kWaiting  only H: has called, L said kYield; waits for L's call
//   kChosen   has chosen a connection; final
//
// When called by H, L in kNone accepts (-> kChosen), in kCalling says kYield, in kChosen refuses.
// When called by L, H in kNone, kCalling or kWaiting accepts (-> kChosen, its own call is dropped),
// in kChosen refuses. A caller chooses when it receives kAccepted.
//
// Both choose the same one: a connection is chosen by the called one first, and by the caller when
// it hears so. If L chose H's call, L was in kNone and stays kChosen: it never calls H, so no other
// connection of the pair exists that H could accept; H, in kCalling, can only hear kAccepted. If H
// chose L's call, L had called and is in kCalling until it hears so: it yields to nobody and
// accepts nothing, so H's own call ends unchosen. At least one is chosen: L's call is never given
// up before a verdict (when the connection breaks in the handshake it calls again), and H accepts
// it.
//
// No frame is lost or doubled: a frame goes into a connection only after this end has chosen it,
// and the other end had chosen the same by then; until then it waits in the pipe, which does not
// know of calls. A call that ends unchosen has carried no frame.
//
// Strangers. Whoever connects is a stranger until its proof has been checked. A stranger costs one
// object of fixed size, there are at most kMaxStrangers of them, and each has kPatience to prove
// itself. When there are too many, the oldest is dropped if it had kGrace, else the listening
// socket is left alone until then. A task that was dropped because it computes between two messages
// of its handshake calls again.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/segment/node_segment.hpp"
#include "base/unique_fd.hpp"
#include "comm/tcp/tcp_handshake.hpp"

namespace poe::comm {

// What epoll says about which socket: the kind in the upper half, a number in the lower.
enum class TcpWatch : std::uint32_t { kListener, kStranger, kCall, kPipe, kFifo };
constexpr std::uint64_t watch_key(TcpWatch kind, std::uint32_t number) noexcept {
    return static_cast<std::uint64_t>(kind) << 32 | number;
}

class TcpConnectorEvents {
  public:
    virtual ~TcpConnectorEvents() = default;
    // The pair's connection; not watched by the epoll any more.
    virtual void on_connection(TaskId peer, UniqueFd fd) = 0;
    // There will be none.
    virtual void on_no_connection(TaskId peer, const std::string& why) = 0;
};

// For one thread. No call blocks for longer than kHurry; calls may throw Error when the system is
// out of descriptors.
class TcpConnector {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxStrangers = 128;
    static constexpr auto kPatience = std::chrono::seconds(5);
    static constexpr auto kHurry = std::chrono::milliseconds(1);
    static constexpr auto kGrace = std::chrono::milliseconds(250);

    // Registers its sockets with `epoll`, which must outlive it, as must the segment.
    TcpConnector(const NodeSegment& segment, TaskId me, UniqueFd listener, int epoll,
                 TcpConnectorEvents& events);
    ~TcpConnector();

    // Calls that task, unless a connection is chosen or under way. Waits for its answers for up to
    // kHurry, once per pair: a peer that waits for messages gives them within a tenth of that, and
    // then the first message leaves at once. Otherwise it leaves at the sender's next MPL call.
    void call(TaskId peer);
    // What epoll said; keys of kListener, kStranger and kCall.
    void on_event(TcpWatch kind, std::uint32_t number);
    // What is due by time: strangers to drop, calls to repeat. Cheap when idle().
    void tick();
    // Nobody is called, nobody has called.
    bool idle() const noexcept { return calls_.empty() && strangers_.empty() && !listener_full_; }
    // How long a sleep may last before tick() has something to do, at most `limit`.
    std::chrono::milliseconds time_left(std::chrono::milliseconds limit) const;

  private:
    enum class Standing : std::uint8_t { kNone, kCalling, kWaiting, kChosen };
    struct Call {
        TaskId peer = 0;
        UniqueFd fd;
        bool connected = false;
        std::optional<Handshake> handshake;
        Clock::time_point again{};  // while there is no socket: when to try
        std::chrono::milliseconds pause{1};
    };
    struct Stranger {
        std::uint32_t number = 0;
        UniqueFd fd;
        Handshake handshake;
        Clock::time_point since;
    };

    void begin(Call& call);
    void hurry(TaskId peer);
    void step(Call& call);
    void repeat_later(Call& call);
    void give_up(TaskId peer, const std::string& why);
    void finish(Call& call);
    void accept_strangers();
    bool step(Stranger& stranger);
    void settle(Stranger& stranger);
    void drop_old_strangers();
    void watch_listener(bool wanted);
    void watch(int fd, TcpWatch kind, std::uint32_t number) const;
    void unwatch(int fd) const noexcept;
    std::list<Call>::iterator find_call(TaskId peer);
    Standing& standing(TaskId peer) { return standings_[static_cast<std::size_t>(peer)]; }

    const NodeSegment& segment_;
    HandshakeIdentity identity_;
    UniqueFd listener_;
    int epoll_;
    TcpConnectorEvents& events_;
    std::vector<Standing> standings_;  // by task
    std::list<Call> calls_;
    std::list<Stranger> strangers_;  // oldest first
    std::uint32_t next_stranger_ = 0;
    bool listener_full_ = false;  // strangers wait in the system's queue
};

}  // namespace poe::comm
