// Queries about the binary interface and about Fortran (MPI 5.0, chapter 20). The library uses
// the sizes of Fortran types, and the values of .TRUE. and .FALSE., that gfortran has by default. A
// program therefore cannot set them: the functions that do so return MPI_ERR_ABI.
#include <bit>
#include <cstdint>
#include <cstring>
#include <mpi.h>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/datatype/predefined.hpp"

namespace poe::mpi {
namespace {

void put(Info& info, std::string_view key, std::string_view value) {
    info.set(key, value);
}

void put_size(Info& info, std::string_view key, MPI_Datatype type) {
    put(info, key, std::to_string(find_predefined_type(value_of(type))->size));
}

// The longest LOGICAL of gfortran.
constexpr int kLargestLogical = 16;

int refuse_known(Call& call) {
    return call.fail(MPI_ERR_ABI, "", "the values of Fortran are known already",
                     "do not set values that MPI can be asked for");
}

bool check_logical_size(Call& call, int logical_size) {
    if (logical_size > 0 && std::has_single_bit(static_cast<unsigned>(logical_size))) return true;
    call.fail(MPI_ERR_ARG, "logical_size", std::to_string(logical_size) + " is no power of 2",
              "use the size of a LOGICAL in bytes");
    return false;
}

}  // namespace

int abi_get_version(Call&, int* abi_major, int* abi_minor) {
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

int abi_get_info(Call&, MPI_Info* info) {
    Info& made = environment().infos.make();
    put_size(made, "mpi_aint_size", MPI_AINT);
    put_size(made, "mpi_count_size", MPI_COUNT);
    put_size(made, "mpi_offset_size", MPI_OFFSET);
    *info = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

int abi_get_fortran_info(Call&, MPI_Info* info) {
    Info& made = environment().infos.make();
    put_size(made, "mpi_logical_size", MPI_LOGICAL);
    put_size(made, "mpi_integer_size", MPI_INTEGER);
    put_size(made, "mpi_real_size", MPI_REAL);
    put_size(made, "mpi_double_precision_size", MPI_DOUBLE_PRECISION);
    // The library also computes with MPI_REAL2 and MPI_COMPLEX4, for which gfortran has no type.
    for (const char* kind :
         {"logical1", "logical2", "logical4", "logical8", "logical16", "integer1", "integer2",
          "integer4", "integer8", "integer16", "real2", "real4", "real8", "real16", "complex4",
          "complex8", "complex16", "complex32", "double_complex"}) {
        put(made, std::string("mpi_") + kind + "_supported", "true");
    }
    *info = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
}

int abi_set_fortran_info(Call& call, MPI_Info) {
    return refuse_known(call);
}

int abi_get_fortran_booleans(Call& call, int logical_size, void* logical_true, void* logical_false,
                             int* is_set) {
    if (!check_logical_size(call, logical_size)) return call.code();
    *is_set = logical_size <= kLargestLogical ? 1 : 0;
    if (*is_set == 0) return MPI_SUCCESS;
    const auto store = [&](void* to, char value) {
        if (to == nullptr) return;
        std::memset(to, 0, static_cast<std::size_t>(logical_size));
        const int lowest = std::endian::native == std::endian::little ? 0 : logical_size - 1;
        static_cast<char*>(to)[lowest] = value;
    };
    store(logical_true, 1);
    store(logical_false, 0);
    return MPI_SUCCESS;
}

int abi_set_fortran_booleans(Call& call, int logical_size, void*, void*) {
    if (!check_logical_size(call, logical_size)) return call.code();
    if (logical_size <= kLargestLogical) return refuse_known(call);
    return call.fail(MPI_ERR_ARG, "logical_size",
                     "there is no LOGICAL of " + std::to_string(logical_size) + " bytes");
}

}  // namespace poe::mpi
