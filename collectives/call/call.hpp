// CollectiveCall: one call of a collective operation: what is done, and with which buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/segment/task_activity.hpp"
#include "collectives/call/reductions.hpp"
#include "collectives/schedule/shape.hpp"

namespace poe::collectives {

class CallProgress;

// The data that differ between two calls of the same shape. The caller owns the buffers.
struct Run {
    const std::byte* given = nullptr;
    std::byte* result = nullptr;
    Reduction reduction;
    std::int32_t type = 0;             // the type of its messages
    std::uint32_t context = 1;         // their matching context; 1 is that of CCL
    CallProgress* progress = nullptr;  // where to tell the rounds; null: nowhere
};

// A collective call whose arguments have been checked.
struct CollectiveCall {
    const char* name = nullptr;  // as the user wrote it
    Call call = Call::kNone;
    Shape shape;
    Run run;
};

}  // namespace poe::collectives
