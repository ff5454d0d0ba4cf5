// Patterns for the names of output files (-outfile) and for the labels of lines (MP_LABELFORMAT).
// Each of these parts of a pattern is replaced by a value of the task:
//
//   %r  the task's number          %h  the name of its node
//   %R  likewise, with leading zeros, as wide as the largest number of the job
//   %j  the job's name             %%  a percent sign
//
// In labels also the time at which the task wrote the line, by its node's clock:
//   %t  time of day, 14:03:07.123  %s  seconds since the job began, 12.345
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "partition_manager/job/job.hpp"

namespace poe::pm {

struct LineTime {
    std::chrono::system_clock::time_point written{};
    std::chrono::system_clock::time_point job_began{};
};

// Returns what is wrong with a pattern of a name or label, in words; nothing if it is valid. Pure.
std::optional<std::string> pattern_trouble(std::string_view pattern, bool is_label);

// True if the pattern contains %t or %s.
bool tells_time(std::string_view pattern);

// Preconditions: the pattern is valid, and the task belongs to the job. Pure, except for the time
// zone.
std::string expand_pattern(std::string_view pattern, const JobSpec& job, TaskId task,
                           const LineTime& time = {});

}  // namespace poe::pm
