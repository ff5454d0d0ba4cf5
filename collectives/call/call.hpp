// CollectiveCall: one call of a collective operation: what is to be done, on which memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/segment/task_activity.hpp"
#include "collectives/call/reductions.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

// What differs between two calls of one shape.
struct Run {
    const std::byte* given = nullptr;
    std::byte* result = nullptr;
    Reduction reduction;
    std::int32_t type = 0;  // of its messages
};

// A collective call, its arguments checked.
struct CollectiveCall {
    const char* name = nullptr;  // as the user wrote it
    Call call = Call::kNone;
    Shape shape;
    Run run;
};

}  // namespace poe::collectives
