// See watched_task.hpp.
#include "partition_manager/job/watched_task.hpp"

#include <tuple>

namespace poe::pm {

bool same_to_see(const WatchedTask& before, const WatchedTask& now) {
    const auto seen = [](const WatchedTask& task) {
        const TaskState& s = task.state;
        return std::tie(s.task, s.node, s.life, s.pid, s.wait_status, s.measured, s.awaited,
                        s.doing, task.processes, task.sent_per_second, task.received_per_second,
                        task.lights, task.text.number, task.done, task.total);
    };
    return seen(before) == seen(now);
}

}  // namespace poe::pm
