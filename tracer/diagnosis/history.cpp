// Implementation of history.hpp.
#include "tracer/diagnosis/history.hpp"

#include <algorithm>

namespace poe::trace {

std::uint32_t History::activity_at(TaskId task, Time moment) const {
    const LongVector<Activity>& all = tasks[task];
    const auto after =
        std::upper_bound(all.begin(), all.end(), moment,
                         [](Time time, const Activity& activity) { return time < activity.from; });
    return after == all.begin() ? kNoActivity : static_cast<std::uint32_t>(after - all.begin()) - 1;
}

std::uint32_t History::call_since(TaskId task, Time since) const {
    const LongVector<Activity>& all = tasks[task];
    for (std::uint32_t at = activity_at(task, since); at != kNoActivity; --at) {
        if (all[at].from != since) break;
        if (all[at].is_call) return at;
        if (at == 0) break;
    }
    return kNoActivity;
}

}  // namespace poe::trace
