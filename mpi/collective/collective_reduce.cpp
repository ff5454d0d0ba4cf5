// Reductions on intracommunicators. Those for which CCL has no operation consist of two steps:
// exscan of a prefix and a shift, reduce_scatter of an exchange of blocks and a local reduction in
// rank order.
#include <cstring>

#include "mpi/collective/collective.hpp"
#include "mpi/collective/describe.hpp"
#include "mpi/collective/vectors.hpp"

namespace poe::mpi::collective {
namespace {

using collectives::Operation;
using collectives::Shape;
using PoeCall = ::poe::Call;

// Copies between two vectors of the program of a single member.
void copy_own(Sequence& sequence, const Vectors& vectors, const Operands& operands) {
    const Data from = vectors.program(operands.send, operands.count);
    const Data to = vectors.program(operands.receive, operands.count);
    std::byte* const packed =
        from.contiguous || to.contiguous ? nullptr : sequence.scratch(from.bytes);
    sequence.local([from, to, packed] { copy_data(from, to, packed); });
}

// The given vector of a call of this shape, in place or not. Precondition: no fault.
const std::byte* given_of(Sequence& sequence, const Vectors& vectors, const Operands& operands,
                          const Shape& shape) {
    if (operands.send != MPI_IN_PLACE)
        return vectors.given(sequence, operands.send, operands.count, false);
    return vectors.given(sequence, operands.receive, operands.count,
                         !sequence.works_in_place(shape));
}

// Reduces `n` vectors of `bytes` bytes, one after the other, in their order, into the last one.
void fold(const TypedReduction& reduction, std::byte* vectors, int n, Bytes bytes) {
    for (int r = 1; r < n; ++r) {
        std::byte* const next = vectors + static_cast<Bytes>(r) * bytes;
        reduction.reduce(next, next - bytes, next, bytes);
    }
}

// The rest of a reduce_scatter, after the blocks of all members for this one have come.
void fold_into(Sequence& sequence, const Vectors& vectors, std::byte* blocks, void* receive,
               MPI_Count count) {
    const TypedReduction& reduction = vectors.reduction();
    const int n = sequence.size();
    const Bytes bytes = reduction.bytes(count);
    sequence.local([&reduction, blocks, n, bytes] { fold(reduction, blocks, n, bytes); });
    vectors.put(sequence, blocks + static_cast<Bytes>(n - 1) * bytes, receive, count);
}

}  // namespace

void reduce(Sequence& sequence, const Operands& operands, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduction(sequence, operands, root);
    if (!check_root(sequence, root)) return;
    if (sequence.comm().is_inter()) return inter::reduce(sequence, operands, root);
    const bool is_root = root == sequence.rank();
    if (!is_root && operands.send == MPI_IN_PLACE) {
        return sequence.fail(MPI_ERR_BUFFER, "sendbuf", "MPI_IN_PLACE is allowed at the root only");
    }
    const Vectors vectors(sequence, operands, true, is_root);
    if (!sequence.ok() || operands.count == 0) return;
    if (sequence.size() == 1) {
        if (operands.send != MPI_IN_PLACE) copy_own(sequence, vectors, operands);
        return;
    }
    Shape shape = shape_of(Operation::kReduce, vectors.reduction().bytes(operands.count), root);
    const std::byte* const given = given_of(sequence, vectors, operands, shape);
    std::byte* const result =
        is_root ? vectors.result(sequence, operands.receive, operands.count) : nullptr;
    sequence.reduce(PoeCall::kReduce, std::move(shape), given, result);
    if (is_root) vectors.put(sequence, result, operands.receive, operands.count);
}

namespace {

// An operation in which all members give and get a vector.
void reduce_for_all(Sequence& sequence, const Operands& operands, PoeCall what,
                    Operation operation) {
    const Vectors vectors(sequence, operands, true, true);
    if (!sequence.ok() || operands.count == 0) return;
    if (sequence.size() == 1) {
        if (operands.send != MPI_IN_PLACE) copy_own(sequence, vectors, operands);
        return;
    }
    Shape shape = shape_of(operation, vectors.reduction().bytes(operands.count));
    const std::byte* const given = given_of(sequence, vectors, operands, shape);
    std::byte* const result = vectors.result(sequence, operands.receive, operands.count);
    sequence.reduce(what, std::move(shape), given, result);
    vectors.put(sequence, result, operands.receive, operands.count);
}

bool refuse_inter(Sequence& sequence) {
    if (!sequence.comm().is_inter()) return false;
    sequence.fail(MPI_ERR_COMM, "comm", "it is an intercommunicator",
                  "prefixes exist on intracommunicators only");
    return true;
}

}  // namespace

void allreduce(Sequence& sequence, const Operands& operands) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduction(sequence, operands);
    if (sequence.comm().is_inter()) return inter::allreduce(sequence, operands);
    reduce_for_all(sequence, operands, PoeCall::kCombine, Operation::kCombine);
}

void scan(Sequence& sequence, const Operands& operands) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduction(sequence, operands);
    if (!refuse_inter(sequence))
        reduce_for_all(sequence, operands, PoeCall::kPrefix, Operation::kPrefix);
}

