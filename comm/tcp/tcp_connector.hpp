// TcpConnector: establishes one authenticated connection between two tasks. It calls, answers,
// performs the handshake (tcp_handshake.hpp) and passes the socket on when both ends have agreed on
// it. It is separate from tcp_device.hpp, which moves frames over agreed connections only.
//
// There is one connection per pair of tasks. Either task may call. The called task decides (its
// Verdict) once the caller has proved its identity; frames travel only after that. Let L be the
// task of the pair with the lower id in their link, H the other. Each task has one of these
// standings per pair:
//
//   kNone     has not called, has chosen nothing
//   kCalling  has called; no verdict yet
//   kWaiting  only H: has called, L answered kYield; H waits for L's call
//   kChosen   has chosen a connection; final
//
// The decision of the called task, by its standing:
//
//   called task   kNone     kCalling   kWaiting   kChosen
//   L, by H       accepts   kYield     -          refuses
//   H, by L       accepts   accepts    accepts    refuses
//
// A task that accepts becomes kChosen, and its own call is dropped. A caller becomes kChosen when
// it receives kAccepted.
//
// Both choose the same connection: the called task chooses it first, and the caller when it
// receives the verdict.
//   - If L chose H's call, L was in kNone and stays in kChosen. L never calls H, so no other
//     connection of the pair exists that H could accept. H, in kCalling, can only receive
//     kAccepted.
//   - If H chose L's call, L has called and is in kCalling until it receives the verdict. L yields
//     to no call and accepts none, so H's own call ends unchosen.
// At least one is chosen: L does not give up its call before a verdict (if the connection breaks in
// the handshake, L calls again), and H accepts it.
//
// No frame is lost or duplicated: a frame is sent only after this end has chosen the connection,
// and the other end has chosen the same one by then. Until then the frame waits in the pipe, which
// does not know about calls. A call that ends unchosen has carried no frame.
//
// Strangers: a peer that connects is a stranger until its proof has been checked. A stranger costs
// one object of fixed size. There are at most kMaxStrangers, and each has kPatience to prove its
// identity. If there are too many, the oldest is dropped if its kGrace is over; otherwise no
// connection is accepted until then. A task that was dropped because it computes between two
// messages of its handshake calls again.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "comm/tcp/tcp_handshake.hpp"
#include "comm/tcp/tcp_peers.hpp"

namespace poe::comm {

// The epoll key of a socket: the kind in the upper half, a number in the lower half.
enum class TcpWatch : std::uint32_t { kListener, kStranger, kCall, kPipe, kFifo, kDatagrams };
constexpr std::uint64_t watch_key(TcpWatch kind, std::uint32_t number) noexcept {
    return static_cast<std::uint64_t>(kind) << 32 | number;
}

class TcpConnectorEvents {
  public:
    virtual ~TcpConnectorEvents() = default;
    // The pair's connection. The receiver owns `fd`, which is no longer registered with the epoll.
    virtual void on_connection(TaskId peer, UniqueFd fd) = 0;
    // There will be no connection.
    virtual void on_no_connection(TaskId peer, const std::string& why) = 0;
};

// For one thread. No function blocks for longer than kHurry. Functions may throw Error if the
// system has no free descriptors.
class TcpConnector {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxStrangers = 128;
    static constexpr auto kPatience = std::chrono::seconds(5);
    static constexpr auto kHurry = std::chrono::milliseconds(1);
    static constexpr auto kGrace = std::chrono::milliseconds(250);

    // Registers its sockets with `epoll`. `epoll`, `peers` and `events` must outlive this object.
    // Takes ownership of `listener`.
    TcpConnector(const TcpPeers& peers, UniqueFd listener, int epoll, TcpConnectorEvents& events);
    ~TcpConnector();

    int listener() const noexcept { return listener_.get(); }

    // Calls that task, unless a connection is chosen or being established. Waits up to kHurry for
    // its answers, once per pair. A peer that waits for messages answers within a tenth of that,
    // and the first message is then sent at once. Otherwise it is sent during the sender's next MPL
    // call.
    void call(TaskId peer);
    // Handles an epoll event with a key of kListener, kStranger or kCall.
    void on_event(TcpWatch kind, std::uint32_t number);
    // Performs what is due by time: drops strangers, repeats calls. Cheap when idle().
    void tick();
    // True if there are no calls in either direction.
    bool idle() const noexcept { return calls_.empty() && strangers_.empty() && !listener_full_; }
    // Returns how long a sleep may last before tick() has something to do, at most `limit`.
    std::chrono::milliseconds time_left(std::chrono::milliseconds limit) const;

  private:
    enum class Standing : std::uint8_t { kNone, kCalling, kWaiting, kChosen };
    struct Call {
        TaskId peer = 0;
        UniqueFd fd;
        bool connected = false;
        std::optional<Handshake> handshake;
        Clock::time_point again{};  // while there is no socket: when to call again
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
    Standing& standing(TaskId peer) {
        if (static_cast<std::size_t>(peer) >= standings_.size()) standings_.resize(peers_.tasks());
        return standings_[static_cast<std::size_t>(peer)];
    }

    const TcpPeers& peers_;
    UniqueFd listener_;
    int epoll_;
    TcpConnectorEvents& events_;
    std::vector<Standing> standings_;  // indexed by task
    std::list<Call> calls_;
    std::list<Stranger> strangers_;  // oldest first
    std::uint32_t next_stranger_ = 0;
    bool listener_full_ = false;  // no more are accepted; they wait in the kernel's queue
};

}  // namespace poe::comm
