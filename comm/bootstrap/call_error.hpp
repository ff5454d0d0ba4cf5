// The place at which a debugger stops a call of MPL or MPI that fails (catch error of pdbx),
// whatever the program then does about the error: end the job, call its error handler, or get an
// error code.
#pragma once

#include <string_view>

#include "base/calls.hpp"

namespace poe::comm {

// Every call that fails calls this once, before its error handler. `text` is the message of the
// error; it is copied. Any thread may call it.
void announce_error(Call call, std::string_view text) noexcept;

}  // namespace poe::comm
