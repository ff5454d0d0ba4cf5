// CallPath: an alternative path for blocking calls on one group, which does not run the schedule of
// the whole group.
#pragma once

#include "collectives/call/call.hpp"

namespace poe::collectives {

class Plan;

class CallPath {
  public:
    virtual ~CallPath() = default;
    // True if calls of this shape take this path. Depends on the shape only, so all members decide
    // alike.
    virtual bool fits(const Shape& shape) = 0;
    // Makes the call; blocks. Returns null, or the plan that failed.
    virtual Plan* run(const CollectiveCall& call) = 0;
};

}  // namespace poe::collectives
