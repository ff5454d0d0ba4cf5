// Functions behind constants of Open MPI's header: MPI_COMM_DUP_FN and the like.
#include "interface/functions.hpp"

#include <algorithm>
#include <initializer_list>

using poe::mpi::foreign::Function;

#pragma GCC visibility push(default)
extern "C" {

#define FUNCTIONS(kind)                                                                            \
    int OMPI_C_MPI_##kind##DUP_FN(void*, int, void*, void* value_in, void* value_out, int* flag) { \
        *static_cast<void**>(value_out) = value_in;                                                \
        *flag = 1;                                                                                 \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    int OMPI_C_MPI_##kind##NULL_COPY_FN(void*, int, void*, void*, void*, int* flag) {              \
        *flag = 0;                                                                                 \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    int OMPI_C_MPI_##kind##NULL_DELETE_FN(void*, int, void*, void*) {                              \
        return MPI_SUCCESS;                                                                        \
    }
FUNCTIONS(COMM_)
FUNCTIONS(TYPE_)
FUNCTIONS(WIN_)
FUNCTIONS()
#undef FUNCTIONS

}  // extern "C"
#pragma GCC visibility pop

namespace poe::mpi::foreign {
namespace {

using Addresses = std::initializer_list<const void*>;

bool is_one_of(const Function* function, Addresses functions) noexcept {
    const auto* const address = reinterpret_cast<const void*>(function);
    return std::find(functions.begin(), functions.end(), address) != functions.end();
}

}  // namespace

// The functions with this name for communicators, datatypes and windows, and that of MPI 1.
#define ADDRESSES(name)                                             \
    Addresses {                                                     \
        reinterpret_cast<const void*>(&OMPI_C_MPI_COMM_##name),     \
            reinterpret_cast<const void*>(&OMPI_C_MPI_TYPE_##name), \
            reinterpret_cast<const void*>(&OMPI_C_MPI_WIN_##name),  \
            reinterpret_cast<const void*>(&OMPI_C_MPI_##name)       \
    }

bool is_duplicate(const Function* copy) noexcept {
    return is_one_of(copy, ADDRESSES(DUP_FN));
}
bool is_null_copy(const Function* copy) noexcept {
    return copy == nullptr || is_one_of(copy, ADDRESSES(NULL_COPY_FN));
}
bool is_null_delete(const Function* remove) noexcept {
    return remove == nullptr || is_one_of(remove, ADDRESSES(NULL_DELETE_FN));
}
#undef ADDRESSES

}  // namespace poe::mpi::foreign
