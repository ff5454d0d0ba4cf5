// Which processors each task of a node may use. Tasks that each have a processor of their own are
// bound to an equal share of them (MP_BIND): the kernel may otherwise leave two that yield to each
// other on one processor. Apart from spawning, which only needs the result.
#pragma once

#include <cstddef>
#include <sched.h>
#include <vector>

namespace poe::pm {

// The processors of one core, in ascending order.
using Core = std::vector<int>;

// The processors that this process may use, by core; cores of one package stand together. A
// processor whose core /sys does not tell is a core of its own. Reads /sys; nothing when even the
// processors cannot be had.
std::vector<Core> usable_cores();

// A share for each of `tasks` tasks: disjoint, contiguous in `cores`, as equal as can be; whole
// cores when there are enough of them. Nothing when there are fewer processors than tasks. Pure.
std::vector<cpu_set_t> cpu_shares(const std::vector<Core>& cores, std::size_t tasks);

}  // namespace poe::pm
