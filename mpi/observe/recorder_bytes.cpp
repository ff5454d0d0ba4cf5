// The bytes of collective calls whose arguments differ between members. Arguments that only the
// root gives, or that do not count with MPI_IN_PLACE, may be anything, so they are looked at only
// where the standard says that they count.
#include "mpi/observe/recorder_calls.hpp"

namespace poe::observe {
namespace {

// The counts and types of the blocks of a call: one type for all, or one for each.
struct Blocks {
    const void* counts;
    bool wide;
    const void* types;  // null: all have `type`
    Word type;

    long count(std::size_t block) const noexcept {
        return wide ? static_cast<const long*>(counts)[block]
                    : long{static_cast<const int*>(counts)[block]};
    }
    Word type_of(const ForeignLibrary& library, std::size_t block) const noexcept {
        return types != nullptr ? library.handle_at(types, block) : type;
    }
};

Blocks blocks_of(const PoeObservedCall& call, const ForeignLibrary& library, const CallShape& shape,
                 bool received) {
    const int counts = received ? shape.receive_counts : shape.send_counts;
    const int types = received ? shape.receive_types : shape.send_types;
    // A reduction has one type, which is the one of what is sent.
    const int type = received && shape.receive_type >= 0 ? shape.receive_type : shape.send_type;
    return {.counts = pointer(call, counts),
            .wide = shape.wide_counts,
            .types = types >= 0 ? pointer(call, types) : nullptr,
            .type = type >= 0 ? library.handle(call.arguments.words[type]) : 0};
}

}  // namespace

Bytes Recorder::special_bytes(const PoeObservedCall& call, const CallShape& shape,
                              const Communicator& comm) {
    const auto is_in_place = [&](int buffer) {
        return buffer >= 0 && static_cast<Word>(call.arguments.words[buffer]) == library_.in_place;
    };
    const auto sum = [&](bool received, std::size_t blocks) {
        const Blocks each = blocks_of(call, library_, shape, received);
        Bytes bytes = 0;
        for (std::size_t block = 0; each.counts != nullptr && block < blocks; ++block)
            bytes += bytes_of(each.count(block), each.type_of(library_, block));
        return bytes;
    };
    const auto own_block = [&](bool received) -> Bytes {
        const int count = received ? shape.receive_count : shape.send_count;
        const int type = received ? shape.receive_type : shape.send_type;
        if (count >= 0) return bytes_of(call, shape, count, type);
        const int counts = received ? shape.receive_counts : shape.send_counts;
        if (counts < 0) return 0;
        const Blocks each = blocks_of(call, library_, shape, received);
        return bytes_of(each.count(static_cast<std::size_t>(comm.own_rank)), each.type);
    };
    // A member of the root's side of an intercommunicator passes MPI_ROOT or MPI_PROC_NULL, and no
    // data of its own.
    const bool no_data = shape.root >= 0 && comm.inter && integer(call, shape.root) < 0;
    const bool in_place = is_in_place(shape.send_buffer);
    switch (shape.amount) {
        case Amount::kSent:
            return no_data ? 0 : own_block(in_place);
        case Amount::kReceived:
            return no_data ? 0 : own_block(!is_in_place(shape.receive_buffer));
        case Amount::kMembers:
            return sum(in_place, comm.members);
        case Amount::kNeighbors:
            return sum(false, library_.neighbors(comm.handle));
        case Amount::kReducedMembers:
            return sum(true, comm.own_members);
        case Amount::kReducedBlocks:
            return bytes_of(call, shape, shape.receive_count, shape.send_type) * comm.own_members;
    }
    return 0;
}

}  // namespace poe::observe
