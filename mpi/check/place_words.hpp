// The words of places: file and line, as base/source_lines.hpp finds them.
#pragma once

#include <string>

#include "mpi/check/place.hpp"

namespace poe::mpi::check {

// "prog.c:40"; without debug information "main (prog+0x1189)" or "prog+0x1189"; empty if the place
// is unknown. Reads files, so it takes milliseconds. Only objects that this process has loaded are
// searched. For one thread at a time.
std::string words_of_place(const Place& place);
// The same after the name of the function: "MPI_Bcast at prog.c:40".
std::string words_of_call(const Place& place);
// The place in words of the call that returns to `site`.
std::string words_of_site(const void* site);

}  // namespace poe::mpi::check
