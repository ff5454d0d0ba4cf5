// Functions of the program that MPI calls: operations, error handlers, generalized requests (MPI
// 5.0, sections 6.9.5, 9.3 and 13.2).
//
// MPI calls a function of C, which has handles of C; a subroutine of Fortran must get integers. A
// function of C with an extra state finds the subroutine there. Operations and error handlers have
// none, so each subroutine gets a function of C of its own, one of a fixed number. A subroutine
// keeps its function forever, and the next operation that is created from it uses the same one.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "mpi/fortran/by_hand.hpp"

namespace poe::mpi::fortran {
namespace {

// How many subroutines a program may use as operations; the same for error handlers of each kind.
constexpr std::size_t kMaxSubroutines = 64;

template <typename Count>
struct Operations {
    using Function = void(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype);
    using Subroutine = void(void* invec, void* inoutvec, Count* len, int* datatype);
    static inline std::array<Procedure*, kMaxSubroutines> subroutines{};

    template <std::size_t kNumber>
    static void function(void* invec, void* inoutvec, Count* len, MPI_Datatype* datatype) {
        int integer = to_fortran(*datatype);
        reinterpret_cast<Subroutine*>(subroutines[kNumber])(invec, inoutvec, len, &integer);
    }
};

template <typename Handle>
struct ErrorHandlers {
    using Function = void(Handle* object, int* error_code, ...);
    using Subroutine = void(int* object, int* error_code);
    static inline std::array<Procedure*, kMaxSubroutines> subroutines{};

