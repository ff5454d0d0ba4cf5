// The stacks of a stopped process as text: every thread, with functions, files and lines if there
// is debugging information. libdw unwinds and finds symbols. Separate from task_tracer.hpp, which
// stops the process and knows when to do so.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace poe::pm {

struct StackFrame {
    std::string function;  // demangled; empty if unknown
    std::string module;    // the object file
    std::string file;      // as it was passed to the compiler; empty if unknown
    int line = 0;
    unsigned long address = 0;
};

struct ThreadStack {
    pid_t thread = 0;
    std::vector<StackFrame> frames;  // innermost first
    std::string trouble;             // why there are no more frames
};

// Returns the stacks of all threads, that of thread `first` first. Precondition: the caller traces
// all threads of the process, and all are stopped. Blocks while debugging information is read, but
// never for a network. Throws Error if nothing can be read.
std::vector<ThreadStack> stacks_of(pid_t process, pid_t first);

// Returns "solve (heat.c:42)", "solve (libm.so.6)" or "0x4005f0 (heat)".
std::string frame_in_words(const StackFrame& frame);

}  // namespace poe::pm
