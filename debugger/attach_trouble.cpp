// See attach_trouble.hpp.
#include "debugger/attach_trouble.hpp"

#include <cstddef>
#include <string_view>

namespace poe::debugger {

bool is_forbidden(const std::string& error) {
    return error.find("Operation not permitted") != std::string::npos;
}

std::string attach_trouble(const std::string& error, const std::string& warnings,
                           const std::string& scope) {
    const std::string runs = "runs without debugger: ";
    constexpr std::string_view kTraced = "is already traced by process ";
    const std::size_t traced = warnings.find(kTraced);
    if (traced != std::string::npos) {
        const std::size_t begin = traced + kTraced.size();
        const std::size_t end = warnings.find_first_not_of("0123456789", begin);
        return runs + "another debugger traces it already (process " +
               warnings.substr(begin, end - begin) + "); end that one first";
    }
    if (!is_forbidden(error)) return runs + error;
    const char level = scope.empty() ? '\0' : scope.front();
    const std::string file = std::string("(") + kPtraceScope + " is " + level + ")";
    if (level == '1')
        return runs +
               "the kernel permits gdb to attach to the processes that poe has started, and this "
               "is none of them " +
               file + "; start the job with pdbx, or let root write 0 to this file";
    if (level == '2')
        return runs + "the kernel permits debugging to root only " + file +
               "; let root write 1 to this file, or run the job as root";
    if (level == '3')
        return runs + "the kernel permits no debugging until the computer is booted again " + file;
    return runs +
           "the kernel does not permit gdb to attach (ptrace: Operation not permitted). In a "
           "container, give it the capability SYS_PTRACE. Elsewhere, see what pdbx(1) says of " +
           kPtraceScope + ". A program with privileges of its own can only be debugged by root";
}

}  // namespace poe::debugger
