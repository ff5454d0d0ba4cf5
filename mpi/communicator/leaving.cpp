// Leaving connected tasks; see leaving.hpp.
#include "mpi/communicator/leaving.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <vector>

#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/group_route.hpp"

namespace poe::mpi {
namespace {

using TaskList = std::vector<TaskId>;  // ascending

std::set<TaskList>& connected() {
    static auto* const groups = new std::set<TaskList>;
    return *groups;
}

}  // namespace

void remember_connected(std::span<const TaskId> tasks) {
    if (tasks.size() < 2) return;
    TaskList list(tasks.begin(), tasks.end());
    std::ranges::sort(list);
    connected().insert(std::move(list));
}

void leave_connected(comm::Runtime& runtime) noexcept {
    try {
        for (const TaskList& tasks : connected()) {
            const auto own = std::ranges::lower_bound(tasks, runtime.task());
            const Route route = route_of(FromGroup::kLeaving, {}, tasks);
            // A member that has ended needs nothing, and the others learn of its end, too.
            if (synchronize(runtime, tasks, static_cast<int>(own - tasks.begin()), route)) return;
        }
    } catch (const std::exception&) {
        return;  // the process ends in any case
    }
}

}  // namespace poe::mpi
