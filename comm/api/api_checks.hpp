// Checks of the user's arguments, shared by all MPL calls. Each returns 0, or reports an error and
// returns -1.
#pragma once

#include <string>

#include "comm/api/api.hpp"
#include "comm/api/api_call.hpp"

namespace poe::comm {

inline bool is_task(const Runtime& runtime, int task) {
    return task >= 0 && static_cast<std::uint32_t>(task) < runtime.tasks();
}

// The valid task ids, for error messages.
std::string task_range(const Runtime& runtime);

// Larger than any address space, so such a length is a negative number or an argument of the wrong
// width. Bytes.
inline constexpr std::size_t kAbsurdLength = std::size_t{1} << 47;

int refuse_blocks(const ApiCall& call, const UserBuffer& buffer);
inline int refuse_buffer(const ApiCall& call, const void* start, std::size_t length) {
    if (length < kAbsurdLength && (start != nullptr || length == 0)) [[likely]]
        return 0;
    return refuse_blocks(call, {start, length, length});
}
int refuse_partner(const ApiCall& call, int dest, int type);
inline int refuse_destination(const ApiCall& call, int dest, int type) {
    if (is_task(call.runtime(), dest) && type >= 0) [[likely]]
        return 0;
    return refuse_partner(call, dest, type);
}
int refuse_selection(const ApiCall& call, const int* source, const int* type);
inline int refuse_wanted(const ApiCall& call, const int* source, const int* type) {
    if (source != nullptr && type != nullptr && *source >= 0 && *type >= 0 &&
        is_task(call.runtime(), *source)) [[likely]]
        return 0;
    return refuse_selection(call, source, type);
}
int refuse_null(const ApiCall& call, const char* argument, const char* wanted);

// The view of a buffer that has been checked.
inline BufferView view_of(const UserBuffer& buffer) {
    return {const_cast<void*>(buffer.start), buffer.block, buffer.offset, buffer.count};
}

// Stores the results of a receive in the user's variables. `received` must have ended. Returns the
// call's result.
int tell_received(ApiCall& call, const ReceiveRequest& received, int* source, int* type,
                  const UserCount& nbytes);

}  // namespace poe::comm
