// Collective calls in which all members give and get data: allgather and alltoall with their v and
// w forms. Calls whose block lengths not all members know, and those on intercommunicators, are one
// round of messages between all pairs.
#include <algorithm>

#include "collectives/selection/cost_model.hpp"
#include "mpi/collective/collective.hpp"
#include "mpi/collective/describe.hpp"

namespace poe::mpi::collective {
namespace {

using collectives::Operation;
using collectives::Shape;
using PoeCall = ::poe::Call;

// The blocks of an allgatherv in CCL's form: one after the other in rank order.
struct Gathered {
    std::vector<Bytes> offsets{0};
    std::byte* start = nullptr;  // of the program's memory, if it has this form
    bool direct = true;

    // The shape of the call. Blocks of equal length are those of a regular call, at all members.
    Shape shape() const {
        const Bytes n = offsets.size() - 1;
        Shape shape = shape_of(Operation::kConcat, offsets.back() / n);
        for (Bytes r = 1; r <= n; ++r) {
            if (offsets[r] != r * shape.bytes) {
                shape.offsets = offsets;
                break;
            }
        }
        return shape;
    }
};

Gathered arrange(Sequence& sequence, BlockReader& blocks) {
    Gathered result;
    for (int r = 0; r < sequence.size() && sequence.ok(); ++r) {
        const Data block = blocks[r];
        const Bytes before = result.offsets.back();
        result.offsets.push_back(before + block.bytes);
        if (block.bytes == 0) continue;
        if (before == 0) result.start = block.start;
        result.direct = result.direct && block.contiguous && block.start == result.start + before;
    }
    return result;
}

// The rest of long blocks that go over a network in pieces
// (collectives/schedule/algorithms/index_pieces.cpp). Both ends know the length of their block, so
// they cut it alike and no member needs to know the other lengths.
class LongBlocks {
  public:
    explicit LongBlocks(Sequence& sequence) : sequence_(sequence) {}

    // Adds a block to the next round; of a long one the first piece.
    void receive(TaskId task, const Data& data) {
        if (!is_long(data)) return sequence_.receive(task, data);
        std::byte* const memory = writable(sequence_, data);
        unpacked_.emplace_back(data, memory);
        add_piece(incoming_.emplace_back(Rest{task, Data(memory, data.bytes)}), true);
    }
    void send(TaskId task, const Data& data) {
        if (!is_long(data)) return sequence_.send(task, data);
        auto* const memory = const_cast<std::byte*>(readable(sequence_, data));
        add_piece(outgoing_.emplace_back(Rest{task, Data(memory, data.bytes)}), false);
    }
    // Sends and receives everything. Each round has one piece of each block.
    void exchange() {
        std::optional<collectives::CallProgress::Scope> told;
        const std::uint32_t rounds = 1 + std::max(pieces_left(incoming_), pieces_left(outgoing_));
        collectives::CallProgress* const progress = sequence_.progress();
        if (progress != nullptr) {
            static const std::string kName = "pieces";
            static const std::string kNameOfOneRound = "direct";
            told.emplace(*progress, CollectivePath::kSchedule);
            progress->begin_rounds(rounds > 1 ? kName : kNameOfOneRound, rounds);
        }
        for (std::uint32_t round = 0;; ++round) {
            if (progress != nullptr) progress->reach(round);
            sequence_.exchange();
            if (!sequence_.ok() || !(drop_ended(incoming_) | drop_ended(outgoing_))) break;
            for (Rest& each : incoming_) add_piece(each, true);
            for (Rest& each : outgoing_) add_piece(each, false);
        }
        for (const auto& [data, memory] : unpacked_) unpack_result(sequence_, data, memory);
    }

