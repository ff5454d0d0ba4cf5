// Functions that MPI 3.0 has removed, in terms of their successors.
#include "mpi/foreign_abi/exported.hpp"

using namespace poe::mpi::foreign;

#pragma GCC visibility push(default)
extern "C" {

EXPORT(int, Address, (const void* location, MPI_Aint* address)) {
    remember_caller();
    return finish(library.Get_address(location, address));
}

EXPORT(int, Errhandler_create, (Function * function, Theirs<MPI_Errhandler>* errhandler)) {
    remember_caller();
    return comm_create_errhandler(function, errhandler);
}
EXPORT(int, Errhandler_get, (Theirs<MPI_Comm> comm, Theirs<MPI_Errhandler>* errhandler)) {
    remember_caller();
    return comm_get_errhandler(comm, errhandler);
}
EXPORT(int, Errhandler_set, (Theirs<MPI_Comm> comm, Theirs<MPI_Errhandler> errhandler)) {
    remember_caller();
    return comm_set_errhandler(comm, errhandler);
}

EXPORT(int, Type_extent, (Theirs<MPI_Datatype> datatype, MPI_Aint* extent)) {
    remember_caller();
    MPI_Aint lower = 0;
    return finish(library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower, extent));
}
EXPORT(int, Type_lb, (Theirs<MPI_Datatype> datatype, MPI_Aint* displacement)) {
    remember_caller();
    MPI_Aint extent = 0;
    return finish(
        library.Type_get_extent(handle_in<MPI_Datatype>(datatype), displacement, &extent));
}
EXPORT(int, Type_ub, (Theirs<MPI_Datatype> datatype, MPI_Aint* displacement)) {
    remember_caller();
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    const int code = library.Type_get_extent(handle_in<MPI_Datatype>(datatype), &lower,
                                             displacement == nullptr ? nullptr : &extent);
    if (code == MPI_SUCCESS) *displacement = lower + extent;
    return finish(code);
}
EXPORT(int, Type_hvector,
       (int count, int length, MPI_Aint stride, Theirs<MPI_Datatype> oldtype,
        Theirs<MPI_Datatype>* newtype)) {
    remember_caller();
    HandleOut<MPI_Datatype> made(newtype);
    return finish(
        library.Type_create_hvector(count, length, stride, handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_hindexed,
       (int count, const int* lengths, const MPI_Aint* displacements, Theirs<MPI_Datatype> oldtype,
        Theirs<MPI_Datatype>* newtype)) {
    remember_caller();
    HandleOut<MPI_Datatype> made(newtype);
    return finish(library.Type_create_hindexed(count, lengths, displacements,
                                               handle_in<MPI_Datatype>(oldtype), made));
}
EXPORT(int, Type_struct,
       (int count, const int* lengths, const MPI_Aint* displacements,
        const Theirs<MPI_Datatype>* types, Theirs<MPI_Datatype>* newtype)) {
    remember_caller();
    return type_create_struct(count, lengths, displacements, types, newtype);
}

}  // extern "C"
#pragma GCC visibility pop
