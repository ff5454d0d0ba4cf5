// The data of a display about a job: rows of plain data, one per task. The code that keeps, sorts
// or draws them does not depend on their source (this node's segment, another node, a trace).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/segment/marker_row.hpp"
#include "base/types.hpp"
#include "terminal/activity.hpp"

namespace poe::markers {

// For the cells, styles and activities of a display.
using namespace terminal;

// A point in time on the display's own clock.
using Moment = std::chrono::milliseconds;

struct Progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0;  // 0: the task has not set one
    bool operator==(const Progress&) const = default;
};

using Lights = std::array<std::uint8_t, kMaxLights>;  // colour + 1; 0: never set

struct TaskRow {
    TaskId task = 0;
    NodeIndex node = 0;
    Activity activity = Activity::kUnknown;
    std::string doing;           // in words, such as "mpc_brecv from 3"
    std::uint32_t waits_ms = 0;  // how long it has waited there; 0: not long
    int pid = 0;                 // 0: unknown, or ended
    int cpu_percent = -1;        // of one processor, recently; -1: unknown
    Bytes memory = 0;            // resident
    Bytes sent_per_second = 0;   // of messages, recently
    Bytes received_per_second = 0;
    std::uint64_t switches_per_second = 0;  // between threads on processors
    Bytes disk_read_per_second = 0;
    Bytes disk_written_per_second = 0;
    std::uint64_t text_count = 0;  // texts set so far
    std::string text;
    Lights lights{};
    Progress progress;
    // Set by Model: the time and the value from which the progress has increased.
    Moment progress_since{0};
    std::uint64_t progress_from = 0;

    bool operator==(const TaskRow&) const = default;
};

struct JobFacts {
    std::string id;
    std::string program;
    std::vector<std::string> nodes;  // names, by NodeIndex
    std::uint32_t tasks = 0;
    bool operator==(const JobFacts&) const = default;
};

// A job at one point in time.
struct Picture {
    JobFacts job;
    Moment at{0};
    Moment elapsed{0};  // since the start of the job
    bool ended = false;
    std::vector<TaskRow> rows;  // by task id
};

}  // namespace poe::markers
