// See start_breakpoint.hpp.
#include "debugger/start_breakpoint.hpp"

#include <sstream>
#include <string_view>

#include "base/parse.hpp"

namespace poe::debugger {

namespace {

// What the answer begins with, in a line of its own.
constexpr std::string_view kAnswer = "start breakpoint ";

std::string python(const std::string& statements) {
    return "-interpreter-exec console " + mi_quoted("python " + statements);
}

void add_groups(StartBreakpoint& breakpoint, const MiValue& location) {
    if (const MiValue* groups = location.find("thread-groups"))
        for (const auto& group : groups->items) breakpoint.groups.push_back(group.second.text);
}

}  // namespace

std::string internal_breakpoint_command(const std::string& function, int thread) {
    // gdb before version 13 does not have BreakpointLocation, so that the first statement fails.
    return python(
        "gdb.BreakpointLocation; poe_made = gdb.Breakpoint('" + function +
        "', internal=True, qualified=True); poe_made.thread = " +
        (thread == 0 ? "None" : std::to_string(thread)) +
        "; poe_groups = [str(g) for l in poe_made.locations for g in l.thread_groups]; print('" +
        std::string(kAnswer) +
        "' + ' '.join([str(poe_made.number)] + poe_groups)); "
        "poe_start = globals().get('poe_start', {}); "
        "poe_start.update({poe_made.number: poe_made}) if poe_groups else poe_made.delete()");
}

std::optional<StartBreakpoint> internal_breakpoint_of(const std::string& printed) {
    const std::size_t at = printed.rfind(kAnswer);
    if (at == std::string::npos) return std::nullopt;
    const std::string line = printed.substr(at + kAnswer.size());
    std::istringstream words(line.substr(0, line.find('\n')));
    StartBreakpoint breakpoint;
    words >> breakpoint.number;
    for (std::string inferior; words >> inferior;) breakpoint.groups.push_back("i" + inferior);
    if (breakpoint.groups.empty()) return std::nullopt;
    return breakpoint;
}

std::string ordinary_breakpoint_command(const std::string& function, int thread) {
    return "-break-insert --qualified " +
           (thread == 0 ? "" : "-p " + std::to_string(thread) + " ") + function;
}

std::optional<StartBreakpoint> ordinary_breakpoint_of(const MiValue& results) {
    const MiValue* made = results.find("bkpt");
    if (made == nullptr) return std::nullopt;
    StartBreakpoint breakpoint;
    breakpoint.number = parse_number<int>(made->text_of("number")).value_or(0);
    add_groups(breakpoint, *made);
    if (const MiValue* locations = made->find("locations"))
        for (const auto& location : locations->items) add_groups(breakpoint, location.second);
    return breakpoint;
}

std::string delete_command(const StartBreakpoint& breakpoint) {
    const std::string number = std::to_string(breakpoint.number);
    return breakpoint.number < 0 ? python("poe_start.pop(" + number + ").delete()")
                                 : "-break-delete " + number;
}

}  // namespace poe::debugger
