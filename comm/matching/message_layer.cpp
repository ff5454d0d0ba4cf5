// The core of the message layer: peers, progress, waiting and the blocking calls.
// message_output.cpp has the sending half, message_input.cpp has receiving and matching,
// message_transfers.cpp the ways of long messages.
#include "comm/matching/message_layer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.hpp"
#include "base/relax.hpp"
#include "comm/matching/handover.hpp"
#include "comm/matching/message_peer.hpp"

namespace poe::comm {
namespace {

constexpr std::uint32_t kQuestionsPerSearch = 16;

}  // namespace

MessageLayer::MessageLayer(const MessageLayerSettings& settings, std::vector<Device*> devices,
                           std::function<Device&(TaskId)> device_of, Waiter* waiter)
    : settings_(settings),
      waiter_(waiter),
      devices_(std::move(devices)),
      device_of_(std::move(device_of)),
      peers_(settings.tasks),
      tables_(make_tables()) {
    POE_CHECK(waiter_ != nullptr || settings_.tasks == 1, settings_.tasks);
}

MessageLayer::~MessageLayer() {
    while (Unexpected* message = unexpected_.oldest()) {
        unexpected_.remove(*message);
        delete message;
    }
}

Peer& MessageLayer::make_peer(TaskId task) {
    auto made = std::make_unique<Peer>();
    made->task = task;
    if (task != settings_.me) {
        made->pipe = &device_of_(task).pipe_to(task);
        made->eager_limit = settings_.eager_limit;
        made->at_once = std::min(made->pipe->whole_frames(), settings_.eager_limit);
    }
    auto& known = peers_[static_cast<std::size_t>(task)];
    known = std::move(made);
    return *known;
}

void MessageLayer::admit_guest(Bytes eager_limit) {
    POE_CHECK(eager_limit <= settings_.eager_limit, eager_limit);
    const auto task = static_cast<TaskId>(peers_.size());
    peers_.resize(peers_.size() + 1);
    Peer& guest = make_peer(task);
    guest.eager_limit = eager_limit;
    guest.at_once = std::min(guest.at_once, eager_limit);
}

const char* MessageLayer::fault_of(TaskId task) const noexcept {
    const auto& known = peers_[static_cast<std::size_t>(task)];
    if (!known || known->pipe == nullptr) return nullptr;
    return known->fault != nullptr ? known->fault : known->pipe->fault();
}

[[gnu::hot]] bool MessageLayer::progress() {
    bool moved = false;
    for (Device* device : devices_) moved = device->poll(*this) || moved;
    // By index, because an input may remove itself.
    for (std::size_t i = 0; i < other_inputs_.size(); ++i)
        moved = other_inputs_[i]->poll() || moved;
    if (!sending_.empty()) moved = pump_all() || moved;
    if (!fetches_.empty()) [[unlikely]] {
        fetch_next_piece();
        return true;
    }
    return moved;
}

void MessageLayer::begin_fetching() {
    constexpr int kPieces = 4;
    for (int i = 0; i < kPieces && !fetches_.empty(); ++i) progress();
}

inline bool MessageLayer::look(unsigned times) {
    while (times-- > 0) {
        if (progress()) return true;
    }
    return false;
}

// An announced message is taken into buffer memory only after the wait has lasted a while: most
// receives are posted soon, and the message is then not copied twice.
template <typename Wait>
void MessageLayer::wait_until_over(const Outcome& outcome, const Wait& wait) {
    if (thread_waits_ != nullptr) [[unlikely]]
        return wait_among_threads(wait);
    // Also if an exception ends the wait.
    struct Restore {
        ~Restore() { awaited = outer; }
        const Outcome*& awaited;
        const Outcome* const outer;
    };
    const Restore at_end{awaited_, std::exchange(awaited_, &outcome)};
    waiter_->begin_wait();
    help();
    while (!wait.over()) {
        if (look(waiter_->looks())) {
            help();
            waiter_->restart();
            continue;
        }
        const bool time_to_sleep = waiter_->pause();
        if (waiter_->impatient()) {
            wait.sweep();
            if (wait.over()) break;
            if (take_in_offers()) continue;
            if (waiter_->note_due()) note_wait(wait.awaited());
        }
        if (!time_to_sleep) continue;
        waiter_->begin_sleep();
        // What a helper waits for may be a store to shared memory, which moves no message.
        const bool moved = progress();
        if (help() || moved) {
            waiter_->end_sleep();
            // The arrival may be an unexpected message, which watchers must see.
            waiter_->restart();
        } else if (wait.over()) {
            waiter_->end_sleep();
        } else {
            waiter_->sleep();
            // An activity may depend on the end of a task, which is no arrival.
            help();
        }
    }
    waiter_->end_wait();
}

// Other threads may make any call meanwhile. awaited_ stays null, because several threads wait for
// different operations.
template <typename Wait>
[[gnu::cold]] void MessageLayer::wait_among_threads(const Wait& wait) {
    struct Condition final : WaitCondition {
        Condition(const MessageLayer& its_layer, const Wait& of) noexcept
            : layer(its_layer), its_wait(of) {}
        bool over() override { return its_wait.over(); }
        void sweep() override { its_wait.sweep(); }
        Awaited awaited() const override { return layer.shown(its_wait.awaited()); }
        const MessageLayer& layer;
        const Wait& its_wait;
    };
    Condition condition(*this, wait);
    thread_waits_->wait(condition);
}

// A wait for one request: ends the request if it cannot complete.
template <typename R>
struct MessageLayer::WaitForOne {
    MessageLayer& layer;
    R& request;

