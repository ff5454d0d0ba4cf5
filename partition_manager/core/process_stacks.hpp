// The stacks of a process that stands still, as text: every thread, with functions, files and lines
// as far as debugging information tells. Unwinding and symbols are libdw's. Apart from
// task_tracer.hpp, which makes a process stand still and knows when.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

struct StackFrame {
    std::string function;  // demangled; empty when unknown
    std::string module;    // the object file
    std::string file;      // as the compiler was told; empty when unknown
    int line = 0;
    unsigned long address = 0;
};

struct ThreadStack {
    pid_t thread = 0;
    std::vector<StackFrame> frames;  // innermost first
    std::string trouble;             // why there are no more
};

// The caller traces all threads of the process, and all are stopped. `first` comes first. Blocks
// while debugging information is read, never for a network. Throws Error when nothing can be read.
std::vector<ThreadStack> stacks_of(pid_t process, pid_t first);

// "solve (heat.c:42)", "solve (libm.so.6)", "0x4005f0 (heat)".
std::string frame_in_words(const StackFrame& frame);

}  // namespace poe::pm
