// Sets of processors as the kernel's files describe them, such as "0-7,64-71".
#pragma once

#include <sched.h>
#include <string>
#include <string_view>

namespace poe {

// The processors of a list. What follows an error in it is left out. Pure.
cpu_set_t cpus_in(std::string_view list) noexcept;

// True if all processors of `part` belong to `whole`. Pure.
bool contains(const cpu_set_t& whole, const cpu_set_t& part) noexcept;

// The first line of a file, without its end; empty if it cannot be read. Reads a file.
std::string first_line(const std::string& path);

}  // namespace poe
