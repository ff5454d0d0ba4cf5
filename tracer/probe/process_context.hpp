// ProcessContext: the only mutable state of the process that belongs to no object, because the
// calls of a C API have no handle for it. What uses messages or collectives creates its part at the
// first call; no part is ever destroyed, because other threads and exit handlers may still call.
#pragma once

#include <atomic>

#include "tracer/probe/engine_events.hpp"
#include "tracer/probe/tracer.hpp"

namespace poe::comm {
class Runtime;
}
namespace poe::collectives {
class CollectiveContext;
}

namespace poe {

struct ProcessContext {
    trace::Tracer tracer;
    EngineEvents events;
    // True once several threads may call MPI at the same time (MPI_THREAD_MULTIPLE).
    std::atomic<bool> many_threads{false};
    comm::Runtime* runtime = nullptr;                       // null before the first call of MPL
    collectives::CollectiveContext* collectives = nullptr;  // null before the first collective call
};

extern ProcessContext the_process_context;

inline ProcessContext& process_context() noexcept {
    return the_process_context;
}

}  // namespace poe
