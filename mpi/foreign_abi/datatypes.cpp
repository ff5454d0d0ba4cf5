// Datatypes: structures with MPI_LB and MPI_UB, which MPI 3.0 has removed, and the arguments from
// which a datatype was made.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {
namespace {

struct Bounds {
    bool has_lower = false;
    bool has_upper = false;
    MPI_Count lower = std::numeric_limits<MPI_Count>::max();
    MPI_Count upper = std::numeric_limits<MPI_Count>::min();
};

// The datatype `made`, with the bounds that markers have set. Takes over the datatype.
int resize(MPI_Datatype made, const Bounds& bounds, MPI_Datatype* result) {
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    int code = library.Type_get_extent_c(made, &lower, &extent);
    const MPI_Count upper = bounds.has_upper ? bounds.upper : lower + extent;
    if (bounds.has_lower) lower = bounds.lower;
    if (code == MPI_SUCCESS)
        code = library.Type_create_resized_c(made, lower, upper - lower, result);
    library.Type_free(&made);
    return code;
}

int make_struct(MPI_Count count, const MPI_Count* lengths, const MPI_Count* displacements,
                const Theirs<MPI_Datatype>* types, Theirs<MPI_Datatype>* newtype) {
    Bounds bounds;
    std::vector<MPI_Count> kept_lengths;
    std::vector<MPI_Count> kept_displacements;
    std::vector<MPI_Datatype> kept_types;
    for (MPI_Count i = 0; i < count; ++i) {
        if (is_lower_bound(types[i])) {
            bounds.has_lower = true;
            bounds.lower = std::min(bounds.lower, displacements[i]);
        } else if (is_upper_bound(types[i])) {
            bounds.has_upper = true;
            bounds.upper = std::max(bounds.upper, displacements[i]);
        } else {
            kept_lengths.push_back(lengths[i]);
            kept_displacements.push_back(displacements[i]);
            kept_types.push_back(handle_in<MPI_Datatype>(types[i]));
        }
    }
    const auto kept = count < 0 ? count : static_cast<MPI_Count>(kept_types.size());
    HandleOut<MPI_Datatype> made(newtype);
    MPI_Datatype ours = nullptr;
    int code =
        library.Type_create_struct_c(kept, kept_lengths.data(), kept_displacements.data(),
                                     kept_types.data(), newtype == nullptr ? nullptr : &ours);
    if (code != MPI_SUCCESS) return finish(code);
    MPI_Datatype* const result = made;
    if (bounds.has_lower || bounds.has_upper)
        code = resize(ours, bounds, result);
    else
        *result = ours;
    return finish(code);
}

bool has_bound_marker(int count, const Theirs<MPI_Datatype>* types) noexcept {
    return types != nullptr && count > 0 &&
           std::any_of(types, types + count, [](Theirs<MPI_Datatype> type) {
               return is_lower_bound(type) || is_upper_bound(type);
           });
}

}  // namespace

int type_create_struct(int count, const int lengths[], const MPI_Aint displacements[],
                       const Theirs<MPI_Datatype> types[], Theirs<MPI_Datatype>* newtype) {
    if (has_bound_marker(count, types)) {
        const std::vector<MPI_Count> wide_lengths(lengths, lengths + count);
        const std::vector<MPI_Count> wide_displacements(displacements, displacements + count);
        return make_struct(count, wide_lengths.data(), wide_displacements.data(), types, newtype);
    }
    const HandlesIn<MPI_Datatype> ours(types, count);
    HandleOut<MPI_Datatype> made(newtype);
    return finish(library.Type_create_struct(count, lengths, displacements, ours, made));
}
int type_create_struct_c(MPI_Count count, const MPI_Count lengths[],
                         const MPI_Count displacements[], const Theirs<MPI_Datatype> types[],
                         Theirs<MPI_Datatype>* newtype) {
    return make_struct(count, lengths, displacements, types, newtype);
}

// The markers are datatypes to this function only.
int type_get_name(Theirs<MPI_Datatype> datatype, char* name, int* resultlen) {
    if (is_lower_bound(datatype) || is_upper_bound(datatype)) {
        std::strcpy(name, is_lower_bound(datatype) ? "MPI_LB" : "MPI_UB");
        *resultlen = 6;
        return MPI_SUCCESS;
    }
    TextOut<MPI_MAX_OBJECT_NAME, kMaxObjectName> text(name, resultlen);
    return finish(library.Type_get_name(handle_in<MPI_Datatype>(datatype), text, resultlen));
}

namespace {

// The integers of a datatype contain constants if an array was distributed or cut.
void convert_integers(int combiner, int count, int* integers) {
    if (combiner == MPI_COMBINER_SUBARRAY && count > 0) {
        integers[count - 1] = value_out<kArrayOrder>(integers[count - 1]);
    } else if (combiner == MPI_COMBINER_DARRAY && count > 4) {
        // size, rank, ndims, sizes, distributions, arguments, process grid, order
        const int ndims = integers[2];
        const int first = count - 1 - 3 * ndims;
        int* const distributions = integers + first;
        int* const arguments = distributions + ndims;
        for (int i = 0; i < ndims; ++i) {
            distributions[i] = value_out<kDarrayDistribution>(distributions[i]);
            if (arguments[i] == MPI_DISTRIBUTE_DFLT_DARG) arguments[i] = kDistributeDfltDarg;
        }
        integers[count - 1] = value_out<kArrayOrder>(integers[count - 1]);
    }
}

}  // namespace

int type_get_contents(Theirs<MPI_Datatype> datatype, int max_integers, int max_addresses,
                      int max_datatypes, int integers[], MPI_Aint addresses[],
                      Theirs<MPI_Datatype> datatypes[]) {
    const auto type = handle_in<MPI_Datatype>(datatype);
    int combiner = MPI_UNDEFINED;
    int integers_count = 0;
    {
        HandlesOut<MPI_Datatype> made(datatypes, max_datatypes);
        const int code = library.Type_get_contents(type, max_integers, max_addresses, max_datatypes,
                                                   integers, addresses, made);
        if (code != MPI_SUCCESS) return finish(code);
    }
    int unused = 0;
    library.Type_get_envelope(type, &integers_count, &unused, &unused, &combiner);
    convert_integers(combiner, integers_count, integers);
    return MPI_SUCCESS;
}

int type_get_contents_c(Theirs<MPI_Datatype> datatype, MPI_Count max_integers,
                        MPI_Count max_addresses, MPI_Count max_large_counts,
                        MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
                        MPI_Count large_counts[], Theirs<MPI_Datatype> datatypes[]) {
    const auto type = handle_in<MPI_Datatype>(datatype);
    int combiner = MPI_UNDEFINED;
    MPI_Count integers_count = 0;
    {
        HandlesOut<MPI_Datatype> made(datatypes, static_cast<int>(max_datatypes));
        const int code =
            library.Type_get_contents_c(type, max_integers, max_addresses, max_large_counts,
                                        max_datatypes, integers, addresses, large_counts, made);
        if (code != MPI_SUCCESS) return finish(code);
    }
    MPI_Count unused = 0;
    library.Type_get_envelope_c(type, &integers_count, &unused, &unused, &unused, &combiner);
    convert_integers(combiner, static_cast<int>(integers_count), integers);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi::foreign
