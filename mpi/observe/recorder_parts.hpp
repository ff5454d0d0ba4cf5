// What the two files of the recorder share.
#pragma once

#include <vector>

#include "mpi/observe/call_shape.hpp"
#include "mpi/observe/communicators.hpp"
#include "mpi/observe/observed_call.h"
#include "tracer/probe/process_context.hpp"

namespace poe::observe {

// The requests of the thread's call, and statuses that the program ignores. They are kept from the beginning to
// the end of the call, because the library overwrites the handles of requests that have ended.
struct CallMemory {
    std::vector<Word> requests;
    std::vector<unsigned long> statuses;
};
CallMemory& call_memory();

// The words that a call keeps from its beginning to its end.
enum Kept {
    kRegion,  // of the trace; 0: not recorded
    kNumber,  // of the message or of the collective operation
    kHandle,  // that the call may overwrite
    kBytes,
};

inline trace::Tracer& tracer() noexcept {
    return process_context().tracer;
}

inline int integer(const PoeObservedCall& call, int place) noexcept {
    return static_cast<int>(call.arguments[place]);
}
inline void* pointer(const PoeObservedCall& call, int place) noexcept {
    return reinterpret_cast<void*>(call.arguments[place]);
}

// The number of a communicator in the records of collective operations (tracer/FORMAT.md).
inline std::int32_t group_number(const Communicator& comm) noexcept {
    constexpr std::int32_t kCommunicator = 0x40000000;
    return kCommunicator | static_cast<std::int32_t>(comm.context);
}

// True for a call that is neither shown nor recorded.
constexpr bool is_silent(Action action) noexcept {
    return action == Action::kRename || action == Action::kControl || action == Action::kFreeType;
}

// True for a call that stores a request.
constexpr bool makes_request(Action action) noexcept {
    switch (action) {
        case Action::kStartSend:
        case Action::kMakeSend:
        case Action::kStartReceive:
        case Action::kMakeReceive:
        case Action::kStartExchange:
        case Action::kStartReceiveMatched:
        case Action::kStartCollective:
        case Action::kMakeCollective:
        case Action::kStartMakingComm:
            return true;
        default:
            return false;
    }
}

}  // namespace poe::observe