    bool over() const { return request.outcome != Outcome::kPending; }
    void sweep() const { layer.end_if_hopeless(request); }
    Awaited awaited() const { return layer.awaited_by(request); }
};

Outcome MessageLayer::wait(SendRequest& request) {
    if (request.outcome != Outcome::kPending) return request.outcome;
    // Only this task can receive a message to itself, and its only thread is blocked here.
    if (request.dest == settings_.me && !shared()) {
        abandon(request);
        finish(request, request.synchronous ? Outcome::kNobodyReceives : Outcome::kNoBuffer);
        return request.outcome;
    }
    wait_until_over(request.outcome, WaitForOne<SendRequest>{*this, request});
    return request.outcome;
}

Outcome MessageLayer::wait(ReceiveRequest& request) {
    if (request.outcome != Outcome::kPending) return request.outcome;
    if (nobody_can_send(request)) {
        end_if_hopeless(request);
    } else {
        wait_until_over(request.outcome, WaitForOne<ReceiveRequest>{*this, request});
    }
    return request.outcome;
}

// A wait for any of several requests. Its note for watchers names no peer, because it cannot name
// several.
struct MessageLayer::WaitForAny {
    const FinishedList& list;
    const std::function<void()>& sweep;

    bool over() const { return list.outcome != Outcome::kPending; }
    Awaited awaited() const { return {}; }
};

void MessageLayer::wait(FinishedList& list, const std::function<void()>& sweep) {
    sweep();
    if (list.outcome == Outcome::kPending) wait_until_over(list.outcome, WaitForAny{list, sweep});
}

struct MessageLayer::WaitForStore {
    MessageLayer& layer;
    const std::function<bool()>& done;
    const std::function<Awaited()>& names_member;
    const std::function<bool()>* give_up;
    bool& given_up;

