// Calls, strangers and verdicts; see tcp_connector.hpp for the rules.
#include "comm/tcp/tcp_connector.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/error.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestPause = 1000ms;
constexpr auto kPortPause = 5ms;

void send_at_once(int fd) noexcept {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void throw_no_socket(const char* what) {
    throw Error(std::string("cannot ") + what +
                    " (a task needs one open file for each task that it talks to over TCP; "
                    "`ulimit -n` shows how many it may have)",
                errno);
}

enum class Exchange { kGoesOn, kDone, kBroken, kLies };

// Continues a handshake until it needs the other end. kBroken: the connection ended. kLies: the
// other end does not belong to this job.
template <typename Done>
Exchange exchange(int fd, Handshake& handshake, Done done) {
    for (;;) {
        while (!handshake.output().empty()) {
            const auto out = handshake.output();
            const ssize_t n = ::send(fd, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n < 0) return errno == EAGAIN ? Exchange::kGoesOn : Exchange::kBroken;
            handshake.sent(static_cast<std::size_t>(n));
        }
        if (done(handshake)) return Exchange::kDone;
        std::array<std::byte, 128> bytes;
        const ssize_t n = ::recv(fd, bytes.data(), handshake.missing(), MSG_DONTWAIT);
        if (n < 0) return errno == EAGAIN ? Exchange::kGoesOn : Exchange::kBroken;
        if (n == 0) return Exchange::kBroken;
        if (!handshake.take(bytes.data(), static_cast<std::size_t>(n))) return Exchange::kLies;
    }
}

}  // namespace

TcpConnector::TcpConnector(const TcpPeers& peers, UniqueFd listener, int epoll,
                           TcpConnectorEvents& events)
    : peers_(peers),
      listener_(std::move(listener)),
      epoll_(epoll),
      events_(events),
      standings_(peers.tasks(), Standing::kNone) {
    watch_listener(true);
}

TcpConnector::~TcpConnector() = default;

void TcpConnector::watch(int fd, TcpWatch kind, std::uint32_t number) const {
    epoll_event event{};
    // Edge-triggered, because handshakes run until they would block; it serves both directions.
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = watch_key(kind, number);
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0)
        throw_errno("cannot watch a connection");
}

void TcpConnector::unwatch(int fd) const noexcept {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void TcpConnector::watch_listener(bool wanted) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = watch_key(TcpWatch::kListener, 0);
    if (::epoll_ctl(epoll_, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.get(), &event) != 0)
        throw_errno("cannot watch the listening socket");
}

// --- calls

std::list<TcpConnector::Call>::iterator TcpConnector::find_call(TaskId peer) {
    return std::find_if(calls_.begin(), calls_.end(),
                        [peer](const Call& call) { return call.peer == peer; });
}

void TcpConnector::call(TaskId peer) {
    if (standing(peer) != Standing::kNone) return;
    standing(peer) = Standing::kCalling;
    Call& made = calls_.emplace_back();
    made.peer = peer;
    begin(made);
    hurry(peer);
}

void TcpConnector::hurry(TaskId peer) {
    const auto deadline = Clock::now() + kHurry;
    for (;;) {
        const auto call = find_call(peer);
        if (call == calls_.end() || !call->fd) return;
        const std::chrono::nanoseconds left = deadline - Clock::now();
        if (left <= 0ns) return;
        pollfd wanted{call->fd.get(), static_cast<short>(call->connected ? POLLIN : POLLOUT), 0};
        const timespec limit{0, static_cast<long>(left.count())};
        if (::ppoll(&wanted, 1, &limit, nullptr) > 0) step(*call);
    }
}

void TcpConnector::begin(Call& call) {
    const TcpPeers::Target target = peers_.target(call.peer);
    if (target.port == 0) {
        call.again = Clock::now() + kPortPause;
        return;
    }
    const NodeAddress& address = target.address;
    call.fd.reset(
        ::socket(static_cast<int>(address.family), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!call.fd) throw_no_socket("make a socket");
    send_at_once(call.fd.get());
    call.connected = false;
    call.handshake.emplace(Handshake::call(*target.identity, target.member, fresh_nonce()));
    const SocketAddress to(address, target.port);
    if (::connect(call.fd.get(), to.get(), to.length) != 0 && errno != EINPROGRESS) {
        const TaskId peer = call.peer;
        return give_up(peer, std::strerror(errno));
    }
    watch(call.fd.get(), TcpWatch::kCall, static_cast<std::uint32_t>(call.peer));
}

void TcpConnector::give_up(TaskId peer, const std::string& why) {
    calls_.erase(find_call(peer));
    standing(peer) = Standing::kChosen;  // no connection, finally
    events_.on_no_connection(peer, why);
}

void TcpConnector::repeat_later(Call& call) {
    call.fd.reset();
    call.handshake.reset();
    call.again = Clock::now() + call.pause;
    call.pause = std::min<std::chrono::milliseconds>(call.pause * 2, kLongestPause);
}

void TcpConnector::step(Call& call) {
    if (!call.connected) {
        int cause = 0;
        socklen_t size = sizeof cause;
        ::getsockopt(call.fd.get(), SOL_SOCKET, SO_ERROR, &cause, &size);
        if (cause == ECONNRESET) return repeat_later(call);
        if (cause != 0) return give_up(call.peer, std::strerror(cause));
        sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (::getpeername(call.fd.get(), reinterpret_cast<sockaddr*>(&peer), &length) != 0) return;
        call.connected = true;
    }
    const auto decided = [](const Handshake& handshake) { return handshake.decided(); };
    switch (exchange(call.fd.get(), *call.handshake, decided)) {
        case Exchange::kGoesOn:
            return;
        case Exchange::kBroken:
            return repeat_later(call);
        case Exchange::kLies:
            return give_up(call.peer, "what listens there does not know the key of the job");
        case Exchange::kDone:
            return finish(call);
    }
}

void TcpConnector::finish(Call& call) {
    const TaskId peer = call.peer;
    switch (call.handshake->verdict()) {
        case Verdict::kAccepted: {
            unwatch(call.fd.get());
            UniqueFd fd = std::move(call.fd);
            calls_.erase(find_call(peer));
            standing(peer) = Standing::kChosen;
            events_.on_connection(peer, std::move(fd));
            return;
        }
        case Verdict::kYield:
            calls_.erase(find_call(peer));
            standing(peer) = Standing::kWaiting;
            return;
        case Verdict::kRefused:
            return give_up(peer, "it had one before");
    }
}

// --- strangers

void TcpConnector::accept_strangers() {
    while (!listener_full_) {
        if (strangers_.size() >= kMaxStrangers) {
            drop_old_strangers();
            if (strangers_.size() >= kMaxStrangers) {
                listener_full_ = true;
                watch_listener(false);
                return;
            }
        }
        UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) {
            if (errno == EMFILE || errno == ENFILE) throw_no_socket("accept a connection");
            if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) return;
            if (errno == ECONNABORTED || errno == EPROTO || errno == EINTR) continue;  // it ended
            throw_errno("cannot accept connections of other tasks");
        }
        send_at_once(fd.get());
        Stranger& stranger = strangers_.emplace_back(
            Stranger{next_stranger_++, std::move(fd), Handshake::answer(peers_, fresh_nonce()),
                     Clock::now()});
        watch(stranger.fd.get(), TcpWatch::kStranger, stranger.number);
    }
}

