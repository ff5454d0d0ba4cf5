// See handles.hpp. 128 KB of pointers per kind, of which the pages without a chunk are never
// touched.
#include "interface/handles.hpp"

namespace poe::mpi::foreign {

std::array<HandleTable, kKinds> handle_tables;

}  // namespace poe::mpi::foreign
