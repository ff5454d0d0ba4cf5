// Determines which processors each task of a node may use. If each task can have a processor of its
// own, the tasks are bound to equal shares (MP_BIND), because the kernel may otherwise leave two
// tasks that yield to each other on one processor. Separate from spawning, which only needs the
// result.
#pragma once

#include <cstddef>
#include <sched.h>
#include <vector>

namespace poe::pm {

// The processors of one core, in ascending order.
using Core = std::vector<int>;

// The processors that this process may use, grouped by core; the cores of one package are adjacent.
// If /sys does not report the core of a processor, it counts as a separate core. Reads /sys. Empty
// if the processors cannot be determined.
std::vector<Core> usable_cores();

// Returns one share for each of `tasks` tasks. Shares are disjoint, contiguous in `cores` and as
// equal as possible; they consist of whole cores if there are enough cores. Empty if there are
// fewer processors than tasks. Pure.
std::vector<cpu_set_t> cpu_shares(const std::vector<Core>& cores, std::size_t tasks);

// The same for tasks with a number of threads each (-threads): each share consists of `threads`
// whole cores, or of `threads` processors if there are too few cores. Empty if there are too few
// processors.
std::vector<cpu_set_t> thread_shares(const std::vector<Core>& cores, std::size_t tasks,
                                     std::size_t threads);

}  // namespace poe::pm
