// Parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray (MPI 5.0, sections 5.1.3 and
// 5.1.4). Both are loops, one per dimension, around the element type; the fastest dimension is the
// innermost loop. The bounds of the new type are those of the whole array.
#include <algorithm>
#include <utility>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/contents_writer.hpp"

namespace poe::mpi {

namespace {

ErrorReport check_order(int order) {
    if (order == kOrderC || order == kOrderFortran) return {};
    return {kErrArg, "order",
            joined("the order is ", order, "; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN")};
}

ErrorReport check_dimensions(int ndims) {
    if (ndims > 0) return {};
    return {kErrArg, "ndims", joined("there are ", ndims, " dimensions; at least 1 is needed")};
}

// Calls `dimension(i, stride)` for every dimension, the fastest first. `stride` is the distance of
// neighbours in this dimension in bytes. Returns the bytes of the whole array.
template <typename Dimension>
std::int64_t for_each_dimension(int ndims, int order, Counts sizes, std::int64_t element,
                                Dimension dimension) {
    std::int64_t stride = element;
    for (int step = 0; step < ndims; ++step) {
        const int i = order == kOrderFortran ? step : ndims - 1 - step;
        dimension(i, stride);
        stride = checked_multiply(stride, sizes[i]);
    }
    return stride;
}

ErrorReport check_subarray(int ndims, Counts sizes, Counts subsizes, Counts starts, int order) {
    if (ErrorReport error = check_dimensions(ndims)) return error;
    if (sizes.is_null()) return {kErrArg, "array_of_sizes", "the array is a null pointer"};
    if (subsizes.is_null()) return {kErrArg, "array_of_subsizes", "the array is a null pointer"};
    if (starts.is_null()) return {kErrArg, "array_of_starts", "the array is a null pointer"};
    for (int i = 0; i < ndims; ++i) {
        if (sizes[i] < 1) {
            return {kErrArg, "array_of_sizes",
                    joined("dimension ", i, " has the size ", sizes[i], "; it must be positive")};
        }
        if (subsizes[i] < 1 || subsizes[i] > sizes[i]) {
            return {kErrArg, "array_of_subsizes",
                    joined("the part has ", subsizes[i], " elements in dimension ", i,
                           "; it must have 1 to ", sizes[i])};
        }
        if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) {
            return {kErrArg, "array_of_starts",
                    joined("the part begins at ", starts[i], " in dimension ", i,
                           "; it must begin at 0 to ", sizes[i] - subsizes[i])};
        }
    }
    return check_order(order);
}

}  // namespace

ErrorReport type_create_subarray(Form form, int ndims, Counts sizes, Counts subsizes, Counts starts,
                                 int order, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_subarray(ndims, sizes, subsizes, starts, order)) return error;
    ContentsWriter contents(Combiner::kSubarray, form);
    contents.integer(ndims).counts(sizes, ndims).counts(subsizes, ndims).counts(starts, ndims);
    contents.integer(order).type(old);
    return make_datatype(made, contents, [&] {
        TypeMap map = old.map();
        const std::int64_t bytes =
            for_each_dimension(ndims, order, sizes, old.extent(), [&](int i, std::int64_t stride) {
                map = displace(replicate(map, subsizes[i], stride),
                               checked_multiply(starts[i], stride));
            });
        return with_bounds(std::move(map), 0, bytes);
    });
}

