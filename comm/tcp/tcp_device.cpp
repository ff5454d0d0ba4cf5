// Polling, sleeping, and the start and end of connections; see tcp_device.hpp.
#include "comm/tcp/tcp_device.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "comm/progress/wake_fifo.hpp"

namespace poe::comm {
namespace {

using namespace std::chrono_literals;

void add_once(std::vector<TcpPipe*>& list, TcpPipe& pipe) {
    if (std::find(list.begin(), list.end(), &pipe) == list.end()) list.push_back(&pipe);
}

}  // namespace

UniqueFd inherited_listener(const NodeSegment& segment, TaskId me) {
    const auto index = segment.local_index(me);
    POE_CHECK(index.has_value(), me);
    const int fd = segment.slot(*index).listener;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (fd <= 2 || ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
        listens == 0) {
        throw Error("the listening socket that this task should have inherited (descriptor " +
                    std::to_string(fd) +
                    ") is not there: something between poe and this program has closed it; start "
                    "the program so that it inherits open files (in Python: close_fds=False)");
    }
    // Close-on-exec, because processes that this task starts are not tasks.
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return UniqueFd(fd);
}

TcpDevice::TcpDevice(const NodeSegment& segment, TaskId me, UniqueFd listener, Bytes token_capacity,
                     bool beside_shared_memory)
    : segment_(segment),
      me_(me),
      token_capacity_(token_capacity),
      beside_shared_memory_(beside_shared_memory),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      peers_(segment, me),
      pipes_(segment.tasks()) {
    if (!epoll_) throw_errno("cannot make an epoll");
    if (beside_shared_memory_) {
        fifo_ = WakeFifos(segment).make(me);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = watch_key(TcpWatch::kFifo, 0);
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fifo_.get(), &event) != 0)
            throw_errno("cannot watch a FIFO");
    }
    TcpConnectorEvents& events = *this;
    connector_ = std::make_unique<TcpConnector>(peers_, std::move(listener), epoll_.get(), events);
}

TcpDevice::~TcpDevice() = default;

// --- connections

TcpPipe& TcpDevice::tcp_pipe(TaskId peer) {
    auto& pipe = pipes_[static_cast<std::size_t>(peer)];
    if (!pipe) {
        const std::size_t own = segment_.tasks();
        const auto task = static_cast<std::size_t>(peer);
        TcpPipeHost& host = *this;
        pipe = std::make_unique<TcpPipe>(
            peer, task < own ? token_capacity_ : guests_token_capacity_[task - own],
            peers_.name(peer), host);
    }
    return *pipe;
}

void TcpDevice::add(TcpLink link, std::span<const Bytes> token_capacities) {
    peers_.add(std::move(link));
    guests_token_capacity_.insert(guests_token_capacity_.end(), token_capacities.begin(),
                                  token_capacities.end());
    pipes_.resize(peers_.tasks());
    POE_CHECK(guests_token_capacity_.size() + segment_.tasks() == pipes_.size(), pipes_.size());
}

std::pair<NodeAddress, std::uint16_t> TcpDevice::listens_at() const {
    return local_address(connector_->listener());
}

Pipe& TcpDevice::pipe_to(TaskId peer) {
    POE_CHECK(peer >= 0 && static_cast<std::size_t>(peer) < pipes_.size() && peer != me_, peer);
    return tcp_pipe(peer);
}

void TcpDevice::want_connection(TcpPipe& pipe) {
    connector_->call(pipe.peer());
}

void TcpDevice::want_room(TcpPipe& pipe) {
    add_once(waiting_, pipe);
}

void TcpDevice::watch(TcpPipe& pipe, int operation, bool output) const {
    epoll_event event{};
    event.events = EPOLLIN | (output ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
    event.data.u64 = watch_key(TcpWatch::kPipe, static_cast<std::uint32_t>(pipe.peer()));
    if (::epoll_ctl(epoll_.get(), operation, pipe.fd(), &event) != 0)
        throw_errno("cannot watch a connection");
}

void TcpDevice::on_connection(TaskId peer, UniqueFd fd) {
    TcpPipe& pipe = tcp_pipe(peer);
    pipe.open(std::move(fd));
    watch(pipe, EPOLL_CTL_ADD, false);
    open_.push_back(&pipe);
    if (pipe.needs_room()) add_once(waiting_, pipe);
    changed_ = true;
}

void TcpDevice::on_no_connection(TaskId peer, const std::string& why) {
    tcp_pipe(peer).lose(why);
    changed_ = true;
}

// Stops watching a connection that has ended. The socket stays open until this task ends, and input
// that was read from it is still delivered.
void TcpDevice::retire(TcpPipe& pipe) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, pipe.fd(), nullptr);
    std::erase(open_, &pipe);
}