    template <std::size_t kNumber>
    static void function(Handle* object, int* error_code, ...) {
        int integer = to_fortran(*object);
        reinterpret_cast<Subroutine*>(subroutines[kNumber])(&integer, error_code);
    }
};

std::mutex& subroutines_lock() {
    static std::mutex lock;
    return lock;
}

// The function of C for a subroutine; null if all are in use.
template <typename Kind>
typename Kind::Function* function_for(Procedure* subroutine) {
    static constexpr auto kFunctions =
        []<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
        return std::array<typename Kind::Function*, kMaxSubroutines>{
            &Kind::template function<kNumbers>...};
    }
    (std::make_index_sequence<kMaxSubroutines>{});
    const std::lock_guard guard(subroutines_lock());
    for (std::size_t i = 0; i < kMaxSubroutines; ++i) {
        if (Kind::subroutines[i] == nullptr) Kind::subroutines[i] = subroutine;
        if (Kind::subroutines[i] == subroutine) return kFunctions[i];
    }
    return nullptr;
}

int refuse_subroutine() {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

template <typename Count, typename Create>
int create_operation(Procedure* user_fn, int* op, Create&& create) {
    auto* function = function_for<Operations<Count>>(user_fn);
    if (function == nullptr) return refuse_subroutine();
    HandleOut<MPI_Op> made(op);
    return create(function, static_cast<MPI_Op*>(made));
}

template <typename Handle, typename Create>
int create_errhandler(Procedure* subroutine, int* errhandler, Create&& create) {
    auto* function = function_for<ErrorHandlers<Handle>>(subroutine);
    if (function == nullptr) return refuse_subroutine();
    HandleOut<MPI_Errhandler> made(errhandler);
    return create(function, static_cast<MPI_Errhandler*>(made));
}

// The subroutines of a generalized request and its extra state, which is the variable of the
// program: what one subroutine stores there, the next one and the program read.
struct Grequest {
    using Query = void(MPI_Aint* extra_state, int* status, int* ierror);
    using Free = void(MPI_Aint* extra_state, int* ierror);
    using Cancel = void(MPI_Aint* extra_state, int* complete, int* ierror);

    Query* query;
    Free* free;
    Cancel* cancel;
    MPI_Aint* extra_state;
};

int query_grequest(void* extra_state, MPI_Status* status) {
    auto& request = *static_cast<Grequest*>(extra_state);
    int code = MPI_SUCCESS;
    request.query(request.extra_state, reinterpret_cast<int*>(status), &code);
    return code;
}

// The last function that MPI calls for the request.
int free_grequest(void* extra_state) {
    const std::unique_ptr<Grequest> request(static_cast<Grequest*>(extra_state));
    int code = MPI_SUCCESS;
    request->free(request->extra_state, &code);
    return code;
}

int cancel_grequest(void* extra_state, int complete) {
    auto& request = *static_cast<Grequest*>(extra_state);
    int code = MPI_SUCCESS;
    request.cancel(request.extra_state, &complete, &code);
    return code;
}

// A data representation. A null subroutine stands for MPI_CONVERSION_FN_NULL.
struct Datarep {
    template <typename Count>
    using Convert = void(void* userbuf, int* datatype, Count* count, void* filebuf,
                         MPI_Offset* position, MPI_Aint* extra_state, int* ierror);
    using Extent = void(int* datatype, MPI_Aint* extent, MPI_Aint* extra_state, int* ierror);

    Procedure* read;
    Procedure* write;
    Procedure* extent;
    MPI_Aint* extra_state;
};

template <typename Count>
int convert_data(Procedure* subroutine, Datarep& how, void* userbuf, MPI_Datatype datatype,
                 Count count, void* filebuf, MPI_Offset position) {
    int type = to_fortran(datatype);
    int code = MPI_SUCCESS;
    reinterpret_cast<Datarep::Convert<Count>*>(subroutine)(userbuf, &type, &count, filebuf,
                                                           &position, how.extra_state, &code);
    return code;
}
template <typename Count>
int read_data(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position,
              void* extra_state) {
    auto& how = *static_cast<Datarep*>(extra_state);
    return convert_data(how.read, how, userbuf, datatype, count, filebuf, position);
}
template <typename Count>
int write_data(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,
               MPI_Offset position, void* extra_state) {
    auto& how = *static_cast<Datarep*>(extra_state);
    return convert_data(how.write, how, userbuf, datatype, count, filebuf, position);
}
int extent_of_type(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state) {
    auto& how = *static_cast<Datarep*>(extra_state);
    int type = to_fortran(datatype);
    int code = MPI_SUCCESS;
    reinterpret_cast<Datarep::Extent*>(how.extent)(&type, extent, how.extra_state, &code);
    return code;
}

std::unique_ptr<Datarep> make_datarep(Procedure* read, Procedure* write, Procedure* extent,
                                      const MPI_Aint* extra_state) {
    static const std::array<Procedure*, 4> kNone{
        reinterpret_cast<Procedure*>(mpi_conversion_fn_null_),
        reinterpret_cast<Procedure*>(mpi_conversion_fn_null_c_),
        reinterpret_cast<Procedure*>(module_conversion_fn_null),
        reinterpret_cast<Procedure*>(module_conversion_fn_null_c)};
    const auto known = [](Procedure* conversion) {
        const bool none = std::find(kNone.begin(), kNone.end(), conversion) != kNone.end();
        return none ? nullptr : conversion;
    };
    // A subroutine of Fortran gets the extra state by its address.
    return std::make_unique<Datarep>(
        Datarep{known(read), known(write), extent, const_cast<MPI_Aint*>(extra_state)});
}

}  // namespace

int op_create(Procedure* user_fn, const int* commute, int* op) {
    return create_operation<int>(user_fn, op, [&](MPI_User_function* function, MPI_Op* made) {
        return MPI_Op_create(function, *commute, made);
    });
}
int op_create_c(Procedure* user_fn, const int* commute, int* op) {
    return create_operation<MPI_Count>(user_fn, op,
                                       [&](MPI_User_function_c* function, MPI_Op* made) {
                                           return MPI_Op_create_c(function, *commute, made);
                                       });
}

int comm_create_errhandler(Procedure* subroutine, int* errhandler) {
    return create_errhandler<MPI_Comm>(subroutine, errhandler, MPI_Comm_create_errhandler);
}
int win_create_errhandler(Procedure* subroutine, int* errhandler) {
    return create_errhandler<MPI_Win>(subroutine, errhandler, MPI_Win_create_errhandler);
}
int file_create_errhandler(Procedure* subroutine, int* errhandler) {
    return create_errhandler<MPI_File>(subroutine, errhandler, MPI_File_create_errhandler);
}
int session_create_errhandler(Procedure* subroutine, int* errhandler) {
    return create_errhandler<MPI_Session>(subroutine, errhandler, MPI_Session_create_errhandler);
}

int grequest_start(Procedure* query_fn, Procedure* free_fn, Procedure* cancel_fn,
                   MPI_Aint* extra_state, int* request) {
    auto state = std::make_unique<Grequest>(Grequest{
        reinterpret_cast<Grequest::Query*>(query_fn), reinterpret_cast<Grequest::Free*>(free_fn),
        reinterpret_cast<Grequest::Cancel*>(cancel_fn), extra_state});
    HandleOut<MPI_Request> made(request);
    const int code =
        MPI_Grequest_start(query_grequest, free_grequest, cancel_grequest, state.get(), made);
    // free_grequest() frees it.
    if (code == MPI_SUCCESS) static_cast<void>(state.release());
    return code;
}

int register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                     const MPI_Aint* extra_state, std::size_t datarep_length) {
    auto state = make_datarep(read, write, extent, extra_state);
    const int code = MPI_Register_datarep(
        text(datarep, datarep_length).c_str(), state->read == nullptr ? nullptr : read_data<int>,
        state->write == nullptr ? nullptr : write_data<int>, extent_of_type, state.get());
    // A data representation exists as long as the process.
    if (code == MPI_SUCCESS) static_cast<void>(state.release());
    return code;
}
int register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                       const MPI_Aint* extra_state, std::size_t datarep_length) {
    auto state = make_datarep(read, write, extent, extra_state);
    const int code = MPI_Register_datarep_c(
        text(datarep, datarep_length).c_str(),
        state->read == nullptr ? nullptr : read_data<MPI_Count>,
        state->write == nullptr ? nullptr : write_data<MPI_Count>, extent_of_type, state.get());
    if (code == MPI_SUCCESS) static_cast<void>(state.release());
    return code;
}

}  // namespace poe::mpi::fortran
