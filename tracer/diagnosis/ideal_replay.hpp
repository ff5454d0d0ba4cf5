// The ideal replay: the history of the same job on a network without latency and with infinite
// bandwidth. Pure.
//
// Computing takes as long as it did, and so do calls that do not communicate and times in which a
// task was not traced. Any other call takes no time, except that it ends no earlier than what it
// depends on:
//
//   call                                        ends no earlier than
//   receives a message                          the sender enters the call that sends it
//   waits for a late receiver                   the receiver enters the call that receives it
//   barrier, all to all, reduction to all       the last member enters that entered before this one left
//   broadcast, scatter: not the root            the root enters
//   reduction, gather: the root                 as in a barrier; other members depend on nobody
//
// A non-blocking operation begins in the call that starts it, and ends in the call that ends it.
#pragma once

#include <vector>

#include "tracer/diagnosis/history.hpp"

namespace poe::trace {

struct IdealHistory {
    // By task and activity: when it begins. As many as the history has activities.
    PerTask<LongVector<Time>> begins;
    Time begin{0};
    Time end{0};  // the last task's
};

IdealHistory replay_ideally(const History& history);

}  // namespace poe::trace
