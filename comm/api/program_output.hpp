// What the program has written and the language's library still holds.
#pragma once

namespace poe::comm {

// Hands it to the system: C's stdout and, in a Fortran program, all units. May block while a pipe
// is full. `everything`: all of C's streams.
void flush_program_output(bool everything);

}  // namespace poe::comm
