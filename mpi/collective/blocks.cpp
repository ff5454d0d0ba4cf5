// Buffers of blocks; see blocks.hpp.
#include "mpi/collective/blocks.hpp"

namespace poe::mpi {

const Datatype* BlockReader::type(int block) {
    if (blocks_.types != nullptr) return sequence_.type(blocks_.types[block], blocks_.names->type);
    if (type_ == nullptr) type_ = sequence_.type(blocks_.type, blocks_.names->type);
    return type_;
}

Data BlockReader::operator[](int block) {
    if (!sequence_.ok()) return {};
    if (blocks_.counts.is_null()) {
        sequence_.fail(MPI_ERR_ARG, blocks_.names->count, "it is a null pointer");
        return {};
    }
    // The datatype of a block without elements is not looked at: many programs leave it out.
    if (blocks_.types != nullptr && count(block) == 0) return {};
    const Datatype* its = type(block);
    if (its == nullptr) return {};
    if (blocks_.displacements.is_null()) {
        sequence_.fail(MPI_ERR_ARG, blocks_.names->displacement, "it is a null pointer");
        return {};
    }
    const std::int64_t distance = blocks_.displacements[block];
    return sequence_.data(*its, blocks_.address,
                          blocks_.types != nullptr ? distance : distance * its->extent(),
                          count(block), *blocks_.names);
}

const std::byte* readable(Sequence& sequence, const Data& data) {
    return data.contiguous ? data.start : copied(sequence, data);
}

const std::byte* given_in_place(Sequence& sequence, const Data& data,
                                const collectives::Shape& shape) {
    return data.contiguous && sequence.works_in_place(shape) ? data.start : copied(sequence, data);
}

const std::byte* copied(Sequence& sequence, const Data& data) {
    std::byte* const memory = sequence.scratch(data.bytes);
    sequence.local([data, memory] { data.pack(memory); });
    return memory;
}

std::byte* writable(Sequence& sequence, const Data& data) {
    return data.contiguous ? data.start : sequence.scratch(data.bytes);
}

void unpack_result(Sequence& sequence, const Data& data, const std::byte* from) {
    if (data.contiguous && data.start == from) return;
    sequence.local([data, from] { data.unpack(from); });
}

}  // namespace poe::mpi
