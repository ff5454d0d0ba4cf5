// Collective calls on intercommunicators that need work within a group: barrier, bcast and the
// reductions. Each group works by itself with CCL; rank 0 of each group, its leader, exchanges
// messages with the other group.
#include <string>

#include "mpi/collective/collective.hpp"
#include "mpi/collective/vectors.hpp"

namespace poe::mpi::collective::inter {
namespace {

using collectives::Operation;
using collectives::Shape;
using PoeCall = ::poe::Call;

bool leads(const Sequence& sequence) {
    return sequence.rank() == 0;
}

TaskId other_leader(const Sequence& sequence) {
    return sequence.comm().remote->task(0);
}

// Reduces the vectors of the own group to its leader. Returns the leader's vector.
std::byte* reduce_to_leader(Sequence& sequence, const Vectors& vectors, const Operands& operands) {
    const Bytes bytes = vectors.reduction().bytes(operands.count);
    const std::byte* const given = vectors.given(sequence, operands.send, operands.count, false);
    std::byte* const sum = sequence.scratch(bytes);
    sequence.reduce(PoeCall::kReduce, shape_of(Operation::kReduce, bytes), given, sum);
    return sum;
}

// The leaders exchange vectors. Returns the leader's vector of the other group.
std::byte* swap_vectors(Sequence& sequence, std::byte* own, Bytes bytes) {
    std::byte* const theirs = sequence.scratch(bytes);
    if (!leads(sequence)) return theirs;
    sequence.send(other_leader(sequence), Data(own, bytes));
    sequence.receive(other_leader(sequence), Data(theirs, bytes));
    sequence.exchange();
    return theirs;
}

bool refuse_in_place(Sequence& sequence, const Operands& operands) {
    if (operands.send == MPI_IN_PLACE)
        sequence.fail(MPI_ERR_BUFFER, "sendbuf", "MPI_IN_PLACE is not allowed",
                      "it has no meaning on an intercommunicator");
    return !sequence.ok();
}

}  // namespace

// No member of a group leaves before all of the other group have come.
void barrier(Sequence& sequence) {
    sequence.collective(PoeCall::kSync, shape_of(Operation::kSync, 0), nullptr, nullptr);
    std::byte* const word = sequence.scratch(1);
    if (leads(sequence)) {
        std::byte* const other = sequence.scratch(1);
        sequence.local([word] { *word = std::byte{0}; });
        sequence.send(other_leader(sequence), Data(word, 1));
        sequence.receive(other_leader(sequence), Data(other, 1));
        sequence.exchange();
    }
    sequence.collective(PoeCall::kBcast, shape_of(Operation::kBcast, 1), nullptr, word);
}

void bcast(Sequence& sequence, const Buffer& buffer, int root) {
    if (root == MPI_PROC_NULL) return;
    const Data data = sequence.data(buffer);
    if (!sequence.ok() || data.bytes == 0) return;
    if (root == MPI_ROOT) {
        sequence.send(other_leader(sequence), data);
        return sequence.exchange();
    }
    std::byte* const memory = writable(sequence, data);
    if (leads(sequence)) {
        sequence.receive(sequence.comm().remote->task(root), Data(memory, data.bytes));
        sequence.exchange();
    }
    sequence.collective(PoeCall::kBcast, shape_of(Operation::kBcast, data.bytes), nullptr, memory);
    unpack_result(sequence, data, memory);
}

void reduce(Sequence& sequence, const Operands& operands, int root) {
    if (root == MPI_PROC_NULL || (root != MPI_ROOT && refuse_in_place(sequence, operands))) return;
    if (root == MPI_ROOT) {
        Operands receives = operands;
        receives.send = nullptr;
        const Vectors vectors(sequence, receives, false, true);
        if (!sequence.ok() || operands.count == 0) return;
        std::byte* const result = vectors.result(sequence, operands.receive, operands.count);
        sequence.receive(other_leader(sequence),
                         Data(result, vectors.reduction().bytes(operands.count)));
        sequence.exchange();
        return vectors.put(sequence, result, operands.receive, operands.count);
    }
    const Vectors vectors(sequence, operands, true, false);
    if (!sequence.ok() || operands.count == 0) return;
    std::byte* const sum = reduce_to_leader(sequence, vectors, operands);
    if (!leads(sequence)) return;
    sequence.send(sequence.comm().remote->task(root),
                  Data(sum, vectors.reduction().bytes(operands.count)));
    sequence.exchange();
}

void allreduce(Sequence& sequence, const Operands& operands) {
    if (refuse_in_place(sequence, operands)) return;
    const Vectors vectors(sequence, operands, true, true);
    if (!sequence.ok() || operands.count == 0) return;
    const Bytes bytes = vectors.reduction().bytes(operands.count);
    std::byte* const result =
        swap_vectors(sequence, reduce_to_leader(sequence, vectors, operands), bytes);
    sequence.collective(PoeCall::kBcast, shape_of(Operation::kBcast, bytes), nullptr, result);
    vectors.put(sequence, result, operands.receive, operands.count);
}

// Both groups give vectors of the same length, which each group divides by its own counts.
void reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts, bool equal) {
    if (refuse_in_place(sequence, operands)) return;
    const auto count_of = [&](int r) { return equal ? operands.count : counts[r]; };
    Operands all = operands;
    all.count = 0;
    for (int r = 0; r < sequence.size(); ++r) all.count += count_of(r);
    const Vectors vectors(sequence, all, true, false);
    if (!sequence.ok() || all.count == 0) return;
    const Bytes bytes = vectors.reduction().bytes(all.count);
    std::byte* const result =
        swap_vectors(sequence, reduce_to_leader(sequence, vectors, all), bytes);
    const Members& members = *sequence.comm().local;
    if (const std::int64_t own = count_of(sequence.rank()); own > 0)
        sequence.receive(members.task(0), vectors.program(operands.receive, own));
    std::int64_t first = 0;
    for (int r = 0; r < sequence.size() && leads(sequence); ++r) {
        if (count_of(r) > 0)
            sequence.send(members.task(r), vectors.part(result, all.count, first, count_of(r)));
        first += count_of(r);
    }
    sequence.exchange();
}

}  // namespace poe::mpi::collective::inter
