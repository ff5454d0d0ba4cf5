// Implementation of wait_sums.hpp.
#include "tracer/diagnosis/wait_sums.hpp"

namespace poe::trace {

WaitSums sum_waits(const History& history) {
    WaitSums sums;
    for (const TaskWait& wait : history.waits) {
        if (wait.polls) continue;
        PatternSums& sum = sums[static_cast<std::size_t>(wait.pattern)];
        Activity call;
        if (wait.call != kNoActivity) call = history.tasks[wait.task][wait.call];
        sum.all += wait.length();
        sum.by_task[wait.task] += wait.length();
        sum.by_site[{call.region, call.site}] += wait.length();
        sum.by_communicator[wait.communicator] += wait.length();
        sum.by_phase[call.phase] += wait.length();
        sum.by_place[{wait.task, {call.region, call.site}, wait.communicator, call.phase}] +=
            wait.length();
    }
    return sums;
}

}  // namespace poe::trace
