// The stacks of many tasks as one tree: a branch for every different continuation, with the tasks
// that take it. Pure.
#pragma once

#include <string>
#include <vector>

#include "debugger/mi_record.hpp"
#include "debugger/task_set.hpp"

namespace poe::debugger {

struct StackFrame {
    std::string function;
    std::string place;    // "ring.c:42"; empty: unknown
    std::string library;  // the shared library of a function without debug information
    // A library with debug information whose sources are not here, as glibc of Debian with
    // libc6-dbg.
    bool is_elsewhere = false;
    std::string file = {};  // the whole path of the source; empty: unknown
    int line = 0;           // in it

    bool operator==(const StackFrame&) const = default;
};

// A stack has at most so many frames: enough for a deep recursion, and bounded for an endless one.
inline constexpr std::size_t kMostFrames = 200;

// The innermost frame first, as gdb lists them.
using Stack = std::vector<StackFrame>;

struct StackTree {
    StackFrame frame;
    TaskSet tasks;
    std::vector<StackTree> callees;  // in the order of their lowest task
};

// " 0 200": the frames that -stack-list-frames is to list, one more than a stack has.
inline std::string frames_wanted() {
    return " 0 " + std::to_string(kMostFrames);
}

// Reads a frame of gdb: the tuple of func, file, line and from.
StackFrame frame_of(const MiValue& frame);
// The stack in the results of -stack-list-frames; empty if there is none. If gdb has listed more
// than kMostFrames frames, the outermost one says so.
Stack stack_of(const MiValue& results);

// The place in the stack of the innermost frame that belongs to the program and not to a library.
// Its size if there is none.
std::size_t innermost_of_program(const Stack& stack);

// Removes the frames inside of a library that the program has called. The frame of the called
// function stays. A function of the program that a library calls back stays, too.
Stack without_library_frames(const Stack& stack);

// Returns the outermost frames with their callees.
std::vector<StackTree> merge(const std::vector<std::pair<TaskId, Stack>>& stacks);
std::vector<std::string> lines_of(const std::vector<StackTree>& trees);

}  // namespace poe::debugger
