// See handles.hpp. 128 KB of pointers per kind, of which the pages without a chunk are never
// touched.
#include "mpi/mpich_abi/handles.hpp"

namespace poe::mpi::mpich {

std::array<HandleTable, kKinds> handle_tables;

}  // namespace poe::mpi::mpich
