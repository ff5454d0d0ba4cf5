// Making and freeing datatypes (MPI 5.0, chapter 5 and section 19.1.5).
#include <mpi.h>
#include <vector>

#include "mpi/api/bodies.hpp"
#include "mpi/api/datatype_call.hpp"
#include "mpi/datatype/constructors.hpp"

namespace poe::mpi {

int type_contiguous(Call& call, MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call, type_contiguous(form_of(call), count, datatype_of(oldtype), made), made,
                  newtype);
}

int type_vector(Call& call, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                MPI_Datatype oldtype, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(
        call, type_vector(form_of(call), count, blocklength, stride, datatype_of(oldtype), made),
        made, newtype);
}

int type_create_hvector(Call& call, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                        MPI_Datatype oldtype, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(
        call,
        type_create_hvector(form_of(call), count, blocklength, stride, datatype_of(oldtype), made),
        made, newtype);
}

int type_indexed(Call& call, MPI_Count count, Counts array_of_blocklengths,
                 Counts array_of_displacements, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call,
                  type_indexed(form_of(call), count, array_of_blocklengths, array_of_displacements,
                               datatype_of(oldtype), made),
                  made, newtype);
}

int type_create_hindexed(Call& call, MPI_Count count, Counts array_of_blocklengths,
                         Counts array_of_displacements, MPI_Datatype oldtype,
                         MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call,
                  type_create_hindexed(form_of(call), count, array_of_blocklengths,
                                       array_of_displacements, datatype_of(oldtype), made),
                  made, newtype);
}

int type_create_indexed_block(Call& call, MPI_Count count, MPI_Count blocklength,
                              Counts array_of_displacements, MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call,
                  type_create_indexed_block(form_of(call), count, blocklength,
                                            array_of_displacements, datatype_of(oldtype), made),
                  made, newtype);
}

int type_create_hindexed_block(Call& call, MPI_Count count, MPI_Count blocklength,
                               Counts array_of_displacements, MPI_Datatype oldtype,
                               MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call,
                  type_create_hindexed_block(form_of(call), count, blocklength,
                                             array_of_displacements, datatype_of(oldtype), made),
                  made, newtype);
}

int type_create_struct(Call& call, MPI_Count count, Counts array_of_blocklengths,
                       Counts array_of_displacements, const MPI_Datatype* array_of_types,
                       MPI_Datatype* newtype) {
    std::vector<Datatype*> types;
    for (MPI_Count i = 0; array_of_types != nullptr && i < count; ++i) {
        types.push_back(find_datatype(array_of_types[i]));
        if (types.back() == nullptr) {
            return call.fail(MPI_ERR_TYPE, "array_of_types",
                             "entry " + std::to_string(i) +
                                 (array_of_types[i] == MPI_DATATYPE_NULL ? " is MPI_DATATYPE_NULL"
                                                                         : " is no datatype"));
        }
    }
    Datatype* made = nullptr;
    return finish(call,
                  type_create_struct(form_of(call), count, array_of_blocklengths,
                                     array_of_displacements, types.data(), made),
                  made, newtype);
}

int type_create_subarray(Call& call, int ndims, Counts array_of_sizes, Counts array_of_subsizes,
                         Counts array_of_starts, int order, MPI_Datatype oldtype,
                         MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call,
                  type_create_subarray(form_of(call), ndims, array_of_sizes, array_of_subsizes,
                                       array_of_starts, order, datatype_of(oldtype), made),
                  made, newtype);
}

int type_create_darray(Call& call, int size, int rank, int ndims, Counts array_of_gsizes,
                       const int* array_of_distribs, const int* array_of_dargs,
                       const int* array_of_psizes, int order, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(
        call,
        type_create_darray(form_of(call), size, rank, ndims, array_of_gsizes, array_of_distribs,
                           array_of_dargs, array_of_psizes, order, datatype_of(oldtype), made),
        made, newtype);
}

int type_create_resized(Call& call, MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                        MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call, type_create_resized(form_of(call), datatype_of(oldtype), lb, extent, made),
                  made, newtype);
}

int type_create_f90_integer(Call& call, int r, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call, type_create_f90_integer(r, made), made, newtype);
}
int type_create_f90_real(Call& call, int p, int r, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call, type_create_f90_real(p, r, made), made, newtype);
}
int type_create_f90_complex(Call& call, int p, int r, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    return finish(call, type_create_f90_complex(p, r, made), made, newtype);
}
int type_match_size(Call& call, int typeclass, int size, MPI_Datatype* datatype) {
    Datatype* found = nullptr;
    return finish(call, type_match_size(typeclass, size, found), found, datatype);
}
int type_get_value_index(Call& call, MPI_Datatype value_type, MPI_Datatype index_type,
                         MPI_Datatype* pair_type) {
    Datatype* pair = nullptr;
    return finish(call,
                  type_get_value_index(datatype_of(value_type), datatype_of(index_type), pair),
                  pair, pair_type);
}

namespace {

// Reports an error if the handle at this address names no datatype.
bool check_handle(Call& call, const MPI_Datatype* handle) {
    if (find_datatype(*handle) != nullptr) return true;
    call.fail(MPI_ERR_TYPE, "datatype",
              *handle == MPI_DATATYPE_NULL ? "it is MPI_DATATYPE_NULL" : "it is no datatype");
    return false;
}

}  // namespace

int type_commit(Call& call, MPI_Datatype* datatype) {
    if (!check_handle(call, datatype)) return call.code();
    datatype_of(*datatype).commit();
    return MPI_SUCCESS;
}

// Copies the attributes whose copy functions say so. If one fails, there is no new datatype.
int type_dup(Call& call, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    Datatype* made = nullptr;
    Datatype& old = datatype_of(oldtype);
    *newtype = MPI_DATATYPE_NULL;
    if (const ErrorReport error = type_dup(old, made)) return finish(call, error);
    AttributeTable& table = environment().type_attributes;
    const MPI_Datatype handle = handle_of(*made);
    if (const Attributes* attributes = table.find(oldtype);
        attributes != nullptr && !attributes->empty()) {
        Attributes& copies = table.of(handle);
        const Fault fault = call.outside([&] { return attributes->copy_to(copies, oldtype); });
        if (fault) {
            call.outside([&] { return copies.remove_all(handle); });
            table.forget(handle);
            made->release();
            return call.fail(fault);
        }
    }
    *newtype = handle;
    return MPI_SUCCESS;
}

// Deletes the attributes first. If a delete function fails, the datatype stays.
int type_free(Call& call, MPI_Datatype* datatype) {
    if (!check_handle(call, datatype)) return call.code();
    Datatype& type = datatype_of(*datatype);
    AttributeTable& table = environment().type_attributes;
    if (!type.predefined()) {
        if (Attributes* attributes = table.find(*datatype)) {
            const Fault fault = call.outside([&] { return attributes->remove_all(*datatype); });
            if (fault) return call.fail(fault);
            table.forget(*datatype);
        }
    }
    const int code = finish(call, type_free(type));
    if (code == MPI_SUCCESS) *datatype = MPI_DATATYPE_NULL;
    return code;
}

}  // namespace poe::mpi
