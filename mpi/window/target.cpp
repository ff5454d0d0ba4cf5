// The execution of other tasks' operations; see target.hpp.
#include "mpi/window/target.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/datatype/datatype.hpp"
#include "mpi/window/shared_memory.hpp"

namespace poe::mpi {
namespace {

// Operations that are received at the same time; the messages of others wait in buffer memory.
constexpr std::size_t kMostIncoming = 256;
// Visits until the target looks again whether an origin has died, and the time until it looks again
// whether a holder of its lock has: a task that sleeps visits its targets rarely.
constexpr unsigned kVisitsPerSweep = 1024;
constexpr std::chrono::milliseconds kBetweenDrops{100};
constexpr auto kWindowFlow = comm::FlowClass::kCollective;

}  // namespace

std::byte* address_in(const Window& window, const Access& access) noexcept {
    std::int64_t first = 0;
    std::int64_t end = 0;
    if (__builtin_add_overflow(access.displacement, access.lower, &first) ||
        __builtin_add_overflow(access.displacement, access.upper, &end))
        return nullptr;
    if (!window.dynamic()) {
        const auto own = static_cast<std::size_t>(window.rank());
        const WindowMember& member = window.members[own];
        if (first < 0 || end > member.size) return nullptr;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<std::byte*>(member.base + access.displacement);
    }
    auto next = window.attached.upper_bound(first);
    if (next == window.attached.begin()) return nullptr;
    // Memory that was attached in adjacent parts counts as one.
    std::int64_t known = first;
    for (--next; next != window.attached.end() && next->first <= known && known < end; ++next)
        known = std::max(known, next->first + next->second.size);
    if (known < end) return nullptr;
    return reinterpret_cast<std::byte*>(access.displacement);  // NOLINT(performance-no-int-to-ptr)
}

void Target::serve(comm::MessageLayer& messages) {
    accept(messages);
    for (auto one = incoming_.begin(); one != incoming_.end();) {
        advance(messages, *one);
        one = one->step == Incoming::Step::kDone ? incoming_.erase(one) : std::next(one);
    }
    std::erase_if(outgoing_, [&](const auto& message) {
        if (message->send.outcome == comm::Outcome::kPending && visits_ % kVisitsPerSweep == 0)
            messages.end_if_hopeless(message->send);
        return message->send.outcome != comm::Outcome::kPending;
    });
    ++visits_;
    if (!locks_.idle() && std::chrono::steady_clock::now() - last_drop_ >= kBetweenDrops)
        drop_locks_of_the_dead();
}

void Target::accept(comm::MessageLayer& messages) {
    const comm::MatchKey any{window_.context(WindowContext::kAccess), comm::kWildcard,
                             comm::kWildcard};
    while (incoming_.size() < kMostIncoming) {
        comm::Unexpected* const message = messages.extract(any);
        if (message == nullptr) return;
        Incoming& one = incoming_.emplace_back();
        one.source = message->from.source;
        one.message.resize(message->length);
        one.receive.reset({one.message.data(), one.message.size()}, {});
        messages.start(one.receive, *message);
    }
}

bool Target::first_of_source(const Incoming& one) const noexcept {
    for (const Incoming& other : incoming_) {
        if (&other == &one) return true;
        if (other.source == one.source && other.step != Incoming::Step::kDone) return false;
    }
    return true;
}

void Target::advance(comm::MessageLayer& messages, Incoming& one) {
    using Step = Incoming::Step;
    if (one.receive.outcome == comm::Outcome::kPending) {
        if (visits_ % kVisitsPerSweep == 0) messages.end_if_lost(one.receive);
        if (one.receive.outcome == comm::Outcome::kPending) return;
    }
    if (one.receive.outcome != comm::Outcome::kDone) {
        one.step = Step::kDone;  // its origin has ended
        return;
    }
    if (one.step == Step::kMessage) one.step = unpack(one) ? Step::kTurn : Step::kDone;
    if (one.step == Step::kTurn && first_of_source(one)) {
        one.step = Step::kData;
        if (!one.access.data_inside && one.access.sent_bytes() > 0) begin_data(messages, one);
    }
    if (one.step != Step::kData || one.receive.outcome == comm::Outcome::kPending) return;
    if (one.receive.outcome == comm::Outcome::kDone) apply(messages, one);
    one.step = Step::kDone;
}

// The data of the operation that came with its message.
std::span<const std::byte> Target::inside(const Incoming& one) const noexcept {
    return std::span(one.message).subspan(sizeof(Access) + one.access.type_bytes);
}

// False if the message is damaged.
bool Target::unpack(Incoming& one) {
    if (one.message.size() < sizeof(Access)) return false;
    std::memcpy(&one.access, one.message.data(), sizeof(Access));
    const Access& access = one.access;
    if (one.message.size() - sizeof(Access) < access.type_bytes || access.count < 0) return false;
    if (access.data_inside && inside(one).size() != access.sent_bytes()) return false;
    if (!takes_data(access.kind) && !gives_data(access.kind)) return true;
    if (access.type_bytes > 0) {
        TypeNumbers numbers(access.type_bytes / sizeof(std::int64_t));
        std::memcpy(numbers.data(), one.message.data() + sizeof(Access),
                    numbers.size() * sizeof(std::int64_t));
        one.type = TargetType(numbers);
        one.layout = one.type.layout(access.count);
    } else {
        const Datatype* type = find_predefined_datatype(access.element);
        if (type == nullptr) return false;
        one.layout = type->layout(access.count);
    }
    if (one.layout.size() != access.bytes) return false;
    one.memory = address_in(window_, access);
    if (one.memory == nullptr) refusals_[one.source] = MPI_ERR_RMA_RANGE;
    return true;
}

void Target::begin_data(comm::MessageLayer& messages, Incoming& one) {
    comm::BufferView view;
    if (one.memory != nullptr && one.access.kind == AccessKind::kPut) {
        view = {one.memory, one.layout, one.layout.size()};
        TypedLayout::Strided form;
        if (one.layout.strided(form) && form.blocks <= 1)
            view = {one.memory + form.displacement, one.layout.size()};
    } else {
        one.data.resize(one.access.sent_bytes());
        view = {one.data.data(), one.data.size()};
    }
    one.receive = {};
    one.receive.reset(view, {window_.context(WindowContext::kData), one.source,
                             static_cast<std::int32_t>(one.access.number)});
    messages.start(one.receive);
    messages.begin_fetching();
}

void Target::apply(comm::MessageLayer& messages, Incoming& one) {
    const Access& access = one.access;
    if (!takes_data(access.kind) && !gives_data(access.kind)) return synchronise(messages, one);
    if (!gives_data(access.kind)) {
        const bool received = access.kind == AccessKind::kPut && !access.data_inside;
        if (one.memory == nullptr || received) return;
        const AccumulateLock lock(window_, window_.rank(), is_atomic(access.kind));
        carry_out(access, one.memory, one.layout,
                  access.data_inside ? inside(one).data() : one.data.data(), nullptr);
        return;
    }
    auto answer = std::make_unique<Outgoing>();
    if (one.memory == nullptr) {
        // An empty message says that the operation was refused.
    } else if (access.kind == AccessKind::kGet) {
        answer->type = std::move(one.type);
        answer->layout = one.layout;
        answer->send.view = {one.memory, answer->layout, answer->layout.size()};
        TypedLayout::Strided form;
        if (answer->layout.strided(form) && form.blocks <= 1)
            answer->send.view = {one.memory + form.displacement, answer->layout.size()};
    } else {
        answer->data.resize(access.bytes);
        const AccumulateLock lock(window_, window_.rank(), true);
        carry_out(access, one.memory, one.layout,
                  access.data_inside ? inside(one).data() : one.data.data(), answer->data.data());
        answer->send.view = {answer->data.data(), answer->data.size()};
    }
    send(messages, std::move(answer), one.source, access.number);
}

void Target::synchronise(comm::MessageLayer&, const Incoming& one) {
    const Access& access = one.access;
    const int rank = window_.comm->local->rank_of(one.source);
    switch (access.kind) {
        case AccessKind::kLockShared:
        case AccessKind::kLockSharedAhead:
        case AccessKind::kLockExclusive:
            locks_.request({rank, access.kind == AccessKind::kLockExclusive, access.number,
                            access.kind == AccessKind::kLockSharedAhead});
            return grant_locks();
        case AccessKind::kUnlock:
            locks_.release(rank);
            send_code(one.source, access.number, std::exchange(refusals_[one.source], 0));
            return grant_locks();
        case AccessKind::kFlush:
            return send_code(one.source, access.number, std::exchange(refusals_[one.source], 0));
        case AccessKind::kComplete:
            ++window_.member(rank).completes;
            return;
        default:
            return;
    }
}

void Target::grant_locks() {
    while (const auto claim = locks_.grant()) {
        if (claim->rank == window_.rank()) {
            own_lock_ = true;
        } else {
            send_code(window_.task(claim->rank), claim->number, MPI_SUCCESS);
        }
    }
}

void Target::release_own_lock() {
    own_lock_ = false;
    locks_.release(window_.rank());
    grant_locks();
}

void Target::drop_locks_of_the_dead() {
    last_drop_ = std::chrono::steady_clock::now();
    // The call looks for tasks that have ended.
    runtime_.messages().lost_sender(
        {window_.context(WindowContext::kAccess), comm::kWildcard, comm::kWildcard});
    for (int rank = 0; rank < window_.size(); ++rank) {
        if (rank != window_.rank() && runtime_.messages().lost(window_.task(rank)))
            locks_.release(rank);
    }
    grant_locks();
}

void Target::send_code(TaskId to, std::uint32_t number, std::int32_t code) {
    const comm::BufferView view(&code, sizeof code);
    if (runtime_.messages().send_at_once(view, to, static_cast<std::int32_t>(number),
                                         window_.context(WindowContext::kReply), kWindowFlow))
        return;
    auto answer = std::make_unique<Outgoing>();
    answer->data.resize(sizeof code);
    std::memcpy(answer->data.data(), &code, sizeof code);
    answer->send.view = {answer->data.data(), answer->data.size()};
    send(runtime_.messages(), std::move(answer), to, number);
}

void Target::send(comm::MessageLayer& messages, std::unique_ptr<Outgoing> message, TaskId to,
                  std::uint32_t number) {
    comm::SendRequest& send = message->send;
    send.dest = to;
    send.type = static_cast<std::int32_t>(number);
    send.context = window_.context(WindowContext::kReply);
    send.flow = kWindowFlow;
    messages.start(send);
    if (send.outcome == comm::Outcome::kPending) outgoing_.push_back(std::move(message));
}

}  // namespace poe::mpi
