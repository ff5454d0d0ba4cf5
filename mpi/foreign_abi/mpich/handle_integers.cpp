// Handles as integers of Fortran.
#include "interface/handles.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "mpi/foreign_abi/library.hpp"

namespace poe::mpi::foreign {

// A handle is an integer, except that of a file.
#define HANDLE(name)                  \
    int name##_fromint(int integer) { \
        return integer;               \
    }                                 \
    int name##_toint(int handle) {    \
        return handle;                \
    }
HANDLE(comm)
HANDLE(errhandler)
HANDLE(group)
HANDLE(info)
HANDLE(message)
HANDLE(op)
HANDLE(request)
HANDLE(session)
HANDLE(type)
HANDLE(win)
#undef HANDLE

Theirs<MPI_File> file_fromint(int file) {
    return file == 0 ? nullptr : handle_out(library.File_fromint(file));
}
int file_toint(Theirs<MPI_File> file) {
    return file == nullptr ? 0 : library.File_toint(handle_in<MPI_File>(file));
}

}  // namespace poe::mpi::foreign
