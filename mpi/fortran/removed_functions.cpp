// The subroutines that MPI 3.0 has removed, for older programs: by their successors, as mpi.h does
// it for C. All integers are INTEGER here, also addresses, displacements and extents.
//
// An address does not fit into an INTEGER of 32 bits, which gets its last 32 bits. The difference
// of two of them is right, if the program stores it in an INTEGER, and if both places are at most 2
// GB apart. So programs can compute the displacements within a structure, which is what they do
// with addresses. An absolute address is right only if it fits, as those of variables in memory of
// the program's own file do if it is linked with -no-pie.
#include <cstdint>
#include <limits>
#include <mpi.h>
#include <vector>

#include "mpi/fortran/by_hand.hpp"
#include "mpi/fortran/convert.hpp"
#include "mpi/fortran/sentinels.hpp"

using namespace poe::mpi::fortran;

namespace {

// Stores an extent or bound. One that does not fit is an error, because the program would use a
// wrong one.
int store_integer(MPI_Aint value, int* integer) {
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
        MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
        return MPI_ERR_ARG;
    }
    *integer = static_cast<int>(value);
    return MPI_SUCCESS;
}

std::vector<MPI_Aint> addresses(const int* integers, int count) {
    return {integers, integers + (count > 0 ? count : 0)};
}

}  // namespace

// Defines pmpi_x_, and mpi_x_ as a weak alias of it. `parameters` is in parentheses.
#define REMOVED(name, parameters)                                                  \
    void pmpi_##name##_ parameters;                                                \
    void mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_"))); \
    void pmpi_##name##_ parameters

#pragma GCC visibility push(default)
extern "C" {

REMOVED(address, (void* location, int* address, int* ierror)) {
    MPI_Aint whole = 0;
    const int code = MPI_Get_address(as_buffer(location), &whole);
    if (code == MPI_SUCCESS) *address = static_cast<int>(static_cast<std::uint32_t>(whole));
    finish(ierror, code);
}

REMOVED(errhandler_create, (Procedure * function, int* errhandler, int* ierror)) {
    finish(ierror, comm_create_errhandler(function, errhandler));
}
REMOVED(errhandler_get, (const int* comm, int* errhandler, int* ierror)) {
    HandleOut<MPI_Errhandler> errhandler_(errhandler);
    finish(ierror, MPI_Comm_get_errhandler(from_fortran<MPI_Comm>(*comm), errhandler_));
}
REMOVED(errhandler_set, (const int* comm, const int* errhandler, int* ierror)) {
    finish(ierror, MPI_Comm_set_errhandler(from_fortran<MPI_Comm>(*comm),
                                           from_fortran<MPI_Errhandler>(*errhandler)));
}

REMOVED(type_extent, (const int* datatype, int* extent, int* ierror)) {
    MPI_Aint lower = 0;
    MPI_Aint whole = 0;
    const int code = MPI_Type_get_extent(from_fortran<MPI_Datatype>(*datatype), &lower, &whole);
    finish(ierror, code != MPI_SUCCESS ? code : store_integer(whole, extent));
}
REMOVED(type_lb, (const int* datatype, int* displacement, int* ierror)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int code = MPI_Type_get_extent(from_fortran<MPI_Datatype>(*datatype), &lower, &extent);
    finish(ierror, code != MPI_SUCCESS ? code : store_integer(lower, displacement));
}
REMOVED(type_ub, (const int* datatype, int* displacement, int* ierror)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int code = MPI_Type_get_extent(from_fortran<MPI_Datatype>(*datatype), &lower, &extent);
    finish(ierror, code != MPI_SUCCESS ? code : store_integer(lower + extent, displacement));
}

REMOVED(type_hvector, (const int* count, const int* blocklength, const int* stride,
                       const int* oldtype, int* newtype, int* ierror)) {
    HandleOut<MPI_Datatype> newtype_(newtype);
    finish(ierror, MPI_Type_create_hvector(*count, *blocklength, *stride,
                                           from_fortran<MPI_Datatype>(*oldtype), newtype_));
}
REMOVED(type_hindexed, (const int* count, const int* blocklengths, const int* displacements,
                        const int* oldtype, int* newtype, int* ierror)) {
    HandleOut<MPI_Datatype> newtype_(newtype);
    finish(ierror,
           MPI_Type_create_hindexed(*count, blocklengths, addresses(displacements, *count).data(),
                                    from_fortran<MPI_Datatype>(*oldtype), newtype_));
}
REMOVED(type_struct, (const int* count, const int* blocklengths, const int* displacements,
                      const int* types, int* newtype, int* ierror)) {
    HandlesIn<MPI_Datatype> types_(types, *count);
    HandleOut<MPI_Datatype> newtype_(newtype);
    finish(ierror,
           MPI_Type_create_struct(*count, blocklengths, addresses(displacements, *count).data(),
                                  types_, newtype_));
}

}  // extern "C"
#pragma GCC visibility pop
