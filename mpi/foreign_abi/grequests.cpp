// Generalized requests (MPI 5.0, section 13.2). The functions of the program are in the extra
// state, which lives until our library has called the function that frees it.
#include <memory>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {
namespace {

struct Grequest {
    Function* query;
    Function* free;
    Function* cancel;
    void* extra_state;
    bool of_fortran = false;  // subroutines, whose last argument is the error code
};
using Query = int(void* extra_state, Status* status);
using Free = int(void* extra_state);
using Cancel = int(void* extra_state, int complete);
using FortranQuery = void(void* extra_state, Status* status, int* ierror);
using FortranFree = void(void* extra_state, int* ierror);
using FortranCancel = void(void* extra_state, int* complete, int* ierror);

thread_local Grequest* last_started = nullptr;

int query(void* extra_state, MPI_Status* status) {
    const auto& request = *static_cast<Grequest*>(extra_state);
    // The function of the program sets what is missing in an empty status.
    Status theirs = empty_status();
    int code = MPI_SUCCESS;
    if (request.of_fortran)
        reinterpret_cast<FortranQuery*>(request.query)(request.extra_state, &theirs, &code);
    else
        code = reinterpret_cast<Query*>(request.query)(request.extra_state, &theirs);
    *status = status_in(theirs);
    return error_in(code);
}

int free_state(void* extra_state) {
    const std::unique_ptr<Grequest> request(static_cast<Grequest*>(extra_state));
    if (last_started == request.get()) last_started = nullptr;
    int code = MPI_SUCCESS;
    if (request->of_fortran)
        reinterpret_cast<FortranFree*>(request->free)(request->extra_state, &code);
    else
        code = reinterpret_cast<Free*>(request->free)(request->extra_state);
    return error_in(code);
}

int cancel(void* extra_state, int complete) {
    const auto& request = *static_cast<Grequest*>(extra_state);
    int code = MPI_SUCCESS;
    if (request.of_fortran)
        reinterpret_cast<FortranCancel*>(request.cancel)(request.extra_state, &complete, &code);
    else
        code = reinterpret_cast<Cancel*>(request.cancel)(request.extra_state, complete);
    return error_in(code);
}

}  // namespace

int grequest_start(Function* query_fn, Function* free_fn, Function* cancel_fn, void* extra_state,
                   Theirs<MPI_Request>* request) {
    auto state =
        std::make_unique<Grequest>(Grequest{query_fn, free_fn, cancel_fn, extra_state, false});
    HandleOut<MPI_Request> made(request);
    const int code = library.Grequest_start(query, free_state, cancel, state.get(), made);
    // free_state() frees it.
    if (code == MPI_SUCCESS) last_started = state.release();
    return finish(code);
}

void set_grequest_of_fortran(Theirs<MPI_Request>) noexcept {
    if (last_started != nullptr) last_started->of_fortran = true;
}

}  // namespace poe::mpi::foreign
