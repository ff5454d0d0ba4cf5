// Neighbourhood collective calls; see neighbor.hpp.
#include "mpi/collective/neighbor.hpp"

#include "mpi/collective/describe.hpp"

namespace poe::mpi::collective {
namespace {

// Messages between the same two tasks match in the order in which they are started. In a Cartesian
// topology a task receives first what its upper neighbour sent to its lower one.
template <typename Outgoing, typename Incoming>
void exchange_blocks(Sequence& sequence, const Neighbors& neighbors, Outgoing&& outgoing,
                     Incoming&& incoming) {
    const Members& members = sequence.comm().peers();
    const int sources = static_cast<int>(neighbors.sources.size());
    for (int i = 0; i < sources && sequence.ok(); ++i) {
        const int block = neighbors.in_pairs ? i ^ 1 : i;
        const int from = neighbors.sources[static_cast<std::size_t>(block)];
        if (from == MPI_PROC_NULL) continue;
        if (const Data data = incoming(block); data.bytes > 0)
            sequence.receive(members.task(from), data);
    }
    const int destinations = static_cast<int>(neighbors.destinations.size());
    for (int i = 0; i < destinations && sequence.ok(); ++i) {
        const int to = neighbors.destinations[static_cast<std::size_t>(i)];
        if (to == MPI_PROC_NULL) continue;
        if (const Data data = outgoing(i); data.bytes > 0) sequence.send(members.task(to), data);
    }
    sequence.exchange();
}

}  // namespace

void neighbor_allgather(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Buffer& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_neighbors(sequence, neighbors, send, receive);
    const Data own = sequence.data(send);
    const EqualBlocks blocks(sequence, receive);
    exchange_blocks(
        sequence, neighbors, [&](int) { return own; }, [&](int i) { return blocks[i]; });
}

void neighbor_allgatherv(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                         const Blocks& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_neighbors(sequence, neighbors, send, receive);
    const Data own = sequence.data(send);
    BlockReader blocks(sequence, receive);
    exchange_blocks(
        sequence, neighbors, [&](int) { return own; }, [&](int i) { return blocks[i]; });
}

void neighbor_alltoall(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                       const Buffer& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_neighbors(sequence, neighbors, send, receive);
    const EqualBlocks outgoing(sequence, send);
    const EqualBlocks incoming(sequence, receive);
    exchange_blocks(
        sequence, neighbors, [&](int i) { return outgoing[i]; },
        [&](int i) { return incoming[i]; });
}

void neighbor_alltoallv(Sequence& sequence, const Neighbors& neighbors, const Blocks& send,
                        const Blocks& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_neighbors(sequence, neighbors, send, receive);
    BlockReader outgoing(sequence, send);
    BlockReader incoming(sequence, receive);
    exchange_blocks(
        sequence, neighbors, [&](int i) { return outgoing[i]; },
        [&](int i) { return incoming[i]; });
}

}  // namespace poe::mpi::collective
