// Why gdb cannot attach to a task, and the way out, in words. Pure.
#pragma once

#include <string>

namespace poe::debugger {

// `error` is gdb's answer to the command, `warnings` is what it has written before. Tasks with the same
// trouble get the same words.
std::string attach_trouble(const std::string& error, const std::string& warnings);

}  // namespace poe::debugger
