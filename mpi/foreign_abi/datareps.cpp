// Data representations of files (MPI 5.0, section 14.5.3). The functions of the program are in the
// extra state, which lives as long as the process, as a data representation does.
#include <memory>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {
namespace {

struct Datarep {
    Function* read;
    Function* write;
    Function* extent;
    void* extra_state;
};
template <typename Count>
using Convert = int(void* userbuf, Theirs<MPI_Datatype> datatype, Count count, void* filebuf,
                    MPI_Offset position, void* extra_state);
using Extent = int(Theirs<MPI_Datatype> datatype, MPI_Aint* extent, void* extra_state);

template <typename Count>
int read_data(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position,
              void* extra_state) {
    const auto& how = *static_cast<Datarep*>(extra_state);
    return error_in(reinterpret_cast<Convert<Count>*>(how.read)(
        userbuf, handle_out(datatype), count, filebuf, position, how.extra_state));
}
template <typename Count>
int write_data(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,
               MPI_Offset position, void* extra_state) {
    const auto& how = *static_cast<Datarep*>(extra_state);
    return error_in(reinterpret_cast<Convert<Count>*>(how.write)(
        userbuf, handle_out(datatype), count, filebuf, position, how.extra_state));
}
int extent_of_type(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state) {
    const auto& how = *static_cast<Datarep*>(extra_state);
    return error_in(
        reinterpret_cast<Extent*>(how.extent)(handle_out(datatype), extent, how.extra_state));
}

template <typename Count, typename Register>
int register_functions(Register& registers, const char* name, const Datarep& functions) {
    auto state = std::make_unique<Datarep>(functions);
    const int code = registers(name, functions.read == nullptr ? nullptr : read_data<Count>,
                               functions.write == nullptr ? nullptr : write_data<Count>,
                               functions.extent == nullptr ? nullptr : extent_of_type, state.get());
    if (code == MPI_SUCCESS) static_cast<void>(state.release());
    return finish(code);
}

}  // namespace

int register_datarep(const char* datarep, Function* read_conversion_fn,
                     Function* write_conversion_fn, Function* dtype_file_extent_fn,
                     void* extra_state) {
    return register_functions<int>(
        library.Register_datarep, datarep,
        {read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state});
}
int register_datarep_c(const char* datarep, Function* read_conversion_fn,
                       Function* write_conversion_fn, Function* dtype_file_extent_fn,
                       void* extra_state) {
    return register_functions<MPI_Count>(
        library.Register_datarep_c, datarep,
        {read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state});
}

}  // namespace poe::mpi::foreign