// --- looking

bool TcpDevice::deliver(TcpPipe& pipe, PipeSink& sink) {
    const bool moved = sink.on_input(pipe);
    // Input that is not consumed: the message layer has given up the pipe.
    const bool given_up = pipe.has_input() && !moved;
    if (pipe.has_input() && moved) add_once(buffered_, pipe);
    if (given_up || pipe.broken()) retire(pipe);
    return moved;
}

bool TcpDevice::look_at(TcpPipe& pipe, PipeSink& sink) {
    if (pipe.reads_directly()) return deliver(pipe, sink);
    if (!pipe.fill()) {
        if (pipe.broken()) retire(pipe);
        return false;
    }
    deliver(pipe, sink);
    return true;
}

bool TcpDevice::look_at_all(PipeSink& sink) {
    bool moved = false;
    // From the end, because the polled pipe may be removed, and new ones are appended.
    for (std::size_t i = open_.size(); i-- > 0;) moved = look_at(*open_[i], sink) || moved;
    return moved;
}

bool TcpDevice::look_at_events(PipeSink& sink) {
    int count = event_count_;
    event_count_ = 0;
    if (count == 0)
        count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
    bool moved = false;
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        const auto kind = static_cast<TcpWatch>(event.data.u64 >> 32);
        const auto number = static_cast<std::uint32_t>(event.data.u64);
        if (kind == TcpWatch::kFifo) {
            empty_fifo();
        } else if (kind == TcpWatch::kDatagrams) {
            datagrams_due_ = true;
        } else if (kind != TcpWatch::kPipe) {
            connector_->on_event(kind, number);
        } else {
            TcpPipe& pipe = *pipes_[number];
            if ((event.events & EPOLLOUT) != 0 && pipe.is_open() && !pipe.needs_room())
                watch(pipe, EPOLL_CTL_MOD, false);
            if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
                moved = look_at(pipe, sink) || moved;
        }
    }
    return moved;
}

bool TcpDevice::deliver_buffered(PipeSink& sink) {
    bool moved = false;
    round_.swap(buffered_);
    for (TcpPipe* pipe : round_) moved = deliver(*pipe, sink) || moved;
    round_.clear();
    return moved;
}

bool TcpDevice::flush_waiting() {
    bool moved = false;
    for (TcpPipe* pipe : waiting_) moved = pipe->flush() || moved;
    std::erase_if(waiting_, [](const TcpPipe* pipe) { return !pipe->needs_room(); });
    return moved;
}

MulticastEndpoint* TcpDevice::multicast(std::string* why) {
    if (!multicast_ && no_multicast_.empty()) {
        try {
            multicast_ = std::make_unique<MulticastEndpoint>(segment_, me_);
            watch_datagrams(EPOLL_CTL_ADD);
        } catch (const Error& error) {
            no_multicast_ = error.what();
        }
    }
    if (why != nullptr) *why = no_multicast_;
    return no_multicast_.empty() ? multicast_.get() : nullptr;
}

