// The constructors with one loop or a list of blocks. Arrays and types of Fortran have their own
// files.
#include "mpi/datatype/constructors.hpp"

#include "mpi/datatype/contents_writer.hpp"

namespace poe::mpi {

namespace {

ErrorReport check_count(std::int64_t count) {
    if (count >= 0) return {};
    return {kErrCount, "count", joined("the count is ", count, "; it must not be negative")};
}

ErrorReport check_blocklength(std::int64_t length) {
    if (length >= 0) return {};
    return {kErrArg, "blocklength",
            joined("the block length is ", length, "; it must not be negative")};
}

ErrorReport check_array(std::int64_t count, bool null, std::string_view name) {
    if (count == 0 || !null) return {};
    return {kErrArg, name, joined("the array is a null pointer, but the count is ", count)};
}

ErrorReport check_blocklengths(std::int64_t count, Counts lengths) {
    if (ErrorReport error = check_array(count, lengths.is_null(), "array_of_blocklengths")) {
        return error;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        if (lengths[i] < 0) {
            return {
                kErrArg, "array_of_blocklengths",
                joined("block ", i, " has the length ", lengths[i], "; it must not be negative")};
        }
    }
    return {};
}

// The checks that all constructors with lists share. `lengths` is null if all blocks have the
// length `blocklength`.
ErrorReport check_list(std::int64_t count, const Counts* lengths, std::int64_t blocklength,
                       Counts displacements) {
    if (ErrorReport error = check_count(count)) return error;
    if (ErrorReport error = lengths != nullptr ? check_blocklengths(count, *lengths)
                                               : check_blocklength(blocklength)) {
        return error;
    }
    return check_array(count, displacements.is_null(), "array_of_displacements");
}

// `length(i)` copies of `old` at `displacement(i)` bytes, for all i below count.
template <typename Length, typename Displacement>
TypeMap join_blocks(const TypeMap& old, std::int64_t count, Length length,
                    Displacement displacement) {
    TypeMapJoiner joiner;
    for (std::int64_t i = 0; i < count; ++i) joiner.add(old, length(i), displacement(i));
    return joiner.finish();
}

}  // namespace

ErrorReport type_contiguous(Form form, std::int64_t count, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_count(count)) return error;
    ContentsWriter contents(Combiner::kContiguous, form);
    contents.count(count).type(old);
    return make_datatype(made, contents, [&] { return replicate(old.map(), count); });
}

ErrorReport type_vector(Form form, std::int64_t count, std::int64_t blocklength,
                        std::int64_t stride, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_count(count)) return error;
    if (ErrorReport error = check_blocklength(blocklength)) return error;
    ContentsWriter contents(Combiner::kVector, form);
    contents.count(count).count(blocklength).count(stride).type(old);
    return make_datatype(made, contents, [&] {
        // A stride that is never used may be any number.
        const std::int64_t bytes = count > 1 ? checked_multiply(stride, old.extent()) : 0;
        return replicate(replicate(old.map(), blocklength), count, bytes);
    });
}

ErrorReport type_create_hvector(Form form, std::int64_t count, std::int64_t blocklength,
                                std::int64_t stride, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_count(count)) return error;
    if (ErrorReport error = check_blocklength(blocklength)) return error;
    ContentsWriter contents(Combiner::kHvector, form);
    contents.count(count).count(blocklength).address(stride).type(old);
    return make_datatype(made, contents, [&] {
        return replicate(replicate(old.map(), blocklength), count, stride);
    });
}

ErrorReport type_indexed(Form form, std::int64_t count, Counts blocklengths, Counts displacements,
                         Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_list(count, &blocklengths, 0, displacements)) return error;
    ContentsWriter contents(Combiner::kIndexed, form);
    contents.count(count).counts(blocklengths, count).counts(displacements, count).type(old);
    return make_datatype(made, contents, [&] {
        return join_blocks(
            old.map(), count, [&](std::int64_t i) { return blocklengths[i]; },
            [&](std::int64_t i) { return checked_multiply(displacements[i], old.extent()); });
    });
}

ErrorReport type_create_hindexed(Form form, std::int64_t count, Counts blocklengths,
                                 Counts displacements, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_list(count, &blocklengths, 0, displacements)) return error;
    ContentsWriter contents(Combiner::kHindexed, form);
    contents.count(count).counts(blocklengths, count).addresses(displacements, count).type(old);
    return make_datatype(made, contents, [&] {
        return join_blocks(
            old.map(), count, [&](std::int64_t i) { return blocklengths[i]; },
            [&](std::int64_t i) { return displacements[i]; });
    });
}

ErrorReport type_create_indexed_block(Form form, std::int64_t count, std::int64_t blocklength,
                                      Counts displacements, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_list(count, nullptr, blocklength, displacements)) return error;
    ContentsWriter contents(Combiner::kIndexedBlock, form);
    contents.count(count).count(blocklength).counts(displacements, count).type(old);
    return make_datatype(made, contents, [&] {
        return join_blocks(
            old.map(), count, [&](std::int64_t) { return blocklength; },
            [&](std::int64_t i) { return checked_multiply(displacements[i], old.extent()); });
    });
}

ErrorReport type_create_hindexed_block(Form form, std::int64_t count, std::int64_t blocklength,
                                       Counts displacements, Datatype& old, Datatype*& made) {
    if (ErrorReport error = check_list(count, nullptr, blocklength, displacements)) return error;
    ContentsWriter contents(Combiner::kHindexedBlock, form);
    contents.count(count).count(blocklength).addresses(displacements, count).type(old);
    return make_datatype(made, contents, [&] {
        return join_blocks(
            old.map(), count, [&](std::int64_t) { return blocklength; },
            [&](std::int64_t i) { return displacements[i]; });
    });
}

ErrorReport type_create_struct(Form form, std::int64_t count, Counts blocklengths,
                               Counts displacements, Datatype* const* types, Datatype*& made) {
    if (ErrorReport error = check_list(count, &blocklengths, 0, displacements)) return error;
    if (ErrorReport error = check_array(count, types == nullptr, "array_of_types")) return error;
    ContentsWriter contents(Combiner::kStruct, form);
    contents.count(count).counts(blocklengths, count).addresses(displacements, count);
    for (std::int64_t i = 0; i < count; ++i) contents.type(*types[i]);
    return make_datatype(made, contents, [&] {
        TypeMapJoiner joiner;
        for (std::int64_t i = 0; i < count; ++i) {
            joiner.add(types[i]->map(), blocklengths[i], displacements[i]);
        }
        return joiner.finish();
    });
}

ErrorReport type_create_resized(Form form, Datatype& old, std::int64_t lower_bound,
                                std::int64_t extent, Datatype*& made) {
    ContentsWriter contents(Combiner::kResized, form);
    contents.address(lower_bound).address(extent).type(old);
    return make_datatype(made, contents,
                         [&] { return with_bounds(old.map(), lower_bound, extent); });
}

ErrorReport type_dup(Datatype& old, Datatype*& made) {
    ContentsWriter contents(Combiner::kDup, Form::kInt);
    contents.type(old);
    ErrorReport error = make_datatype(made, contents, [&] { return old.map(); });
    if (!error && old.committed()) made->commit();
    return error;
}

}  // namespace poe::mpi
