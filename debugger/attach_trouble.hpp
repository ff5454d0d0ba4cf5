// Why gdb cannot attach to a task, and the way out, in words. Pure.
#pragma once

#include <string>

namespace poe::debugger {

// gdb's answers "Operation not permitted" and similar.
bool is_forbidden(const std::string& error);

// `error` is gdb's answer to the command, `warnings` is what it has written before. `scope` is the contents
// of kPtraceScope on the node; empty if it is not known or does not exist. Tasks with the same trouble get
// the same words.
std::string attach_trouble(const std::string& error, const std::string& warnings,
                           const std::string& scope);

// What the Linux security module Yama permits: 0 everything, 1 the ancestors of a process and the
// processes that it names, 2 processes with CAP_SYS_PTRACE, 3 nothing.
inline constexpr const char* kPtraceScope = "/proc/sys/kernel/yama/ptrace_scope";

}  // namespace poe::debugger