namespace {

// How one dimension is distributed over the processes of this dimension.
struct Distribution {
    std::int64_t size;        // elements in the dimension
    std::int64_t block;       // elements per block
    std::int64_t processes;   // in this dimension
    std::int64_t coordinate;  // of this process
};

// The share of one process: blocks at coordinate * block + i * processes * block, the last of which
// may be shorter.
TypeMap distribute(const TypeMap& element, const Distribution& how, std::int64_t stride) {
    const std::int64_t cycle = checked_multiply(how.block, how.processes);
    const std::int64_t first = checked_multiply(how.coordinate, how.block);
    if (first >= how.size) return {};
    const std::int64_t left = how.size - first;
    std::int64_t whole = left / cycle;
    const std::int64_t last_block = std::min(left % cycle, how.block);
    if (last_block == how.block) ++whole;
    const std::int64_t cycle_bytes =
        whole > 1 || last_block < how.block ? checked_multiply(cycle, stride) : 0;
    const TypeMap blocks = replicate(replicate(element, how.block, stride), whole, cycle_bytes);
    const std::int64_t start = checked_multiply(first, stride);
    if (last_block == 0 || last_block == how.block) return displace(blocks, start);
    const TypeMap rest = replicate(element, last_block, stride);
    TypeMapJoiner joiner;
    joiner.add(blocks, 1, start);
    joiner.add(rest, 1, checked_add(start, checked_multiply(whole, cycle_bytes)));
    return joiner.finish();
}

ErrorReport check_process_grid(int size, int rank, int ndims, const int* psizes) {
    if (size < 1) {
        return {kErrArg, "size",
                joined("the group has ", size, " processes; at least 1 is needed")};
    }
    if (rank < 0 || rank >= size) {
        return {kErrArg, "rank", joined("the rank is ", rank, "; it must be 0 to ", size - 1)};
    }
    std::int64_t processes = 1;
    for (int i = 0; i < ndims; ++i) {
        if (psizes[i] < 1 || processes > size) {
            return {kErrArg, "array_of_psizes",
                    joined("dimension ", i, " of the process grid has the size ", psizes[i])};
        }
        processes *= psizes[i];
    }
    if (processes == size) return {};
    return {kErrArg, "array_of_psizes",
            joined("the grid has ", processes, " processes, but the group has ", size)};
}

// Sets the block length of dimension i from its distribution and its argument.
ErrorReport read_distribution(int i, int kind, std::int64_t argument, Distribution& how) {
    const bool by_default = argument == kDistributeDefaultArgument;
    switch (kind) {
        case kDistributeNone:
            if (how.processes != 1) {
                return {kErrArg, "array_of_psizes",
                        joined("dimension ", i, " is not distributed, but has ", how.processes,
                               " processes")};
            }
            how.block = how.size;
            return {};
        case kDistributeBlock:
            how.block = by_default ? (how.size - 1) / how.processes + 1 : argument;
            break;
        case kDistributeCyclic:
            how.block = by_default ? 1 : argument;
            break;
        default:
            return {kErrArg, "array_of_distribs",
                    joined(kind, " is not a distribution (dimension ", i, ")")};
    }
    if (how.block < 1) {
        return {kErrArg, "array_of_dargs",
                joined("dimension ", i, " has blocks of ", how.block,
                       " elements; at least 1 is needed")};
    }
    if (kind == kDistributeBlock && how.block < (how.size - 1) / how.processes + 1) {
        return {kErrArg, "array_of_dargs",
                joined(how.processes, " blocks of ", how.block, " elements do not cover the ",
                       how.size, " elements of dimension ", i)};
    }
    return {};
}

// Fills `how`, one entry per dimension. The ranks of the process grid are in row-major order, also
// for arrays in Fortran order.
ErrorReport read_distributions(int size, int rank, Counts gsizes, const int* distribs,
                               const int* dargs, const int* psizes,
                               std::vector<Distribution>& how) {
    std::int64_t processes = size;
    std::int64_t left = rank;
    for (int i = 0; i < static_cast<int>(how.size()); ++i) {
        if (gsizes[i] < 1) {
            return {kErrArg, "array_of_gsizes",
                    joined("dimension ", i, " has the size ", gsizes[i], "; it must be positive")};
        }
        processes /= psizes[i];
        how[i] = {gsizes[i], 1, psizes[i], left / processes};
        left %= processes;
        if (ErrorReport error = read_distribution(i, distribs[i], dargs[i], how[i])) return error;
    }
    return {};
}

}  // namespace

ErrorReport type_create_darray(Form form, int size, int rank, int ndims, Counts gsizes,
                               const int* distribs, const int* dargs, const int* psizes, int order,
                               Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_dimensions(ndims)) return error;
    if (gsizes.is_null() || distribs == nullptr || dargs == nullptr || psizes == nullptr) {
        return {kErrArg, "array_of_gsizes", "one of the four arrays is a null pointer"};
    }
    if (ErrorReport error = check_order(order)) return error;
    if (ErrorReport error = check_process_grid(size, rank, ndims, psizes)) return error;
    std::vector<Distribution> how(static_cast<std::size_t>(ndims));
    if (ErrorReport error = read_distributions(size, rank, gsizes, distribs, dargs, psizes, how)) {
        return error;
    }
    ContentsWriter contents(Combiner::kDarray, form);
    contents.integer(size).integer(rank).integer(ndims).counts(gsizes, ndims);
    contents.integers(distribs, ndims).integers(dargs, ndims).integers(psizes, ndims);
    contents.integer(order).type(old);
    return make_datatype(made, contents, [&] {
        TypeMap map = old.map();
        const std::int64_t bytes =
            for_each_dimension(ndims, order, gsizes, old.extent(), [&](int i, std::int64_t stride) {
                map = distribute(map, how[static_cast<std::size_t>(i)], stride);
            });
        return with_bounds(std::move(map), 0, bytes);
    });
}

}  // namespace poe::mpi
