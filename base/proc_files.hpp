// What several rooms read in /proc: the threads of a process, and numbers after names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace poe {

// The threads of the process. Empty if the process has ended or may not be looked at. Does not
// block.
std::vector<pid_t> threads_of(pid_t process);

// The number after `name`, and blanks, at the start of a line; 0 if something else is there. Empty
// if there is no such line. Pure.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name) noexcept;

}  // namespace poe
