// See attach_trouble.hpp.
#include "debugger/attach_trouble.hpp"

#include <string_view>

namespace poe::debugger {

std::string attach_trouble(const std::string& error, const std::string& warnings) {
    constexpr std::string_view kTraced = "is already traced by process ";
    const std::size_t traced = warnings.find(kTraced);
    if (traced != std::string::npos) {
        const std::size_t begin = traced + kTraced.size();
        const std::size_t end = warnings.find_first_not_of("0123456789", begin);
        return "runs without debugger: another debugger traces it already (process " +
               warnings.substr(begin, end - begin) + "); end that one first";
    }
    if (error.find("Operation not permitted") == std::string::npos)
        return "runs without debugger: " + error;
    return "runs without debugger: the kernel does not permit gdb to attach (ptrace: Operation not "
           "permitted). In a container, give it the capability SYS_PTRACE. If "
           "/proc/sys/kernel/yama/ptrace_scope is not 0, start the job with pdbx, or attach as "
           "root; "
           "if it is 3, debugging is impossible until the computer is booted again. A program with "
           "privileges of its own can only be debugged by root";
}

}  // namespace poe::debugger
