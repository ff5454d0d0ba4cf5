// Why gdb cannot attach to a task, and the way out, in words. Pure.
#pragma once

#include <string>

namespace poe::debugger {

// gdb's answers "Operation not permitted" and similar.
bool is_forbidden(const std::string& error);

// `error` is gdb's answer to the command, `warnings` is what it has written before. `scope` is the
// contents of the file kPtraceScope on the node; it is empty if there is no such file, or if it
// cannot be read. Tasks that cannot be attached for the same reason get the same text.
std::string attach_trouble(const std::string& error, const std::string& warnings,
                           const std::string& scope);

// What the Linux security module Yama permits: 0 everything, 1 the ancestors of a process and the
// processes that it names, 2 processes with CAP_SYS_PTRACE, 3 nothing.
inline constexpr const char* kPtraceScope = "/proc/sys/kernel/yama/ptrace_scope";

}  // namespace poe::debugger
