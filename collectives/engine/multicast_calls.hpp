// MulticastCalls: broadcasts of a group whose members are all on different nodes, by reliable multicast
// (comm/multicast). The data go by multicast; that all members have them is reported to the root by
// messages, along the report tree. So the end of a call needs no datagram that could be lost, and a
// member that has left a call owes nothing to the others.
#pragma once

#include <functional>

#include "collectives/call/groups.hpp"
#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/plan.hpp"
#include "comm/multicast/multicast_endpoint.hpp"

namespace poe::collectives {

class MulticastCalls final : public GroupOwned {
  public:
    // All members make this object at the same call. It blocks until they agree on whether the
    // network carries multicast between all of them: each exchanges addresses with the others, then
    // probes. If not, multicast is given up in all of these tasks, for groups that are made later
    // too. `context` and `group` must outlive this object.
    MulticastCalls(CollectiveContext& context, Group& group);
    ~MulticastCalls() override;
    MulticastCalls(const MulticastCalls&) = delete;
    MulticastCalls& operator=(const MulticastCalls&) = delete;

    // The same at all members.
    bool usable() const noexcept { return usable_; }

    // Makes a broadcast; blocks. Returns null, or the plan that failed. Precondition: usable(), and
    // fits_multicast of the shape. Throws MemberLost if a member has ended in a job that goes on.
    Plan* run(const CollectiveCall& call);

  private:
    bool exchange_addresses();
    bool all_agree(bool works);
    Plan& reports_to(Rank root);
    void wait(const std::function<bool()>& over, TaskId whom);

    CollectiveContext& context_;
    Group& group_;
    comm::MulticastEndpoint* endpoint_ = nullptr;
    comm::MulticastGroup* members_ = nullptr;  // the endpoint owns it
    bool usable_ = false;
    Plans reports_;  // by root
};

}  // namespace poe::collectives
