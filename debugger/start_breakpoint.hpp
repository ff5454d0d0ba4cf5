// The breakpoints at the beginnings of the main programs, by which tasks that are held at their
// start reach their main program. Pure: commands for gdb, and what its answers say.
//
// They are internal breakpoints of gdb, which only its Python can make. gdb describes an ordinary
// breakpoint with all of its locations each time that one task reaches it or loads a library, which
// costs 64 tasks most of the time of their start. A gdb without Python gets ordinary ones.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "debugger/mi_record.hpp"

namespace poe::debugger {

struct StartBreakpoint {
    int number = 0;                   // gdb's; internal breakpoints have negative ones
    std::vector<std::string> groups;  // the inferiors that have the place, such as "i1"

    bool is_in(const std::string& group) const {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
    }
};

// Makes an internal breakpoint at a function, if any inferior has this function. If `thread` is not
// 0, only the thread with this number of gdb stops there. gdb answers with an error if it has no
// internal breakpoints.
std::string internal_breakpoint_command(const std::string& function, int thread);
// What gdb has printed during this command. Empty if no inferior has the function.
std::optional<StartBreakpoint> internal_breakpoint_of(const std::string& printed);

// The same by an ordinary breakpoint, and the results of this command.
std::string ordinary_breakpoint_command(const std::string& function, int thread);
std::optional<StartBreakpoint> ordinary_breakpoint_of(const MiValue& results);

std::string delete_command(const StartBreakpoint& breakpoint);

}  // namespace poe::debugger
