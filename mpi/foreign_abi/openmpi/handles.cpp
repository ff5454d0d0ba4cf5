// See interface/handles.hpp. 128 KB of pointers per kind, of which the pages without a chunk are
// never touched.
#include "interface/handles.hpp"

namespace poe::mpi::foreign {

std::array<void*, kFirstAddress> predefined_out;
std::array<std::vector<void*>, kKinds> predefined_numbers;
std::array<ObjectTable, kKinds> object_tables;

}  // namespace poe::mpi::foreign