// Returns false if the stranger is to be removed.
bool TcpConnector::step(Stranger& stranger) {
    const auto proven = [](const Handshake& handshake) { return handshake.proven(); };
    switch (exchange(stranger.fd.get(), stranger.handshake, proven)) {
        case Exchange::kGoesOn:
            return true;
        case Exchange::kBroken:
        case Exchange::kLies:
            return false;
        case Exchange::kDone:
            break;
    }
    settle(stranger);
    return false;
}

// The caller has proved its identity: decides whether this is the pair's connection.
void TcpConnector::settle(Stranger& stranger) {
    const HandshakeIdentity& identity = stranger.handshake.identity();
    const TaskId peer = peers_.task_of(identity, stranger.handshake.peer());
    const Standing now = standing(peer);
    const bool we_are_lower = identity.me < stranger.handshake.peer();
    const Verdict verdict = now == Standing::kChosen                    ? Verdict::kRefused
                            : now == Standing::kCalling && we_are_lower ? Verdict::kYield
                                                                        : Verdict::kAccepted;
    stranger.handshake.decide(verdict);
    const auto never = [](const Handshake& handshake) { return handshake.output().empty(); };
    const Exchange said = exchange(stranger.fd.get(), stranger.handshake, never);
    if (verdict != Verdict::kAccepted) return;
    // If the verdict cannot be sent, the caller will never receive it, so no connection is chosen.
    // The socket accepts 33 bytes unless the caller has gone.
    if (said != Exchange::kDone) return;
    standing(peer) = Standing::kChosen;
    if (const auto own = find_call(peer); own != calls_.end()) calls_.erase(own);
    unwatch(stranger.fd.get());
    events_.on_connection(peer, std::move(stranger.fd));
}

void TcpConnector::drop_old_strangers() {
    const auto now = Clock::now();
    while (!strangers_.empty()) {
        const auto age = now - strangers_.front().since;
        const bool too_many = strangers_.size() >= kMaxStrangers && age > kGrace;
        if (age < kPatience && !too_many) break;
        strangers_.pop_front();
    }
}

// --- events

void TcpConnector::on_event(TcpWatch kind, std::uint32_t number) {
    if (kind == TcpWatch::kListener) {
        accept_strangers();
    } else if (kind == TcpWatch::kCall) {
        const auto call = find_call(static_cast<TaskId>(number));
        if (call != calls_.end() && call->fd) step(*call);
    } else if (kind == TcpWatch::kStranger) {
        const auto found =
            std::find_if(strangers_.begin(), strangers_.end(),
                         [number](const Stranger& one) { return one.number == number; });
        if (found != strangers_.end() && !step(*found)) strangers_.erase(found);
    }
}

void TcpConnector::tick() {
    if (idle()) return;
    if (!strangers_.empty() || listener_full_) {
        drop_old_strangers();
        if (listener_full_ && strangers_.size() < kMaxStrangers) {
            listener_full_ = false;
            watch_listener(true);
        }
    }
    const auto now = Clock::now();
    for (auto at = calls_.begin(); at != calls_.end();) {
        Call& call = *at++;  // before begin(), which may erase the call
        if (!call.fd && call.again <= now) begin(call);
    }
}

std::chrono::milliseconds TcpConnector::time_left(std::chrono::milliseconds limit) const {
    const auto now = Clock::now();
    const auto earlier = [&](Clock::time_point when) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - now);
        limit = std::clamp(left, 0ms, limit);
    };
    for (const Call& call : calls_)
        if (!call.fd) earlier(call.again);
    if (!strangers_.empty())
        earlier(strangers_.front().since +
                (listener_full_ ? Clock::duration(kGrace) : Clock::duration(kPatience)));
    return limit;
}

}  // namespace poe::comm
