// Representation: how data are stored in a file (MPI 5.0, section 14.5). In the representations
// "native" and "internal" the bytes of the file are those of memory; "external32" and those that
// the program registers convert them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// Immutable once it is registered; lives as long as the process.
struct Representation {
    std::string name;
    bool native = false;      // nothing is converted
    bool external32 = false;  // otherwise, if not native, the functions of the program convert
    // Null: data are stored as they are in memory.
    MPI_Datarep_conversion_function* read = nullptr;
    MPI_Datarep_conversion_function_c* read_large = nullptr;
    MPI_Datarep_conversion_function* write = nullptr;
    MPI_Datarep_conversion_function_c* write_large = nullptr;
    MPI_Datarep_extent_function* extent = nullptr;
    void* extra_state = nullptr;

    // True if a conversion calls a function of the program.
    bool calls_program() const noexcept { return !native && !external32; }
};

// The representation of this name; null if there is none. Thread-safe.
const Representation* find_representation(const char* name);
// Refuses a name that is too long or exists. Thread-safe.
Fault register_representation(Representation added);

// The datatype that describes data of `type` in a file: counts and displacements that are multiples
// of extents follow the sizes of the file, displacements in bytes stay. Committed. May call the
// program's function for extents.
Fault file_type(const Representation& how, Datatype& type, TypeReference& made);

// Converts `count` elements of `type` at `memory` to the bytes of the file, or back. `file` has
// `count` times the size of the type that file_type() returns. Precondition: `how` is not native.
Fault to_file(const Representation& how, const void* memory, std::int64_t count, Datatype& type,
              std::byte* file);
Fault from_file(const Representation& how, const std::byte* file, void* memory, std::int64_t count,
                Datatype& type);

}  // namespace poe::mpi
