// The one Runtime of the process: created by the first call of any library, ended at the exit. It
// is part of the engine library, so MPL and MPI in one process share it, in whatever order and by
// whatever means they were loaded.
#pragma once

#include <string>

#include "comm/bootstrap/runtime.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {

Runtime& make_runtime();

// Created at the first call, which may block (see Runtime).
inline Runtime& the_runtime() {
    Runtime* runtime = process_context().runtime;
    return runtime != nullptr ? *runtime : make_runtime();
}

// Returns the line "ERROR: 0032-NNN mpc_x in task 1 on node n: what; way_out." of an error in a
// call of a user, who knows the call by the name `caller`.
std::string error_line(int number, const char* caller, const Runtime& runtime,
                       const std::string& what, const std::string& way_out);

// Prints the line of a fatal error in `caller`, and ends the task with exit code 1.
[[noreturn]] void die_in_call(const char* caller, const Runtime& runtime,
                              const std::string& what) noexcept;

}  // namespace poe::comm
