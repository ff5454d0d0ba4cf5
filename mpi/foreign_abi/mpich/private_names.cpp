// Names that are not MPI's and that MPICH's binary interface has nevertheless: the variables and
// functions behind constants of its header, and what its libraries for Fortran and C++ need of the
// one for C.
#include <mpi.h>

#include "interface/functions.hpp"
#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "mpi/foreign_abi/fortran_values.hpp"

using poe::mpi::foreign::Function;
using poe::mpi::foreign::Status;

namespace foreign = poe::mpi::foreign;

#pragma GCC visibility push(default)
extern "C" {

// Behind MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY and MPI_T_PVAR_ALL_HANDLES.
extern int* const mpich_unweighted __asm__("MPI_UNWEIGHTED");
extern int* const mpich_weights_empty __asm__("MPI_WEIGHTS_EMPTY");
extern void* const mpich_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES");
int* const mpich_unweighted = &foreign::unweighted_variable;
int* const mpich_weights_empty = &foreign::weights_empty_variable;
void* const mpich_all_handles = reinterpret_cast<void*>(MPI_T_PVAR_ALL_HANDLES);

// Behind MPI_F_STATUS_IGNORE and the like. MPICH's library for Fortran sets the first two when it
// is initialized; the others are what module mpi_f08 recognises by address.
extern int* mpich_f_status_ignore __asm__("MPI_F_STATUS_IGNORE");
extern int* mpich_f_statuses_ignore __asm__("MPI_F_STATUSES_IGNORE");
int* mpich_f_status_ignore = nullptr;
int* mpich_f_statuses_ignore = nullptr;
// Those behind MPI_UNWEIGHTED for Fortran. MPICH's library for Fortran has variables of these names
// too, which the program uses if they are found first; so they are set when everything is loaded.
extern int* MPIR_C_MPI_UNWEIGHTED;
extern int* MPIR_C_MPI_WEIGHTS_EMPTY;
int* MPIR_C_MPI_UNWEIGHTED = nullptr;
int* MPIR_C_MPI_WEIGHTS_EMPTY = nullptr;
__attribute__((constructor)) static void set_weights() {
    MPIR_C_MPI_UNWEIGHTED = &foreign::unweighted_variable;
    MPIR_C_MPI_WEIGHTS_EMPTY = &foreign::weights_empty_variable;
}
extern int MPIR_F08_MPI_IN_PLACE;
extern int MPIR_F08_MPI_BOTTOM;
extern Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
extern Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
int MPIR_F08_MPI_IN_PLACE = 0;
int MPIR_F08_MPI_BOTTOM = 0;
Status MPIR_F08_MPI_STATUS_IGNORE_OBJ = {};
Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1] = {};
extern Status* mpich_f08_status_ignore __asm__("MPI_F08_STATUS_IGNORE");
extern Status* mpich_f08_statuses_ignore __asm__("MPI_F08_STATUSES_IGNORE");
Status* mpich_f08_status_ignore = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
Status* mpich_f08_statuses_ignore = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

// Behind MPI_DUP_FN and the like.
int MPIR_Dup_fn(int, int, void*, void* value_in, void* value_out, int* flag) {
    *static_cast<void**>(value_out) = value_in;
    *flag = 1;
    return MPI_SUCCESS;
}

// What the libraries for C++ and Fortran say about objects that they have created.
void MPII_Op_set_cxx(int op, Function* proxy) {
    foreign::set_operation_proxy(op, proxy);
}
void MPII_Errhandler_set_cxx(int errhandler, Function* proxy) {
    foreign::set_errhandler_proxy(errhandler, proxy);
}
void MPII_Keyval_set_proxy(int keyval, Function* copy_proxy, Function* delete_proxy) {
    foreign::set_keyval_proxies(keyval, copy_proxy, delete_proxy);
}
void MPII_Grequest_set_lang_f77(int request) {
    foreign::set_grequest_of_fortran(request);
}

// Attributes for Fortran. `type` is that of the value: 0 an address, otherwise an integer.
#define ATTRIBUTES(kind, handle, get)                                                      \
    int MPII_##kind##_set_attr(int object, int keyval, void* value, int type) {            \
        if (type != 0)                                                                     \
            value = foreign::keep_fortran_value(reinterpret_cast<MPI_Aint>(value), type);  \
        return foreign::finish(foreign::library.kind##_set_attr(                           \
            foreign::handle_in<handle>(object), foreign::keyval_in(keyval), value));       \
    }                                                                                      \
    int MPII_##kind##_get_attr(int object, int keyval, void* value, int* flag, int type) { \
        const int key = foreign::key_of_c(keyval);                                         \
        const int code = get;                                                              \
        return type == 0 ? code : foreign::fortran_value_of(code, key, value, flag);       \
    }
ATTRIBUTES(Comm, MPI_Comm, foreign::comm_get_attr(object, key, value, flag))
ATTRIBUTES(Win, MPI_Win, foreign::win_get_attr(object, key, value, flag))
ATTRIBUTES(Type, MPI_Datatype,
           foreign::finish(foreign::library.Type_get_attr(foreign::handle_in<MPI_Datatype>(object),
                                                          foreign::keyval_in(key), value, flag)))
#undef ATTRIBUTES

}  // extern "C"
#pragma GCC visibility pop

namespace poe::mpi::foreign {

int unweighted_variable = 0;
int weights_empty_variable = 0;

bool is_duplicate(const Function* copy) noexcept {
    return copy == reinterpret_cast<Function*>(&MPIR_Dup_fn);
}

}  // namespace poe::mpi::foreign
