// Functions that only Open MPI exports.
#include "mpi/foreign_abi/exported.hpp"

using namespace poe::mpi::foreign;

#pragma GCC visibility push(default)
extern "C" {

// Buffers are in the memory of processors only.
EXPORT_X(int, Query_cuda_support, (void)) {
    remember_caller();
    return 0;
}

// The binding of this process in words. poe tells it (-report_binding).
int OMPI_Affinity_str(int, char bound[1024], char current[1024], char exists[1024]) {
    for (char* text : {bound, current, exists}) std::strcpy(text, "not known to Open MPI");
    return MPI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
