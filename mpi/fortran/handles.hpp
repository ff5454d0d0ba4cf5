// Handles of Fortran, which are of type INTEGER, and of C. The functions that convert them are
// called by their PMPI names, so that a tool sees only the calls of the program.
#pragma once

#include <mpi.h>

namespace poe::mpi::fortran {

template <typename Handle>
Handle from_fortran(int integer);

// Defines the conversions of one kind of handles. `name` is the kind in the names of functions.
#define POE_FORTRAN_HANDLE(type, name)            \
    template <>                                   \
    inline type from_fortran<type>(int integer) { \
        return PMPI_##name##_fromint(integer);    \
    }                                             \
    inline int to_fortran(type handle) {          \
        return PMPI_##name##_toint(handle);       \
    }
POE_FORTRAN_HANDLE(MPI_Comm, Comm)
POE_FORTRAN_HANDLE(MPI_Datatype, Type)
POE_FORTRAN_HANDLE(MPI_Errhandler, Errhandler)
POE_FORTRAN_HANDLE(MPI_File, File)
POE_FORTRAN_HANDLE(MPI_Group, Group)
POE_FORTRAN_HANDLE(MPI_Info, Info)
POE_FORTRAN_HANDLE(MPI_Message, Message)
POE_FORTRAN_HANDLE(MPI_Op, Op)
POE_FORTRAN_HANDLE(MPI_Request, Request)
POE_FORTRAN_HANDLE(MPI_Session, Session)
POE_FORTRAN_HANDLE(MPI_Win, Win)
#undef POE_FORTRAN_HANDLE

}  // namespace poe::mpi::fortran
