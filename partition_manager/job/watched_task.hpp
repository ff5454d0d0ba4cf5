// WatchedTask: what a display shows of one task, as plain data. It is read on the task's node
// (node_look.hpp) and sent to poe, and from there to the displays that watch the job
// (watch_socket.hpp). The display chooses the words.
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

// The processes of a task at the last observation.
struct ProcessesView {
    bool known = false;  // there were processes
    bool runs = false;
    bool stopped = false;
    bool disk = false;
    std::int32_t cpu_percent = -1;  // recent use in percent of one processor; -1: unknown
    Bytes memory = 0;               // resident, in bytes
    // Recent rates; 0 if the system does not report them.
    std::uint64_t switches_per_second = 0;  // between threads on processors
    Bytes disk_read_per_second = 0;
    Bytes disk_written_per_second = 0;
    bool operator==(const ProcessesView&) const = default;
};

struct WatchedTask {
    TaskState state;  // without its unexpected messages
    ProcessesView processes;
    Bytes sent_per_second = 0;  // recent rate of message bytes
    Bytes received_per_second = 0;
    std::array<std::uint8_t, kMaxLights> lights{};  // colour + 1; 0: never set
    MarkerTextView text;
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: it has not reported progress
    bool operator==(const WatchedTask&) const = default;
};

// True if a display need not be informed of `now` after `before`. A wait that merely continues is
// not a change.
bool same_to_see(const WatchedTask& before, const WatchedTask& now);

}  // namespace poe::pm
