// The constructors of derived datatypes (MPI 5.0, sections 5.1.2 to 5.1.4, 5.1.7, 5.1.10; the types
// of Fortran 90: section 19.1.5). One function serves a function of the standard and its `_c` form.
//
// Every constructor checks its arguments, and returns an error without effect if one is wrong. On
// success `made` is a new datatype that belongs to the caller, who releases it once. The new type
// keeps the old ones alive. Nothing blocks. The room above finds the datatypes of the handles and
// passes no null handle.
#pragma once

#include <cstdint>

#include "mpi/datatype/counts.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/error_report.hpp"

namespace poe::mpi {

ErrorReport type_contiguous(Form form, std::int64_t count, Datatype& old, Datatype*& made);
// `stride` in extents of the old type.
ErrorReport type_vector(Form form, std::int64_t count, std::int64_t blocklength,
                        std::int64_t stride, Datatype& old, Datatype*& made);
// `stride` in bytes.
ErrorReport type_create_hvector(Form form, std::int64_t count, std::int64_t blocklength,
                                std::int64_t stride, Datatype& old, Datatype*& made);
// Displacements in extents of the old type.
ErrorReport type_indexed(Form form, std::int64_t count, Counts blocklengths, Counts displacements,
                         Datatype& old, Datatype*& made);
// Displacements in bytes.
ErrorReport type_create_hindexed(Form form, std::int64_t count, Counts blocklengths,
                                 Counts displacements, Datatype& old, Datatype*& made);
ErrorReport type_create_indexed_block(Form form, std::int64_t count, std::int64_t blocklength,
                                      Counts displacements, Datatype& old, Datatype*& made);
ErrorReport type_create_hindexed_block(Form form, std::int64_t count, std::int64_t blocklength,
                                       Counts displacements, Datatype& old, Datatype*& made);
// `types` has `count` pointers; none may be null.
ErrorReport type_create_struct(Form form, std::int64_t count, Counts blocklengths,
                               Counts displacements, Datatype* const* types, Datatype*& made);
ErrorReport type_create_resized(Form form, Datatype& old, std::int64_t lower_bound,
                                std::int64_t extent, Datatype*& made);
// Copies neither attributes nor the name. The new type is committed if the old one is.
ErrorReport type_dup(Datatype& old, Datatype*& made);

// `order` is kOrderC or kOrderFortran.
ErrorReport type_create_subarray(Form form, int ndims, Counts sizes, Counts subsizes, Counts starts,
                                 int order, Datatype& old, Datatype*& made);
ErrorReport type_create_darray(Form form, int size, int rank, int ndims, Counts gsizes,
                               const int* distribs, const int* dargs, const int* psizes, int order,
                               Datatype& old, Datatype*& made);

// These return predefined datatypes, which the caller does not release: the same datatype for the
// same arguments. `p` or `r` may be kUndefined.
ErrorReport type_create_f90_integer(int r, Datatype*& made);
ErrorReport type_create_f90_real(int p, int r, Datatype*& made);
ErrorReport type_create_f90_complex(int p, int r, Datatype*& made);
ErrorReport type_match_size(int typeclass, int size, Datatype*& made);
// MPI_Type_get_value_index (MPI 5.0, section 6.9.4). `made` is null if there is no such pair.
ErrorReport type_get_value_index(const Datatype& value, const Datatype& index, Datatype*& made);

}  // namespace poe::mpi
