// Checks of what a user gave to an MPL call, shared by all calls. Each answers 0, or refuses and
// answers -1.
#pragma once

#include <string>

#include "comm/api.hpp"
#include "comm/api_call.hpp"

namespace poe::comm {

inline bool is_task(const Runtime& runtime, int task) {
    return task >= 0 && static_cast<std::uint32_t>(task) < runtime.tasks();
}

// For error texts: which tasks there are.
std::string task_range(const Runtime& runtime);

int refuse_buffer(const ApiCall& call, const UserBuffer& buffer);
int refuse_destination(const ApiCall& call, int dest, int type);
// `type` may be null for a call that receives the type it sends.
int refuse_wanted(const ApiCall& call, const int* source, const int* type);
int refuse_null(const ApiCall& call, const char* argument, const char* wanted);

// The view of a checked buffer.
inline BufferView view_of(const UserBuffer& buffer) {
    return {const_cast<void*>(buffer.start), buffer.block, buffer.offset, buffer.count};
}

// Tells the user what has been received; `received` has ended.
int tell_received(ApiCall& call, const ReceiveRequest& received, int* source, int* type,
                  const UserCount& nbytes);

}  // namespace poe::comm