    bool over() const { return given_up || done(); }
    void sweep() const {
        layer.look_for_ends();
        if (give_up != nullptr) given_up = given_up || (*give_up)();
    }
    Awaited awaited() const { return names_member(); }
};

// The rest of wait_until(), after its first yields.
bool MessageLayer::wait_until_stored(const std::function<bool()>& over,
                                     const std::function<Awaited()>& awaited,
                                     const std::function<bool()>* give_up) {
    const Outcome never = Outcome::kPending;
    bool given_up = false;
    wait_until_over(never, WaitForStore{*this, over, awaited, give_up, given_up});
    return !given_up;
}

void MessageLayer::begin_wait_elsewhere() noexcept {
    if (!shared() && waiter_ != nullptr) waiter_->begin_wait();
}

void MessageLayer::look_elsewhere(const Awaited& awaited) {
    progress();
    take_in_offers();
    if (shared()) return thread_waits_->pass();
    if (waiter_ != nullptr) waiter_->spent_elsewhere(shown(awaited));
}

void MessageLayer::end_if_hopeless(SendRequest& request) {
    if (request.outcome != Outcome::kPending ||
        lost_partner(request.dest, request.context, request.type) < 0)
        return;
    if ((request.id != 0 || request.frame.started) && !has_ended(request.dest)) {
        // The receiver knows this message. If the message was announced, the receiver must forget
        // it before the send ends. If a part of it was sent, the receiver takes the rest.
        request.hopeless = true;
        if (request.id != 0) cancel(request);
        return;
    }
    abandon(request);
    finish(request, Outcome::kPeerBroken);
}

void MessageLayer::end_if_hopeless(ReceiveRequest& request) {
    if (request.outcome != Outcome::kPending) return;
    if (nobody_can_send(request)) {
        abandon(request);
        finish(request, Outcome::kNobodySends);
        return;
    }
    end_if_lost(request);
}

void MessageLayer::end_if_lost(ReceiveRequest& request) {
    if (request.outcome != Outcome::kPending) return;
    TaskId lost = -1;
    if (request.source < 0) {
        lost = lost_sender(request.wanted);
        // To find out about ends makes progress, so the receive may be matched now. Its sender then
        // relies on it.
        if (request.source >= 0) return;
    } else {
        // The receive is matched, and `source` is the sender. As long as the sender lives, it sends
        // the rest or waits until this task has fetched it, even if other members have ended.
        look_for_ends();
        if (fault_of(request.source) != nullptr) lost = request.source;
        ends_.fault_seen = ends_.fault_seen || lost >= 0;
    }
    // look_for_ends() may have completed the receive.
    if (lost < 0 || request.outcome != Outcome::kPending) return;
    request.source = lost;
    abandon(request);
    finish(request, Outcome::kPeerBroken);
}

void MessageLayer::notice_ends(const NodeSegment& segment, LostMember lost_member) {
    ends_.segment = &segment;
    ends_.lost_member = std::move(lost_member);
}

// A task without a connection to this one may have connected and sent a message just before it
// ended, and the connection may still have to be accepted. If none has come after a while, none
// will come.
void MessageLayer::give_up_unconnected() {
    if (ends_.unconnected.empty()) [[likely]]
        return;
    constexpr std::chrono::seconds kWhile{1};
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(ends_.unconnected, [&](const auto& each) {
        if (now - each.second < kWhile) return false;
        Peer& from = peer(each.first);
        if (!from.pipe->shows_end_of_peer()) break_pipe(from, "that task has ended");
        return true;
    });
}

// Everything that an ended task of this node has sent is in its pipe, because pmd stores the end
// after the process is gone. A TCP connection shows the end by itself, after the last message.
void MessageLayer::look_for_ends() {
    if (ends_.segment == nullptr) return;
    give_up_unconnected();
    const std::uint32_t ends = ends_.segment->header().ends.load(std::memory_order_acquire);
    if (ends == ends_.seen) [[likely]]
        return;
    ends_.seen = ends;
    for (std::uint32_t index = 0; index < ends_.segment->local_tasks(); ++index) {
        const TaskId task = ends_.segment->task_at(index);
        if (task == settings_.me || lost(task) ||
            ends_.segment->slot(index).ended.load(std::memory_order_relaxed) == 0)
            continue;
        ends_.tasks.push_back(task);
        Peer& from = peer(task);
        if (from.pipe->shows_end_of_peer()) continue;
        if (from.pipe->connects()) {
            ends_.unconnected.emplace_back(task, std::chrono::steady_clock::now());
            continue;
        }
        progress();  // answers its doorbell
        while (from.fault == nullptr && on_input(*from.pipe)) {
        }
        break_pipe(from, "that task has ended");
    }
}

bool MessageLayer::has_ended(TaskId task) const noexcept {
    if (lost(task)) return true;
    const auto index = ends_.segment != nullptr ? ends_.segment->local_index(task) : std::nullopt;
    return index && ends_.segment->slot(*index).ended.load(std::memory_order_acquire) != 0;
}

bool MessageLayer::lost(TaskId task) const noexcept {
    return fault_of(task) != nullptr ||
           std::find(ends_.tasks.begin(), ends_.tasks.end(), task) != ends_.tasks.end();
}

// Returns the task because of which an operation with `peer` (-1: any task) cannot end.
TaskId MessageLayer::lost_partner(TaskId peer, ContextId context, std::int32_t type) {
    look_for_ends();
    if (peer >= 0 && fault_of(peer) != nullptr) {
        ends_.fault_seen = true;
        return peer;
    }
    const bool needs_all = peer < 0 || !is_of_program(context);
    if (!ends_.lost_member || !needs_all) return -1;
    // Callers ask at every poll. As long as no end is known, only one of kQuestionsPerSearch
    // questions looks at all members.
    if (ends_.tasks.empty() && !ends_.fault_seen && ++ends_.questions % kQuestionsPerSearch != 0)
        return -1;
    return ends_.lost_member(context, type);
}

TaskId MessageLayer::lost_sender(const MatchKey& wanted) {
    const TaskId lost = lost_partner(wanted.source, wanted.context, wanted.type);
    return lost >= 0 && unexpected_.first(wanted) == nullptr ? lost : -1;
}

const Unexpected* MessageLayer::probe(const MatchKey& wanted) {
    return unexpected_.first(wanted);
}

Unexpected* MessageLayer::extract(const MatchKey& wanted) {
    Unexpected* message = unexpected_.first(wanted);
    if (message != nullptr) unexpected_.match(*message);
    return message;
}

bool MessageLayer::cancel(ReceiveRequest& request) {
    const bool unmatched = request.link.queue != nullptr || posted_.blocking == &request;
    if (request.outcome != Outcome::kPending || !unmatched) return false;
    abandon(request);
    finish(request, Outcome::kCancelled);
    return true;
}

// True if only this task could send the message. It cannot, because its only thread is blocked
// here.
bool MessageLayer::nobody_can_send(const ReceiveRequest& request) const noexcept {
    return !shared() && request.source < 0 && (alone() || request.wanted.source == settings_.me);
}

Outcome MessageLayer::send(const BufferView& view, TaskId dest, std::int32_t type,
                           ContextId context, FlowClass flow) {
    const Bytes size = view.size();
    if (dest != settings_.me && size <= settings_.eager_limit) [[likely]] {
        Peer& to = peer(dest);
        if (size <= to.eager_limit && to.idle()) [[likely]] {
            const FrameHeader header{static_cast<std::uint32_t>(size), type, context,
                                     FrameKind::kEager, flow};
            note_sent(to, flow, type, size, context);
            if (size >= kLeastHandover) [[unlikely]] {
                // No other thread may send to this task while an offer is open.
                HandoverSender* out =
                    view.contiguous() && !shared() ? to.pipe->handover_out() : nullptr;
                const bool offer =
                    out != nullptr &&
                    (transfers_.forced_way ? *transfers_.forced_way == CopyMethod::kFetch
                                           : to.handover.offer(size, out->cheaper()));
                if (offer && hand_over(to, *out, view, header)) return Outcome::kDone;
            }
            const Bytes taken = to.pipe->start_frame(header, view, 0, size + kMessageCost);
            if (taken == size) [[likely]]
                return Outcome::kDone;
            if (taken != Pipe::kNoRoom) return send_rest(to, header, view, taken);
            SendRequest request(view, dest, type, context, flow);
            begin(request);
            return wait(request);
        }
    }
    SendRequest request(view, dest, type, context, flow);
    start(request);
    return wait(request);
}

CopyMethod MessageLayer::cheaper_way(TaskId task, Bytes length) {
    Peer& other = peer(task);
    if (!other.pipe->can_fetch()) return CopyMethod::kStream;
    if (length > settings_.eager_limit) return other.single_copy_tuner.costs(length).best();
    HandoverSender* out = length >= kLeastHandover ? other.pipe->handover_out() : nullptr;
    return out != nullptr && out->cheaper().has(length) ? CopyMethod::kFetch : CopyMethod::kStream;
}

// Offers the message to a receive that waits at this moment. Returns false if none takes it.
bool MessageLayer::hand_over(Peer& to, HandoverSender& out, const BufferView& view,
                             const FrameHeader& header) {
    using State = ShmHandover::State;
    // The time limit suffices for a receiver that polls continuously, and is shorter than the copy
    // into the ring.
    const auto limit = std::chrono::nanoseconds(1000 + view.size() / 32);
    constexpr int kLooksPerClock = 16;
    out.offer({reinterpret_cast<std::uintptr_t>(view.start()), view.size(), header.tag,
               header.context, header.flow});
    const auto begun = std::chrono::steady_clock::now();
    while (out.state() == State::kOffered) {
        for (int i = 0; i < kLooksPerClock && out.state() == State::kOffered; ++i) relax();
        if (std::chrono::steady_clock::now() - begun < limit || !out.withdraw()) continue;
        to.handover.not_taken();
        return false;
    }
    const auto over = [&out] { return out.state() != State::kClaimed; };
    for (int i = 0; i < kLooksPerClock * 64 && !over(); ++i) relax();
    if (!over()) {
        const Awaited awaited{Awaited::Kind::kRoom, to.task, header.tag};
        wait_until(over, [&awaited] { return awaited; });
    }
    const bool done = out.state() == State::kDone;
    done ? to.handover.taken() : to.handover.not_taken();
    return done;
}

// Continues an eager message after the pipe has accepted its beginning.
Outcome MessageLayer::send_rest(Peer& to, const FrameHeader& header, const BufferView& view,
                                Bytes taken) {
    SendRequest request(view, to.task, header.tag, header.context, header.flow);
    request.frame.header = header;
    request.frame.payload = view;
    request.frame.request = &request;
    request.frame.started = true;
    request.frame.sent = taken;
    queue_frame(to, request.frame);
    pump(to);
    return wait(request);
}

// A blocking receive of one of several threads. It does not use the fast path, because several
// threads may be in one.
[[gnu::cold]] const ReceiveRequest& MessageLayer::receive_among_threads(const BufferView& view,
                                                                        const MatchKey& wanted) {
    static thread_local ReceiveRequest request;
    request.reset(view, wanted);
    start(request);
    try {
        wait(request);
    } catch (...) {
        abandon(request);
        throw;
    }
    return request;
}

const ReceiveRequest& MessageLayer::receive(const BufferView& view, const MatchKey& wanted) {
    if (shared()) [[unlikely]]
        return receive_among_threads(view, wanted);
    POE_CHECK(posted_.blocking == nullptr);
    ReceiveRequest& request = blocking_receive_;
    request.reset(view, wanted);
    if (Unexpected* message = unexpected_.first(request.wanted)) {
        take(*message, request);
    } else {
        posted_.blocking = &request;
    }
    wait(request);
    posted_.blocking = nullptr;
    return request;
}

}  // namespace poe::comm