  private:
    struct Rest {
        TaskId task;
        Data data;  // contiguous
    };
    bool is_long(const Data& data) const {
        return data.bytes > collectives::kNetworkPiece && sequence_.over_network();
    }
    void add_piece(Rest& rest, bool receives) {
        const Data piece(rest.data.start, std::min(rest.data.bytes, collectives::kNetworkPiece));
        rest.data = Data(rest.data.start + piece.bytes, rest.data.bytes - piece.bytes);
        if (receives) {
            sequence_.receive(rest.task, piece, rest.data.bytes > 0);
        } else {
            sequence_.send(rest.task, piece);
        }
    }
    static std::uint32_t pieces_left(const std::vector<Rest>& blocks) {
        Bytes longest = 0;
        for (const Rest& each : blocks) longest = std::max(longest, each.data.bytes);
        return static_cast<std::uint32_t>((longest + collectives::kNetworkPiece - 1) /
                                          collectives::kNetworkPiece);
    }
    // Returns true if blocks are left.
    static bool drop_ended(std::vector<Rest>& blocks) {
        std::erase_if(blocks, [](const Rest& each) { return each.data.bytes == 0; });
        return !blocks.empty();
    }

    Sequence& sequence_;
    std::vector<Rest> incoming_;
    std::vector<Rest> outgoing_;
    std::vector<std::pair<Data, std::byte*>> unpacked_;
};

// One block goes to and one comes from each member of the group, or of the remote group.
template <typename Outgoing, typename Incoming>
void exchange_all(Sequence& sequence, Outgoing&& outgoing, Incoming&& incoming) {
    const Members& members = sequence.comm().peers();
    const int n = members.size();
    LongBlocks blocks(sequence);
    // Every member begins with another partner.
    const int first = sequence.rank() % n;
    for (int i = 0; i < n && sequence.ok(); ++i) {
        const int from = (first + n - i) % n;
        if (const Data data = incoming(from); data.bytes > 0)
            blocks.receive(members.task(from), data);
        const int to = (first + i) % n;
        const Data data = outgoing(to);
        if (to == from) sequence.refuse_same_memory(data, incoming(from));
        if (data.bytes > 0) blocks.send(members.task(to), data);
    }
    blocks.exchange();
}

// Moves the blocks in the shared memory of the node. The arguments are those of exchange_all().
// False: the blocks must go as messages.
template <typename Outgoing, typename Incoming>
bool exchange_in_memory(Sequence& sequence, Outgoing&& outgoing, Incoming&& incoming) {
    std::vector<collectives::ExchangeBlock>& blocks = sequence.blocks();
    blocks.clear();
    bool unpacks = false;
    for (int r = 0; r < sequence.size() && sequence.ok(); ++r) {
        const Data out = outgoing(r);
        const Data in = incoming(r);
        if (r == sequence.rank()) sequence.refuse_same_memory(out, in);
        unpacks = unpacks || !in.contiguous;
        blocks.push_back({readable(sequence, out), out.bytes, writable(sequence, in), in.bytes});
    }
    if (!sequence.exchange_in_memory()) return false;
    for (int r = 0; r < sequence.size() && unpacks; ++r) {
        const collectives::ExchangeBlock& block = blocks[static_cast<std::size_t>(r)];
        Data came = incoming(r);
        came.bytes = block.in_bytes;
        unpack_result(sequence, came, block.in);
    }
    return true;
}

// An alltoallv, which may follow a line of the run's plan. The arguments are those of
// exchange_all().
template <typename Outgoing, typename Incoming>
void exchange_irregular(Sequence& sequence, Outgoing&& outgoing, Incoming&& incoming) {
    if (sequence.may_be_planned()) {
        std::vector<Data> out;
        std::vector<Data> in;
        for (int r = 0; r < sequence.size() && sequence.ok(); ++r) {
            out.push_back(outgoing(r));
            in.push_back(incoming(r));
            if (r == sequence.rank()) sequence.refuse_same_memory(out.back(), in.back());
        }
        if (!sequence.ok()) return;
        if (collectives::PlannedLine* line = sequence.planned())
            return sequence.exchange(*line, out, in);
    }
    if (sequence.may_use_memory() && exchange_in_memory(sequence, outgoing, incoming)) return;
    exchange_all(sequence, outgoing, incoming);
}

}  // namespace

void allgather(Sequence& sequence, const Buffer& send, const Buffer& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_allgather(sequence, send, receive);
    const EqualBlocks blocks(sequence, receive);
    if (sequence.comm().is_inter()) {
        const Data own = sequence.data(send);
        return exchange_all(
            sequence, [&](int) { return own; }, [&](int r) { return blocks[r]; });
    }
    const Data own = send.in_place() ? blocks[sequence.rank()] : sequence.data(send);
    const Data all = blocks.all(sequence.size());
    if (!send.in_place()) sequence.refuse_same_memory(own, blocks[sequence.rank()]);
    if (!sequence.ok() || all.bytes == 0) return;
    Shape shape = shape_of(Operation::kConcat, all.bytes / static_cast<Bytes>(sequence.size()));
    const std::byte* const given =
        send.in_place() ? given_in_place(sequence, own, shape) : readable(sequence, own);
    std::byte* const result = writable(sequence, all);
    sequence.collective(PoeCall::kConcat, std::move(shape), given, result);
    unpack_result(sequence, all, result);
}

void allgatherv(Sequence& sequence, const Buffer& send, const Blocks& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_allgatherv(sequence, send, receive);
    BlockReader blocks(sequence, receive);
    if (sequence.comm().is_inter()) {
        const Data own = sequence.data(send);
        return exchange_all(
            sequence, [&](int) { return own; }, [&](int r) { return blocks[r]; });
    }
    Gathered all = arrange(sequence, blocks);
    if (!sequence.ok() || all.offsets.back() == 0) return;
    const Data own = send.in_place() ? blocks[sequence.rank()] : sequence.data(send);
    if (!send.in_place()) sequence.refuse_same_memory(own, blocks[sequence.rank()]);
    if (!sequence.ok()) return;
    Shape shape = all.shape();
    const std::byte* const given =
        send.in_place() ? given_in_place(sequence, own, shape) : readable(sequence, own);
    std::byte* const result = all.direct ? all.start : sequence.scratch(all.offsets.back());
    sequence.collective(PoeCall::kConcat, std::move(shape), given, result);
    if (all.direct) return;
    for (int r = 0; r < sequence.size(); ++r)
        unpack_result(sequence, blocks[r], result + all.offsets[static_cast<std::size_t>(r)]);
}

void alltoall(Sequence& sequence, const Buffer& send, const Buffer& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_alltoall(sequence, send, receive);
    const EqualBlocks incoming(sequence, receive);
    if (sequence.comm().is_inter()) {
        const EqualBlocks outgoing(sequence, send);
        return exchange_all(
            sequence, [&](int r) { return outgoing[r]; }, [&](int r) { return incoming[r]; });
    }
    const Data in = incoming.all(sequence.size());
    const Data out = send.in_place() ? in : EqualBlocks(sequence, send).all(sequence.size());
    if (!send.in_place()) sequence.refuse_same_memory(out, in);
    if (!sequence.ok() || in.bytes == 0) return;
    Shape shape = shape_of(Operation::kIndex, in.bytes / static_cast<Bytes>(sequence.size()));
    const std::byte* const given =
        send.in_place() ? given_in_place(sequence, out, shape) : readable(sequence, out);
    std::byte* const result = writable(sequence, in);
    sequence.collective(PoeCall::kIndex, std::move(shape), given, result);
    unpack_result(sequence, in, result);
}

void alltoallv(Sequence& sequence, const Blocks& send, const Blocks& receive) {
    if (sequence.description() != nullptr) [[unlikely]]
        describe_alltoallv(sequence, send, receive);
    BlockReader incoming(sequence, receive);
    if (send.in_place()) {
        // What is sent is copied first, because the receives overwrite it.
        std::vector<Data> copies;
        for (int r = 0; r < sequence.comm().peers().size() && sequence.ok(); ++r) {
            const Data block = incoming[r];
            auto* memory = const_cast<std::byte*>(copied(sequence, block));
            copies.emplace_back(memory, block.bytes);
        }
        return exchange_irregular(
            sequence, [&](int r) { return copies[static_cast<std::size_t>(r)]; },
            [&](int r) { return incoming[r]; });
    }
    BlockReader outgoing(sequence, send);
    exchange_irregular(
        sequence, [&](int r) { return outgoing[r]; }, [&](int r) { return incoming[r]; });
}

}  // namespace poe::mpi::collective
