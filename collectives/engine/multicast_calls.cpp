// Calls by multicast; see multicast_calls.hpp.
#include "collectives/engine/multicast_calls.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/copy_block.hpp"
#include "base/error.hpp"
#include "collectives/engine/group_state.hpp"
#include "collectives/selection/multicast_cost.hpp"
#include "comm/multicast/report_tree.hpp"
#include "comm/tcp/tcp_handshake.hpp"

namespace poe::collectives {
namespace {

// What each member tells the others. `nonce` of rank 0 becomes the id of the group.
struct Introduction {
    std::uint64_t nonce = 0;
    comm::DatagramAddress at;
    std::uint64_t usable = 0;
};

// What a member has found out.
struct Found {
    std::uint32_t passed = 0;  // of its probe
    std::uint32_t over = 0;    // passed, or its time is over
    double time_of_byte = 0;
};

// While packets arrive steadily and at least kManyMissing are missing, a receiver looks for them at
// intervals, instead of being woken by each. Where a node has few cores, or one computer is several
// nodes, waking costs more than reading. The interval grows and shrinks so that the packets of one
// interval fit into a socket's buffer of the default size, about 180 packets, on a network of any
// speed.
using Interval = std::chrono::microseconds;
constexpr Interval kFirstInterval{100};
constexpr Interval kLongestInterval{1000};
constexpr std::uint32_t kManyMissing = 64;
constexpr std::uint32_t kSteady = 4;  // packets after the last interval began
constexpr std::uint32_t kFewInInterval = 24;
constexpr std::uint32_t kMostInInterval = 48;

// Returns the interval that follows one of length `last` in which `arrived` packets have arrived.
Interval next_interval(Interval last, std::uint32_t arrived) {
    if (arrived > kMostInInterval) return last * kMostInInterval / arrived;
    return arrived < kFewInInterval ? std::min(2 * last, kLongestInterval) : last;
}

// The steps by which each member tells its parent that its part of the report tree has all data.
Generator report_steps(std::uint32_t n, Rank root) {
    return [n, to = static_cast<std::uint32_t>(root)](Rank rank, Schedule& into) {
        const auto own = static_cast<std::uint32_t>(rank);
        for (const std::uint32_t child : comm::report_children(n, to, own))
            into.await_signal(static_cast<Rank>(child), 0);
        into.wait();
        if (own != to) into.signal(static_cast<Rank>(comm::report_parent(n, to, own)), 1);
        into.wait();
    };
}

}  // namespace

MulticastCalls::MulticastCalls(CollectiveContext& context, Group& group)
    : context_(context), group_(group) {}

MulticastCalls::~MulticastCalls() {
    if (members_ != nullptr) endpoint_->close(*members_);
}

bool MulticastCalls::ready(bool waits) {
    if (settled()) [[likely]]
        return !refused();
    ++calls_;
    if (state_ == State::kNew) {
        begin();
        if (!waits) return false;
    } else if (!waits && !is_power_of_two(calls_)) {
        return state_ == State::kUsable;
    }
    if (!settled()) agree(waits);
    return state_ == State::kUsable;
}

void MulticastCalls::begin() {
    comm::TcpDevice* const device = context_.tcp();
    endpoint_ = device != nullptr ? device->multicast() : nullptr;
    if (!exchange_addresses()) {
        refuse();
        return;
    }
    state_ = State::kProbing;
    use_before_ = device->use_of_connections();
    if (members_ == nullptr) return;
    members_->begin_probe(std::chrono::steady_clock::now());
    endpoint_->poll();
}

void MulticastCalls::refuse() {
    state_ = State::kRefused;
    if (members_ != nullptr) endpoint_->close(*members_);
    members_ = nullptr;
    if (comm::TcpDevice* const device = context_.tcp())
        device->give_up_multicast("the network does not carry multicast between all nodes");
}

// Returns false if a member has no endpoint; all members get the same answer. A member that cannot
// join the multicast address still takes part in agree(), where it reports a failed probe.
bool MulticastCalls::exchange_addresses() {
    Introduction own;
    const comm::Nonce nonce = comm::fresh_nonce();
    std::memcpy(&own.nonce, nonce.data(), sizeof own.nonce);
    if (endpoint_ != nullptr) {
        own.at = endpoint_->own();
        own.usable = 1;
    }
    std::vector<Introduction> all(group_.size());
    if (context_.allgather_internal(group_, &own, all.data(), sizeof own,
                                    context_.next_type(group_)) != nullptr)
        return false;
    if (!std::all_of(all.begin(), all.end(), [](const auto& each) { return each.usable == 1; }))
        return false;
    std::vector<comm::DatagramAddress> addresses;
    for (const Introduction& each : all) addresses.push_back(each.at);
    try {
        members_ = &endpoint_->open(all[0].nonce, std::move(addresses),
                                    static_cast<std::uint32_t>(group_.me));
    } catch (const Error&) {
        members_ = nullptr;
    }
    return true;
}

// All members decide alike, because each gets the findings of all.
void MulticastCalls::agree(bool waits) {
    const auto over = [this] { return members_->probe_over(std::chrono::steady_clock::now()); };
    Found own{0, 1, 0};
    if (!timed_)
        own.time_of_byte =
            comm::time_of_byte(use_before_, context_.tcp()->use_of_connections(), calls_ - 1);
    if (state_ == State::kUsable) {
        own.passed = 1;
    } else if (members_ != nullptr) {
        if (waits) wait(over, Awaited::kAnybody);
        own.passed = members_->probe_passed() ? 1U : 0U;
        own.over = over() ? 1U : 0U;
    }
    std::vector<Found> all(group_.size());
    const bool exchanged = context_.allgather_internal(group_, &own, all.data(), sizeof own,
                                                       context_.next_type(group_)) == nullptr;
    ++agreements_;
    const auto passed = [](const Found& each) { return each.passed == 1; };
    const auto is_over = [](const Found& each) { return each.over == 1; };
    if (exchanged && std::all_of(all.begin(), all.end(), passed)) {
        if (state_ != State::kUsable) members_->end_probe();
        state_ = State::kUsable;
        // The member that has sent most has waited longest for its cable.
        double longest = 0;
        for (const Found& each : all) longest = std::max(longest, each.time_of_byte);
        timed_ = longest > 0 || waits || agreements_ >= kTimeExchanges;
        if (timed_) state_of(group_).time_of_byte = longest;
    } else if (!exchanged || ((waits || agreements_ >= kAgreements) &&
                              std::all_of(all.begin(), all.end(), is_over))) {
        refuse();
    }
}

// Multicast makes progress with the messages. Tasks of MPI do not end before all members have
// returned from the call, so any member that has ended is a loss. A task of MPL may return and end
// while others still wait for data that will be repeated for them; they need only the root.
void MulticastCalls::wait(const std::function<bool()>& over, TaskId whom) {
    const auto awaited = [whom]() -> Awaited { return {Awaited::Kind::kMessage, whom, -1}; };
    const std::function<bool()> member_lost = [this, whom] {
        const bool needs_all = context_.messages().notices_ends();
        const auto lost = [&](TaskId task) {
            return (needs_all || task == whom) && context_.messages().lost(task);
        };
        const auto first = std::find_if(group_.members.begin(), group_.members.end(), lost);
        if (first != group_.members.end()) group_.lost_member = *first;
        return group_.lost_member >= 0;
    };
    if (context_.messages().wait_until(over, awaited, &member_lost)) return;
    if (members_ != nullptr) members_->end_call();
    throw MemberLost(group_.lost_member);
}

Plan& MulticastCalls::reports_to(Rank root) {
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = group_.size();
    shape.root = root;
    if (Plan* kept = reports_.find(shape, false)) return *kept;
    return reports_.add(
        std::make_unique<Plan>(shape, report_steps(shape.n, root), group_.me, false), false);
}

void MulticastCalls::receive(TaskId root) {
    std::uint32_t seen = 0;
    Interval interval = kFirstInterval;
    const auto steady = [&] {
        return members_->missing() >= kManyMissing && members_->arrived() - seen >= kSteady;
    };
    const auto next = [&] { return members_->received() || steady(); };
    for (;;) {
        wait(next, root);
        if (members_->received()) return;
        seen = members_->arrived();
        context_.tcp()->sleep_through_multicast(interval);
        context_.messages().progress();
        interval = next_interval(interval, members_->arrived() - seen);
    }
}

// Sends the data of the root to all members.
Plan* MulticastCalls::transfer(Rank root, std::byte* data, Bytes bytes, std::uint32_t context) {
    const auto sender = static_cast<std::uint32_t>(root);
    const auto now = std::chrono::steady_clock::now();
    const bool sends = root == group_.me;
    if (sends) {
        members_->begin_send(data, bytes, now);
        endpoint_->poll();
    } else {
        members_->begin_receive(sender, data, bytes, now);
        receive(group_.members[sender]);
    }
    Plan& reports = reports_to(root);
    context_.begin(group_, reports, {nullptr, nullptr, {}, 0, context});
    reports.finish(context_.messages());
    const auto other_length = sends ? std::nullopt : members_->wrong_length();
    members_->end_call();
    if (reports.went_wrong()) return &reports;
    if (!other_length) return nullptr;
    reports.fail_with_length(group_.members[sender], *other_length, bytes);
    return &reports;
}

Plan* MulticastCalls::scatter(const CollectiveCall& call) {
    const auto me = static_cast<std::uint32_t>(group_.me);
    const Bytes all = multicast_bytes(call.shape);
    // The root's input is only read.
    auto* blocks = const_cast<std::byte*>(call.run.given);
    if (call.shape.root != group_.me) {
        blocks_.resize(all);
        blocks = blocks_.data();
    }
    Plan* const failed = transfer(call.shape.root, blocks, all, call.run.context);
    const Bytes own = call.shape.length(me);
    if (failed == nullptr && own > 0)
        copy_block(call.run.result, blocks + call.shape.offset(me), own);
    return failed;
}

Plan* MulticastCalls::concat(const CollectiveCall& call) {
    const Shape& shape = call.shape;
    const auto me = static_cast<std::uint32_t>(group_.me);
    const auto place = [&](std::uint32_t rank) { return call.run.result + shape.offset(rank); };
    if (shape.length(me) > 0) copy_block(place(me), call.run.given, shape.length(me));
    for (std::uint32_t root = 0; root < shape.n; ++root) {
        if (shape.length(root) == 0) continue;
        if (Plan* const failed = transfer(static_cast<Rank>(root), place(root), shape.length(root),
                                          call.run.context))
            return failed;
    }
    return nullptr;
}

Plan* MulticastCalls::run(const CollectiveCall& call) {
    switch (call.shape.operation) {
        case Operation::kScatter:
            return scatter(call);
        case Operation::kConcat:
            return concat(call);
        default:
            return transfer(call.shape.root, call.run.result, call.shape.bytes, call.run.context);
    }
}

bool can_multicast(CollectiveContext& context, Group& group, const Shape& shape) {
    return context.may_multicast() && context.path_by(Transport::kMulticast, group, shape) &&
           static_cast<MulticastCalls&>(*state_of(group).multicast).ready(true);
}

}  // namespace poe::collectives
