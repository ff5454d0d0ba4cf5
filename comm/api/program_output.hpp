// Output of the program that is still in the buffers of its language's library.
#pragma once

namespace poe::comm {

// Flushes C's stdout and, in a Fortran program, all units. `everything`: all of C's streams. May
// block while a pipe is full.
void flush_program_output(bool everything);

}  // namespace poe::comm
