// The message queues of one task as plain data: read from the task's memory by its daemon for a
// debugger, and sent to it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/segment/wait_notes.hpp"
#include "base/types.hpp"

namespace poe::pm {

// A receive that waits for its message.
struct PostedNote {
    TaskId source = -1;      // -1: any
    std::int32_t type = -1;  // -1: any
    Bytes room = 0;          // of its buffer
    std::uint32_t context = 0;
    bool blocking = false;  // the task is in the call
    bool operator==(const PostedNote&) const = default;
};

struct MessageQueues {
    enum class State : std::uint8_t {
        kUnread,     // not asked for, or the task has no queues of POE's library
        kRead,       // the fields below are valid
        kChanging,   // the task is in the middle of a change
        kTooMany,    // only the counts are valid
        kForbidden,  // the kernel does not let the daemon read the task's memory
    };
    // The maximum number of entries of each list. The lists contain only what the program itself
    // has made, not the messages of collective calls, for example.
    static constexpr std::size_t kMostNotes = 100;

    State state = State::kUnread;
    std::uint64_t posted_count = 0;
    std::uint64_t unexpected_count = 0;
    std::vector<PostedNote> posted;          // in the order of posting
    std::vector<UnexpectedNote> unexpected;  // in the order of arrival within a context

    bool operator==(const MessageQueues&) const = default;
};

}  // namespace poe::pm