void TcpDevice::watch_datagrams(int operation) {
    const int sending = multicast_->descriptors()[0];
    watches_room_ = multicast_->needs_room();
    epoll_event event{};
    event.data.u64 = watch_key(TcpWatch::kDatagrams, 0);
    event.events = EPOLLIN | (watches_room_ ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
    if (::epoll_ctl(epoll_.get(), operation, sending, &event) != 0)
        throw_errno("cannot watch a socket of multicast");
    if (operation == EPOLL_CTL_ADD) watch_multicast(operation, true);
}

void TcpDevice::watch_multicast(int operation, bool input) {
    epoll_event event{};
    event.data.u64 = watch_key(TcpWatch::kDatagrams, 0);
    event.events = input ? static_cast<std::uint32_t>(EPOLLIN) : 0U;
    if (::epoll_ctl(epoll_.get(), operation, multicast_->descriptors()[1], &event) != 0)
        throw_errno("cannot watch a socket of multicast");
}

void TcpDevice::sleep_through_multicast(std::chrono::nanoseconds limit) {
    watch_multicast(EPOLL_CTL_MOD, false);
    sleep(limit);
    watch_multicast(EPOLL_CTL_MOD, true);
}

std::vector<ConnectionUse> TcpDevice::use_of_connections() const {
    std::vector<ConnectionUse> uses;
    for (const TcpPipe* const pipe : open_)
        uses.push_back(use_of_connection(pipe->fd(), pipe->peer()));
    return uses;
}

bool TcpDevice::poll_multicast() {
    if (!datagrams_due_ && looks_ % kRoundEvery != 0 && !multicast_->busy()) return false;
    datagrams_due_ = false;
    return multicast_->poll();
}

bool TcpDevice::poll(PipeSink& sink) {
    if (beside_shared_memory_ && event_count_ == 0 && ++skipped_ < kShareOfLooks) return false;
    bool moved = multicast_ && poll_multicast();
    if (!buffered_.empty() && deliver_buffered(sink)) moved = true;
    if (!waiting_.empty()) moved = flush_waiting() || moved;
    if (!moved || event_count_ > 0) {
        const bool few = open_.size() <= kFewPipes && !open_.empty();
        if (!few || event_count_ > 0 || ++looks_ % kRoundEvery == 0 || !connector_->idle()) {
            moved = look_at_events(sink) || moved;
            connector_->tick();
        } else {
            moved = look_at_all(sink) || moved;
        }
    }
    if (changed_) {
        changed_ = false;
        moved = true;
    }
    skipped_ = moved ? kShareOfLooks : 0;
    return moved;
}

// --- sleeping

void TcpDevice::empty_fifo() noexcept {
    std::array<char, 256> bytes;
    while (::read(fifo_.get(), bytes.data(), bytes.size()) > 0) {
    }
}

int TcpDevice::prepare_sleep(std::chrono::nanoseconds& limit) noexcept {
    for (TcpPipe* pipe : waiting_)
        if (pipe->needs_room()) watch(*pipe, EPOLL_CTL_MOD, true);
    // The events of the last sleep must be looked at first: handshakes have each event once only.
    if (!buffered_.empty() || event_count_ > 0) {
        limit = 0ns;
    } else if (!connector_->idle()) {
        limit = connector_->time_left(std::chrono::ceil<std::chrono::milliseconds>(limit));
    }
    if (multicast_) {
        datagrams_due_ = true;
        if (watches_room_ != multicast_->needs_room()) watch_datagrams(EPOLL_CTL_MOD);
        if (const auto due = multicast_->due())
            limit = std::clamp<std::chrono::nanoseconds>(*due - std::chrono::steady_clock::now(),
                                                         0ns, limit);
    }
    // Forces the poll after the sleep to be a full one.
    skipped_ = kShareOfLooks;
    looks_ = kRoundEvery - 1;
    return epoll_.get();
}

void TcpDevice::sleep(std::chrono::nanoseconds limit) noexcept {
    prepare_sleep(limit);
    if (limit == 0ns) return;
    const auto most = static_cast<int>(events_.size());
    const timespec time{limit / 1s, (limit % 1s).count()};
    event_count_ = ::epoll_pwait2(epoll_.get(), events_.data(), most, &time, nullptr);
    if (event_count_ < 0 && errno != EINTR) {
        // Linux before 5.11, or a container that forbids unknown system calls.
        const auto whole = std::chrono::ceil<std::chrono::milliseconds>(limit);
        event_count_ =
            ::epoll_wait(epoll_.get(), events_.data(), most, static_cast<int>(whole.count()));
    }
    event_count_ = std::max(0, event_count_);
}

bool TcpDevice::finish_sending() {
    bool finished = true;
    for (const auto& pipe : pipes_)
        if (pipe && !pipe->finish_sending()) finished = false;
    return finished;
}

}  // namespace poe::comm
