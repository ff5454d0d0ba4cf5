// Collective calls with a root, on intracommunicators: barrier, bcast, gather and scatter. Only the
// root knows the lengths of all blocks of a gatherv or scatterv, so these, and all calls on
// intercommunicators, are rounds of messages between the root and all others. Within a node, the
// short blocks of a gatherv or scatterv go through shared memory first.
#include <algorithm>
#include <string>

#include "mpi/collective/collective.hpp"
#include "mpi/collective/describe.hpp"

namespace poe::mpi::collective {
namespace {

using collectives::Operation;
using collectives::Shape;
using PoeCall = ::poe::Call;

// Whether this task is the root of a call, on either kind of communicator.
bool is_root(const Sequence& sequence, int root) {
    return sequence.comm().is_inter() ? root == MPI_ROOT : root == sequence.rank();
}

// The members with which the root communicates.
const Members& others(const Sequence& sequence) {
    return sequence.comm().peers();
}

template <typename Reader>
void receive_from_all(Sequence& sequence, Reader& blocks, bool without_own) {
    const Members& members = others(sequence);
    for (int r = 0; r < members.size() && sequence.ok(); ++r) {
        if (!without_own || r != sequence.rank()) {
            if (const Data block = blocks[r]; block.bytes > 0)
                sequence.receive(members.task(r), block);
        }
    }
}

template <typename Reader>
void send_to_all(Sequence& sequence, Reader& blocks, bool without_own) {
    const Members& members = others(sequence);
    for (int r = 0; r < members.size() && sequence.ok(); ++r) {
        if (!without_own || r != sequence.rank()) {
            if (const Data block = blocks[r]; block.bytes > 0)
                sequence.send(members.task(r), block);
        }
    }
}

// A gather by messages. `blocks` is looked at by the root only.
template <typename Reader>
void gather_directly(Sequence& sequence, const Buffer& send, Reader& blocks, int root) {
    const bool inter = sequence.comm().is_inter();
    const bool own_in_place = !inter && send.in_place();
    if (is_root(sequence, root)) receive_from_all(sequence, blocks, own_in_place);
    if (inter ? root >= 0 : !(is_root(sequence, root) && own_in_place)) {
        const Data own = sequence.data(send);
        if (!inter && is_root(sequence, root)) sequence.refuse_same_memory(own, blocks[root]);
        if (own.bytes > 0) sequence.send(others(sequence).task(root), own);
    }
    sequence.exchange();
}

template <typename Reader>
void scatter_directly(Sequence& sequence, Reader& blocks, const Buffer& receive, int root) {
    const bool inter = sequence.comm().is_inter();
    const bool own_in_place = !inter && receive.in_place();
    if (is_root(sequence, root)) send_to_all(sequence, blocks, own_in_place);
    if (inter ? root >= 0 : !(is_root(sequence, root) && own_in_place)) {
        const Data own = sequence.data(receive);
        if (!inter && is_root(sequence, root)) sequence.refuse_same_memory(blocks[root], own);
        if (own.bytes > 0) sequence.receive(others(sequence).task(root), own);
    }
    sequence.exchange();
}

using collectives::kLongestRootedBlock;
using collectives::RootedBlock;

// A block as shared memory needs it. Only a short one is packed.
RootedBlock sent_block(Sequence& sequence, const Data& data) {
    const bool packs = data.bytes <= kLongestRootedBlock;
    return {packs ? const_cast<std::byte*>(readable(sequence, data)) : nullptr, data.bytes};
}
RootedBlock received_block(Sequence& sequence, const Data& data) {
    const Bytes room = std::min(data.bytes, kLongestRootedBlock);
    return {data.contiguous ? data.start : sequence.scratch(room), data.bytes};
}

// If several members send to the root, a block of this length or longer waits for the root's
// receive. Otherwise the root would find blocks of later calls while it waits, and would copy them
// twice.
constexpr Bytes kLeastAwaited = Bytes{32} << 10;

// The rest of the way of a block after the exchange in memory.
void send_rest(Sequence& sequence, TaskId task, const RootedBlock& block, const Data& data,
               bool one_of_several) {
    if (block.follows > 0)
        sequence.send(task, data, one_of_several && block.follows >= kLeastAwaited);
}
void receive_rest(Sequence& sequence, TaskId task, const RootedBlock& block, const Data& data) {
    if (block.follows > 0) return sequence.receive(task, data);
    Data came = data;
    came.bytes = block.bytes;
    unpack_result(sequence, came, block.memory);
}

// A gatherv or scatterv of a member that is not the root. Precondition: may_use_memory().
void move_own_block(Sequence& sequence, Operation operation, const Buffer& buffer, int root) {
    const bool sends = operation == Operation::kGather;
    const Data own = sequence.data(buffer);
    std::vector<RootedBlock>& blocks = sequence.rooted_blocks();
    if (!sequence.has_begun())
        blocks.assign(1, sends ? sent_block(sequence, own) : received_block(sequence, own));
    if (!sequence.ok()) return;
    const collectives::ExchangeEnd end = sequence.exchange_with_root(operation, root);
    const TaskId task = others(sequence).task(root);
    if (sends)
        send_rest(sequence, task, blocks.front(), own, sequence.size() > 2);
    else
        receive_rest(sequence, task, blocks.front(), own);
    sequence.exchange();
    sequence.finish(end);
}

// The same of the root. `own`: its buffer, or MPI_IN_PLACE.
void move_all_blocks(Sequence& sequence, Operation operation, const Blocks& buffer,
                     const Buffer& own) {
    const bool sends = operation == Operation::kScatter;
    const int root = sequence.rank();
    BlockReader all(sequence, buffer);
    std::vector<RootedBlock>& blocks = sequence.rooted_blocks();
    bool unpacks = false;
    if (!sequence.has_begun()) {
        blocks.clear();
        for (int r = 0; r < sequence.size() && sequence.ok(); ++r) {
            const Data data = r == root ? Data() : all[r];
            blocks.push_back(sends ? sent_block(sequence, data) : received_block(sequence, data));
            unpacks = unpacks || (!sends && !data.contiguous);
        }
    }
    const Data in_all = all[root];
    const Data apart = own.in_place() ? Data() : sequence.data(own);
    sequence.refuse_same_memory(sends ? in_all : apart, sends ? apart : in_all);
    if (!sequence.ok()) return;
    const collectives::ExchangeEnd end = sequence.exchange_with_root(operation, root);
    for (int r = 0; r < sequence.size(); ++r) {
        const RootedBlock& block = blocks[static_cast<std::size_t>(r)];
        if (r == root || (block.follows == 0 && !unpacks)) continue;
        const TaskId task = others(sequence).task(r);
        if (sends)
            send_rest(sequence, task, block, all[r], false);
        else
            receive_rest(sequence, task, block, all[r]);
    }
    sequence.exchange();
    sequence.finish(end);
    if (!own.in_place() && sequence.ok())
        sequence.keep_own(sends ? in_all : apart, sends ? apart : in_all);
}

}  // namespace

bool check_root(Sequence& sequence, int root) {
    const bool special = sequence.comm().is_inter() && (root == MPI_ROOT || root == MPI_PROC_NULL);
    if (special || (root >= 0 && root < sequence.comm().peers().size())) return true;
    sequence.fail(MPI_ERR_ROOT, "root",
                  std::to_string(root) + " is no rank of the " +
                      (sequence.comm().is_inter() ? "remote group" : "communicator"),
                  "give a rank from 0 to " + std::to_string(sequence.comm().peers().size() - 1));
    return false;
}

void barrier(Sequence& sequence) {
    if (sequence.comm().is_inter()) return inter::barrier(sequence);
    if (sequence.size() > 1)
        sequence.collective(PoeCall::kSync, shape_of(Operation::kSync, 0, 0), nullptr, nullptr);
}

void bcast(Sequence& sequence, const Buffer& buffer, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_bcast(sequence, buffer, root);
    if (!check_root(sequence, root)) return;
    if (sequence.comm().is_inter()) return inter::bcast(sequence, buffer, root);
    const Data data = sequence.data(buffer);
    if (!sequence.ok() || data.bytes == 0 || sequence.size() == 1) return;
    std::byte* const memory = writable(sequence, data);
    const bool packs = !data.contiguous;
    if (packs && is_root(sequence, root)) sequence.local([data, memory] { data.pack(memory); });
    sequence.collective(PoeCall::kBcast, shape_of(Operation::kBcast, data.bytes, root), nullptr,
                        memory);
    if (packs && !is_root(sequence, root)) unpack_result(sequence, data, memory);
}

void gather(Sequence& sequence, const Buffer& send, const Buffer& receive, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_gather(sequence, send, receive, root);
    if (!check_root(sequence, root)) return;
    if (sequence.comm().is_inter()) {
        if (root == MPI_PROC_NULL) return;
        if (root != MPI_ROOT) {
            EqualBlocks none(sequence, send);
            return gather_directly(sequence, send, none, root);
        }
        EqualBlocks blocks(sequence, receive);
        return gather_directly(sequence, send, blocks, root);
    }
    if (!is_root(sequence, root)) {
        const Data own = sequence.data(send);
        if (!sequence.ok() || own.bytes == 0) return;
        const std::byte* const given = readable(sequence, own);
        return sequence.collective(PoeCall::kGather, shape_of(Operation::kGather, own.bytes, root),
                                   given, nullptr);
    }
    const EqualBlocks blocks(sequence, receive);
    const Data own = send.in_place() ? blocks[root] : sequence.data(send);
    const Data all = blocks.all(sequence.size());
    if (!send.in_place()) sequence.refuse_same_memory(own, blocks[root]);
    if (!sequence.ok() || own.bytes == 0) return;
    Shape shape = shape_of(Operation::kGather, own.bytes, root);
    const std::byte* const given =
        send.in_place() ? given_in_place(sequence, own, shape) : readable(sequence, own);
    std::byte* const result = writable(sequence, all);
    sequence.collective(PoeCall::kGather, std::move(shape), given, result);
    unpack_result(sequence, all, result);
}

void gatherv(Sequence& sequence, const Buffer& send, const Blocks& receive, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_gatherv(sequence, send, receive, root);
    if (!check_root(sequence, root) || root == MPI_PROC_NULL) return;
    const bool in_memory = sequence.may_use_memory();
    if (is_root(sequence, root)) {
        if (in_memory) return move_all_blocks(sequence, Operation::kGather, receive, send);
        BlockReader blocks(sequence, receive);
        gather_directly(sequence, send, blocks, root);
    } else {
        if (in_memory) return move_own_block(sequence, Operation::kGather, send, root);
        EqualBlocks none(sequence, send);
        gather_directly(sequence, send, none, root);
    }
}

void scatter(Sequence& sequence, const Buffer& send, const Buffer& receive, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_scatter(sequence, send, receive, root);
    if (!check_root(sequence, root)) return;
    if (sequence.comm().is_inter()) {
        if (root == MPI_PROC_NULL) return;
        EqualBlocks blocks(sequence, root == MPI_ROOT ? send : receive);
        return scatter_directly(sequence, blocks, receive, root);
    }
    if (!is_root(sequence, root)) {
        const Data own = sequence.data(receive);
        if (!sequence.ok() || own.bytes == 0) return;
        std::byte* const result = writable(sequence, own);
        sequence.collective(PoeCall::kScatter, shape_of(Operation::kScatter, own.bytes, root),
                            nullptr, result);
        return unpack_result(sequence, own, result);
    }
    const EqualBlocks blocks(sequence, send);
    const Data all = blocks.all(sequence.size());
    if (!sequence.ok() || all.bytes == 0) return;
    const Bytes bytes = all.bytes / static_cast<Bytes>(sequence.size());
    Shape shape = shape_of(Operation::kScatter, bytes, root);
    const std::byte* const given = readable(sequence, all);
    if (receive.in_place()) {
        const Data own = blocks[root];
        const bool kept = all.contiguous && sequence.works_in_place(shape);
        std::byte* const result = kept ? own.start : sequence.scratch(bytes);
        return sequence.collective(PoeCall::kScatter, std::move(shape), given, result);
    }
    const Data own = sequence.data(receive);
    sequence.refuse_same_memory(blocks[root], own);
    if (!sequence.ok()) return;
    std::byte* const result = writable(sequence, own);
    sequence.collective(PoeCall::kScatter, std::move(shape), given, result);
    unpack_result(sequence, own, result);
}

void scatterv(Sequence& sequence, const Blocks& send, const Buffer& receive, int root) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_scatterv(sequence, send, receive, root);
    if (!check_root(sequence, root) || root == MPI_PROC_NULL) return;
    const bool in_memory = sequence.may_use_memory();
    if (is_root(sequence, root)) {
        if (in_memory) return move_all_blocks(sequence, Operation::kScatter, send, receive);
        BlockReader blocks(sequence, send);
        scatter_directly(sequence, blocks, receive, root);
    } else {
        if (in_memory) return move_own_block(sequence, Operation::kScatter, receive, root);
        EqualBlocks none(sequence, receive);
        scatter_directly(sequence, none, receive, root);
    }
}

}  // namespace poe::mpi::collective
