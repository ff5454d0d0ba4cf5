// Descriptions of collective calls; see describe.hpp.
#include "mpi/collective/describe.hpp"

namespace poe::mpi::collective {
namespace {

using check::Description;
using check::Flow;
using check::Part;

Part part_of_buffer(const Buffer& buffer) {
    return check::part_of(buffer.type, buffer.count);
}

// What this member sends to and receives from neighbour or rank `block`.
Part part_of_block(const Blocks& blocks, int block) {
    if (blocks.counts.is_null()) return {};
    return check::part_of(blocks.types != nullptr ? blocks.types[block] : blocks.type,
                          blocks.counts[block]);
}

Flow same(const Buffer& buffer) {
    return {Flow::Kind::kSame, {part_of_buffer(buffer)}, {}};
}

Flow each(const Sequence& sequence, const Blocks& blocks) {
    Flow flow{Flow::Kind::kEach, {}, {}};
    for (int r = 0; r < sequence.comm().peers().size(); ++r)
        flow.parts.push_back(part_of_block(blocks, r));
    return flow;
}

enum class Role { kRoot, kOther, kNone };

// Adds the root to the description. Returns what the root is to this member.
Role describe_root(const Sequence& sequence, Description& description, int root) {
    if (sequence.comm().is_inter()) {
        description.root = root;
        return root == MPI_ROOT ? Role::kRoot : root == MPI_PROC_NULL ? Role::kNone : Role::kOther;
    }
    description.agree("root", root, MPI_ERR_ROOT);
    return root == sequence.rank() ? Role::kRoot : Role::kOther;
}

void describe_gathered(Sequence& sequence, const Buffer& send, const Flow& received, int root) {
    Description& description = *sequence.description();
    const Role role = describe_root(sequence, description, root);
    if (role == Role::kRoot) description.received = received;
    const bool gives = role == Role::kOther || (role == Role::kRoot && !sequence.comm().is_inter());
    if (gives && !send.in_place()) description.sent = same(send);
}

void describe_scattered(Sequence& sequence, const Flow& sent, const Buffer& receive, int root) {
    Description& description = *sequence.description();
    const Role role = describe_root(sequence, description, root);
    if (role == Role::kRoot) description.sent = sent;
    const bool gets = role == Role::kOther || (role == Role::kRoot && !sequence.comm().is_inter());
    if (gets && !receive.in_place()) description.received = same(receive);
}

void agree_part(Description& description, const Part& part) {
    description.agree("data", check::words_of_part(part), MPI_ERR_TYPE, part.hash);
}

// Blocks of neighbours, of which MPI_PROC_NULL are no members.
template <typename PartOf>
Flow flow_of(const std::vector<int>& peers, bool in_pairs, PartOf&& part_of) {
    Flow flow{Flow::Kind::kNeighbors, {}, {}};
    for (int i = 0; i < static_cast<int>(peers.size()); ++i) {
        const int block = in_pairs ? i ^ 1 : i;
        const int peer = peers[static_cast<std::size_t>(block)];
        if (peer == MPI_PROC_NULL) continue;
        flow.peers.push_back(peer);
        flow.parts.push_back(part_of(block));
    }
    return flow;
}

Part part_at(const Buffer& buffer, int) {
    return part_of_buffer(buffer);
}
Part part_at(const Blocks& blocks, int block) {
    return part_of_block(blocks, block);
}

// What comes from the upper neighbour of a Cartesian dimension was sent to the lower one, so the
// received blocks match in the order of neighbor.cpp.
template <typename Send, typename Receive>
void describe_blocks(Sequence& sequence, const Neighbors& neighbors, const Send& send,
                     const Receive& receive) {
    Description& description = *sequence.description();
    description.sent =
        flow_of(neighbors.destinations, false, [&](int block) { return part_at(send, block); });
    description.received = flow_of(neighbors.sources, neighbors.in_pairs,
                                   [&](int block) { return part_at(receive, block); });
}

}  // namespace

void describe_bcast(Sequence& sequence, const Buffer& buffer, int root) {
    Description& description = *sequence.description();
    const Role role = describe_root(sequence, description, root);
    if (role == Role::kRoot) description.sent = same(buffer);
    if (role == Role::kOther) description.received = same(buffer);
}

void describe_gather(Sequence& sequence, const Buffer& send, const Buffer& receive, int root) {
    describe_gathered(sequence, send, same(receive), root);
}

void describe_gatherv(Sequence& sequence, const Buffer& send, const Blocks& receive, int root) {
    const bool receives = root == (sequence.comm().is_inter() ? MPI_ROOT : sequence.rank());
    describe_gathered(sequence, send, receives ? each(sequence, receive) : Flow{}, root);
}

void describe_scatter(Sequence& sequence, const Buffer& send, const Buffer& receive, int root) {
    describe_scattered(sequence, same(send), receive, root);
}

void describe_scatterv(Sequence& sequence, const Blocks& send, const Buffer& receive, int root) {
    const bool sends = root == (sequence.comm().is_inter() ? MPI_ROOT : sequence.rank());
    describe_scattered(sequence, sends ? each(sequence, send) : Flow{}, receive, root);
}

void describe_allgather(Sequence& sequence, const Buffer& send, const Buffer& receive) {
    Description& description = *sequence.description();
    description.sent = same(send.in_place() ? receive : send);
    description.received = same(receive);
}

void describe_allgatherv(Sequence& sequence, const Buffer& send, const Blocks& receive) {
    Description& description = *sequence.description();
    description.sent = send.in_place()
                           ? Flow{Flow::Kind::kSame, {part_of_block(receive, sequence.rank())}, {}}
                           : same(send);
    description.received = each(sequence, receive);
}

void describe_alltoall(Sequence& sequence, const Buffer& send, const Buffer& receive) {
    describe_allgather(sequence, send, receive);
}

void describe_alltoallv(Sequence& sequence, const Blocks& send, const Blocks& receive) {
    Description& description = *sequence.description();
    description.received = each(sequence, receive);
    description.sent = send.in_place() ? description.received : each(sequence, send);
}

void describe_reduction(Sequence& sequence, const Operands& operands, int root) {
    Description& description = *sequence.description();
    if (root != MPI_UNDEFINED && describe_root(sequence, description, root) == Role::kNone) return;
    description.agree_operation(operands.op);
    agree_part(description, check::part_of(operands.type, operands.count));
}

// The groups of an intercommunicator may have different numbers of members, so the length of the
// whole vector agrees.
void describe_reduce_scatter_block(Sequence& sequence, const Operands& operands) {
    Operands whole = operands;
    whole.count *= sequence.size();
    describe_reduction(sequence, whole);
}

void describe_reduce_scatter(Sequence& sequence, const Operands& operands, Counts counts) {
    Description& description = *sequence.description();
    description.agree_operation(operands.op);
    if (counts.is_null()) return;
    std::vector<std::int64_t> list;
    std::int64_t total = 0;
    for (int r = 0; r < sequence.size(); ++r) {
        list.push_back(counts[r]);
        total += list.back();
    }
    description.agree_list("recvcounts", list, MPI_ERR_COUNT, true);
    agree_part(description, check::part_of(operands.type, total));
}

void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Buffer& receive) {
    describe_blocks(sequence, neighbors, send, receive);
}
void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Buffer& send,
                        const Blocks& receive) {
    describe_blocks(sequence, neighbors, send, receive);
}
void describe_neighbors(Sequence& sequence, const Neighbors& neighbors, const Blocks& send,
                        const Blocks& receive) {
    describe_blocks(sequence, neighbors, send, receive);
}

}  // namespace poe::mpi::collective
