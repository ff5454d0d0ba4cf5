// Patterns with a task's place in them: names of files (-outfile), labels of lines
// (MP_LABELFORMAT).
//   %r  the task's number          %h  the name of its node
//   %R  the same, with zeros in front, as wide as the largest of the job needs
//   %j  the job's name             %%  a percent sign
// and, in labels only, when the task wrote the line, by its node's clock:
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

// What is wrong with a pattern of a name or label, in words; nothing when it is right. Pure.
std::optional<std::string> pattern_trouble(std::string_view pattern, bool is_label);

// Whether there is a %t or %s in it.
bool tells_time(std::string_view pattern);

// Precondition: nothing is wrong with it, and the task is one of the job's. Pure, but for the time
// zone.
std::string expand_pattern(std::string_view pattern, const JobSpec& job, TaskId task,
                           const LineTime& time = {});

}  // namespace poe::pm