// The result of rank 0 is undefined, so its buffer stays as it is.
void exscan(Sequence& sequence, const Operands& operands) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduction(sequence, operands);
    if (refuse_inter(sequence)) return;
    // Rank 0 is refused what the others are refused, although it has no result, so that it does not
    // wait for them forever.
    const bool checks_result = sequence.rank() > 0 || operands.send == operands.receive;
    const Vectors vectors(sequence, operands, true, checks_result);
    if (!sequence.ok() || operands.count == 0 || sequence.size() == 1) return;
    const Bytes bytes = vectors.reduction().bytes(operands.count);
    Shape shape = shape_of(Operation::kPrefix, bytes);
    const std::byte* prefix = given_of(sequence, vectors, operands, shape);
    // With two members, the only prefix that is needed is what rank 0 gives.
    if (sequence.size() > 2) {
        std::byte* const sum = sequence.scratch(bytes);
        sequence.reduce(PoeCall::kPrefix, std::move(shape), prefix, sum);
        prefix = sum;
    }
    std::byte* const result = sequence.rank() > 0
                                  ? vectors.result(sequence, operands.receive, operands.count)
                                  : sequence.scratch(bytes);
    Shape shift = shape_of(Operation::kShift, bytes);
    shift.step = 1;
    sequence.collective(PoeCall::kShift, std::move(shift), prefix, result);
    if (sequence.rank() > 0) vectors.put(sequence, result, operands.receive, operands.count);
}

void reduce_scatter_block(Sequence& sequence, const Operands& operands) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduce_scatter_block(sequence, operands);
    if (sequence.comm().is_inter())
        return inter::reduce_scatter(sequence, operands, Counts(nullptr), true);
    const Vectors vectors(sequence, operands, true, true);
    if (!sequence.ok() || operands.count == 0) return;
    const int n = sequence.size();
    if (n == 1) {
        if (operands.send != MPI_IN_PLACE) copy_own(sequence, vectors, operands);
        return;
    }
    const TypedReduction& reduction = vectors.reduction();
    const Bytes bytes = reduction.bytes(operands.count);
    const bool in_place = operands.send == MPI_IN_PLACE;
    const void* const send = in_place ? operands.receive : operands.send;
    // The exchange has ended before the result is written, so the input may be in its place.
    const std::byte* given = static_cast<const std::byte*>(send);
    if (!reduction.direct()) {
        std::byte* const images = sequence.scratch(static_cast<Bytes>(n) * bytes);
        for (int r = 0; r < n; ++r)
            vectors.make_image(sequence, send, operands.count * r, operands.count,
                               images + static_cast<Bytes>(r) * bytes);
        given = images;
    }
    std::byte* const blocks = sequence.scratch(static_cast<Bytes>(n) * bytes);
    sequence.collective(PoeCall::kIndex, shape_of(Operation::kIndex, bytes), given, blocks);
    fold_into(sequence, vectors, blocks, operands.receive, operands.count);
}

void reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_reduce_scatter(sequence, operands, counts);
    if (counts.is_null()) return sequence.fail(MPI_ERR_ARG, "recvcounts", "it is a null pointer");
    for (int r = 0; r < sequence.size(); ++r) {
        if (counts[r] < 0) {
            return sequence.fail(MPI_ERR_COUNT, "recvcounts",
                                 "the count of rank " + std::to_string(r) + " is negative");
        }
    }
    if (sequence.comm().is_inter()) return inter::reduce_scatter(sequence, operands, counts, false);
    Operands own = operands;
    own.count = counts[sequence.rank()];
    const Vectors vectors(sequence, own, true, true);
    if (!sequence.ok()) return;
    const int n = sequence.size();
    if (n == 1) {
        if (own.send != MPI_IN_PLACE && own.count > 0) copy_own(sequence, vectors, own);
        return;
    }
    const TypedReduction& reduction = vectors.reduction();
    const void* const send = own.send == MPI_IN_PLACE ? own.receive : own.send;
    const Members& members = *sequence.comm().local;
    const Bytes bytes = reduction.bytes(own.count);
    std::byte* const blocks = sequence.scratch(static_cast<Bytes>(n) * bytes);
    std::int64_t first = 0;
    for (int r = 0; r < n; ++r) {
        const std::int64_t count = counts[r];
        const std::byte* block = vectors.element(send, first);
        if (!reduction.direct() && count > 0) {
            std::byte* const image = sequence.scratch(reduction.bytes(count));
            vectors.make_image(sequence, send, first, count, image);
            block = image;
        }
        if (count > 0)
            sequence.send(members.task(r),
                          Data(const_cast<std::byte*>(block), reduction.bytes(count)));
        if (own.count > 0)
            sequence.receive(members.task(r), Data(blocks + static_cast<Bytes>(r) * bytes, bytes));
        first += count;
    }
    sequence.exchange();
    if (own.count > 0) fold_into(sequence, vectors, blocks, own.receive, own.count);
}

}  // namespace poe::mpi::collective
