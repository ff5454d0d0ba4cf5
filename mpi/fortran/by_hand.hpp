// The functions whose Fortran form does more than convert arguments: those with functions of the
// program, attributes, and two of Info. The entry points call them with the arguments of Fortran.
// Each returns the error code. A Procedure is a Fortran subroutine; all three interfaces call it
// alike, because a handle of module mpi_f08 is passed as an INTEGER is, and a TYPE(C_PTR) by value
// as a buffer is.
#pragma once

#include <cstddef>
#include <mpi.h>

#include "mpi/fortran/convert.hpp"

namespace poe::mpi::fortran {

// Attributes (attributes.cpp).
int keyval_create(Procedure* copy_fn, Procedure* delete_fn, int* keyval, const int* extra_state);
int comm_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                       const MPI_Aint* extra_state);
int type_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                       const MPI_Aint* extra_state);
int win_create_keyval(Procedure* copy_fn, Procedure* delete_fn, int* keyval,
                      const MPI_Aint* extra_state);
int attr_put(const int* comm, const int* keyval, const int* attribute_val);
int attr_get(const int* comm, const int* keyval, int* attribute_val, int* flag);
int comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* attribute_val);
int comm_get_attr(const int* comm, const int* keyval, MPI_Aint* attribute_val, int* flag);
int type_set_attr(const int* datatype, const int* keyval, const MPI_Aint* attribute_val);
int type_get_attr(const int* datatype, const int* keyval, MPI_Aint* attribute_val, int* flag);
int win_set_attr(const int* win, const int* keyval, const MPI_Aint* attribute_val);
int win_get_attr(const int* win, const int* keyval, MPI_Aint* attribute_val, int* flag);

// Functions of the program (callbacks.cpp).
int op_create(Procedure* user_fn, const int* commute, int* op);
int op_create_c(Procedure* user_fn, const int* commute, int* op);
int comm_create_errhandler(Procedure* function, int* errhandler);
int win_create_errhandler(Procedure* function, int* errhandler);
int file_create_errhandler(Procedure* function, int* errhandler);
int session_create_errhandler(Procedure* function, int* errhandler);
int grequest_start(Procedure* query_fn, Procedure* free_fn, Procedure* cancel_fn,
                   MPI_Aint* extra_state, int* request);
int register_datarep(const char* datarep, Procedure* read_fn, Procedure* write_fn,
                     Procedure* extent_fn, const MPI_Aint* extra_state, std::size_t datarep_length);
int register_datarep_c(const char* datarep, Procedure* read_fn, Procedure* write_fn,
                       Procedure* extent_fn, const MPI_Aint* extra_state,
                       std::size_t datarep_length);

// Values of Info, which leave the program's string as it is if the key is not set
// (info_values.cpp).
int info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
             std::size_t key_length, std::size_t value_length);
int info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                    std::size_t key_length, std::size_t value_length);
// The name of a process set, of which the length in C includes the null character (the same file).
int session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                         char* pset_name, std::size_t pset_name_length);

}  // namespace poe::mpi::fortran

// MPI_CONVERSION_FN_NULL of mpif.h and module mpi, and of module mpi_f08: procedures that are
// recognised by their addresses, and never called.
extern "C" {
void mpi_conversion_fn_null_(void*, int*, int*, void*, MPI_Offset*, MPI_Aint*, int* ierror);
void mpi_conversion_fn_null_c_(void*, int*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*, int* ierror);
void module_conversion_fn_null() __asm__("__mpi_f08_MOD_mpi_conversion_fn_null");
void module_conversion_fn_null_c() __asm__("__mpi_f08_MOD_mpi_conversion_fn_null_c");
}
