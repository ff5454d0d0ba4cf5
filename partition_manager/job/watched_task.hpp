// What a display shows of one task, as plain data: read on the task's node (node_look.hpp), carried
// to poe and from there to the displays that watch the job (watch_socket.hpp). What it means in
// words is the display's business.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/segment/marker_row.hpp"
#include "base/types.hpp"
#include "partition_manager/job/task_state.hpp"

namespace poe::pm {

// Of the processes of a task, as the last look at them found them.
struct ProcessesView {
    bool known = false;  // there were some
    bool runs = false;
    bool stopped = false;
    bool disk = false;
    std::int32_t cpu_percent = -1;  // of one processor, lately; -1: unknown
    Bytes memory = 0;               // resident
    bool operator==(const ProcessesView&) const = default;
};

struct WatchedTask {
    TaskState state;  // without what it has not asked for
    ProcessesView processes;
    Bytes sent_per_second = 0;  // bytes of messages, lately
    Bytes received_per_second = 0;
    std::array<std::uint8_t, kMaxLights> lights{};  // colour + 1; 0: never set
    MarkerTextView text;
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: it has told no progress
};

// Whether a display need not be told of `now` after `before`: a wait that goes on is no news.
bool same_to_see(const WatchedTask& before, const WatchedTask& now);

}  // namespace poe::pm
