// What tells whether an observed task can continue (mpi/observe), as plain data: read by `pmd` from the memory of
// the task, evaluated together with that of the other tasks (partition_manager/status/observed_waits.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "base/segment/observed_tables.hpp"

namespace poe::pm {

struct LineCount {
    std::uint32_t context = 0;
    TaskId peer = 0;
    std::int32_t tag = 0;
    std::uint32_t count = 0;
};

struct CommCount {
    std::uint32_t context = 0;
    std::uint32_t operations = 0;
};

// The members as in ObservedTables.
struct ObservedEvidence {
    static constexpr std::size_t kMostCounts = 4096;

    // False: it could not be read, or there is too much of it. Then the task counts as able to continue.
    bool known = false;
    std::uint32_t wildcards = 0;
    bool one_suffices = false;
    std::vector<ObservedNeed> needs;
    std::vector<LineCount> sends;
    std::vector<LineCount> receives;
    std::vector<CommCount> comms;
};

}  // namespace poe::pm
