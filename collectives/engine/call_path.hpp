// CallPath: a way to make blocking calls on one group that does not run the schedule of the whole group.
#pragma once

#include "collectives/call/call.hpp"

namespace poe::collectives {

class Plan;

class CallPath {
  public:
    virtual ~CallPath() = default;
    // Whether calls of this shape are made this way. Depends on the shape only, so all members agree.
    virtual bool fits(const Shape& shape) = 0;
    // Makes the call. Null, or the plan that went wrong. Blocking.
    virtual Plan* run(const CollectiveCall& call) = 0;
};

}  // namespace poe::collectives
