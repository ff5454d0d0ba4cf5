// MulticastCalls: broadcasts, scatters and concats of a group whose members are all on different
// nodes, by reliable multicast (comm/multicast). A scatter sends the blocks of all members to every
// member. A concat makes one transfer per member, one after the other. The data go by multicast.
// When a member and the members below it in the report tree have all data, it tells its parent by a
// message, which cannot be lost. So a call does not end with a datagram that might have to be
// repeated, and a member that has returned from a call has nothing left to send for it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "collectives/call/groups.hpp"
#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/plan.hpp"
#include "comm/multicast/multicast_endpoint.hpp"

namespace poe::collectives {

class MulticastCalls final : public GroupOwned {
  public:
    // Sends nothing. `context` and `group` must outlive this object.
    MulticastCalls(CollectiveContext& context, Group& group);
    ~MulticastCalls() override;
    MulticastCalls(const MulticastCalls&) = delete;
    MulticastCalls& operator=(const MulticastCalls&) = delete;

    // Returns true if this call can go by multicast; the same at all members. All members ask once
    // for each call that should. Until the network is known to carry multicast between all of them,
    // the answer is false and the call goes by messages. These calls also find out about the
    // network:
    //   - In the first call the members exchange addresses, and each begins to probe.
    //   - In calls 2, 4, 8 and so on they exchange what they have found out. If all probes have
    //     passed, the answer is true from that call on. If some have not passed within their time,
    //     and the members have asked each other kAgreements times, multicast is refused.
    //   - In the same exchanges they tell each other how long a byte of the messages has taken
    //     since the first call, until one of them knows it, at most kTimeExchanges times
    //     (GroupState::time_of_byte).
    // `waits`, the same at all members: the first call waits for the probes and decides.
    bool ready(bool waits);
    // True if multicast is refused. These tasks then refuse it for all groups that they make later,
    // too.
    bool refused() const noexcept { return state_ == State::kRefused; }
    // True if the answer of ready() does not change any more. It can become true only in the first
    // call and in calls 2, 4, 8 and so on.
    bool decided() const noexcept { return refused() || state_ == State::kUsable; }
    // True if, in addition, no more is found out about the network.
    bool settled() const noexcept { return refused() || (state_ == State::kUsable && timed_); }

    // Makes a call; blocks. Returns null, or the plan that failed. Precondition: ready() has
    // returned true for this call. Throws MemberLost if a member without which the call cannot
    // complete has ended in a job that goes on.
    Plan* run(const CollectiveCall& call);

  private:
    // The fewest exchanges after which a probe that has not passed counts as failed. A program that
    // computes for long between its calls does not answer probes in time.
    static constexpr std::uint32_t kAgreements = 3;
    static constexpr std::uint32_t kTimeExchanges = 4;
    enum class State : std::uint8_t { kNew, kProbing, kUsable, kRefused };
    void begin();
    bool exchange_addresses();
    void agree(bool waits);
    void refuse();
    Plan* scatter(const CollectiveCall& call);
    Plan* concat(const CollectiveCall& call);
    Plan* transfer(Rank root, std::byte* data, Bytes bytes, std::uint32_t context);
    void receive(TaskId root);
    Plan& reports_to(Rank root);
    void wait(const std::function<bool()>& over, TaskId whom);

    CollectiveContext& context_;
    Group& group_;
    comm::MulticastEndpoint* endpoint_ = nullptr;
    comm::MulticastGroup* members_ = nullptr;  // the endpoint owns it
    State state_ = State::kNew;
    bool timed_ = false;                           // GroupState::time_of_byte is known
    std::vector<comm::ConnectionUse> use_before_;  // when the probe began
    std::uint32_t calls_ = 0;                      // asked for until it is settled
    std::uint32_t agreements_ = 0;                 // exchanges of what the probes have found
    Plans reports_;                                // by root
    std::vector<std::byte> blocks_;                // of a scatter, for all members
};

// True if such calls can go by multicast; the same at all members, and all call it. Waits for the
// probe of the network if its result is not known yet.
bool can_multicast(CollectiveContext& context, Group& group, const Shape& shape);

}  // namespace poe::collectives
