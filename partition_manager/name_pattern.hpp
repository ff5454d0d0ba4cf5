// Patterns with a task's place in them: names of files (-outfile), labels of lines
// (MP_LABELFORMAT).
//   %r  the task's number          %h  the name of its node
//   %R  the same, with zeros in front, as wide as the largest of the job needs
//   %j  the job's name             %%  a percent sign
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "partition_manager/job.hpp"

namespace poe::pm {

// What is wrong with a pattern, in words; nothing when it is right. Pure.
std::optional<std::string> pattern_trouble(std::string_view pattern);

// Precondition: nothing is wrong with it, and the task is one of the job's. Pure.
std::string expand_pattern(std::string_view pattern, const JobSpec& job, TaskId task);

}  // namespace poe::pm
