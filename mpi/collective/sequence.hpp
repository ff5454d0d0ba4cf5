// Sequence: one collective call of MPI as a sequence of steps. A step is an operation of CCL within
// the local group, a round of messages, or local work on memory.
//
// The functions that compose calls (collective.hpp) do not know whether the call blocks:
//   immediate   each step is executed when it is added; for blocking calls. Allocates nothing in the
//               usual case.
//   recorded    the steps are added to a recording, which executes them later (recording.hpp).
//
// All messages of one call have the same type in the internal context of the communicator. All
// members number their collective calls alike, so the number is that type. Steps are in the same
// order at all members, and messages between two tasks do not overtake each other, so messages of
// different steps are not confused. Only the CCL operations of immediate sequences have their own
// types and context.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "collectives/engine/irregular_calls.hpp"
#include "mpi/check/description.hpp"
#include "mpi/collective/data.hpp"
#include "mpi/collective/recording.hpp"
#include "mpi/collective/round.hpp"
#include "mpi/collective/typed_reduction.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// The shape of an operation of CCL, without the number of members.
inline collectives::Shape shape_of(collectives::Operation operation, Bytes bytes, int root = 0) {
    collectives::Shape shape;
    shape.operation = operation;
    shape.bytes = bytes;
    shape.root = root;
    return shape;
}

// How an exchange in shared memory has ended; empty: nothing was moved, and the data must go as
// messages.
using EndInMemory = std::optional<collectives::ExchangeEnd>;

// What a communicator keeps for its collective calls.
struct CollectiveState final : CommOwned {
    std::uint32_t calls = 0;           // the number of collective calls so far
    std::optional<bool> over_network;  // found out at first use
    // Scratch memory of immediate sequences.
    std::vector<std::vector<std::byte>> scratch;
    Round round;
    KnownReduction reduction;
    SpareRecordings recordings;
    // What make_plain_call() reuses from call to call (plain_call.hpp).
    collectives::CollectiveCall plain;
    TypedReduction plain_reduction;
    std::vector<Bytes> offsets;  // in the form of Shape::offsets
    // The blocks of a gatherv or scatterv (RootedBlock), at the root by rank.
    std::vector<collectives::RootedBlock> rooted;
    // A fast path has made the exchange in shared memory of the present call, with this end, and
    // has left the rest to the general way.
    std::optional<EndInMemory> begun;
};
CollectiveState& collective_state(Comm& comm);

// The type of the messages of the collective call that follows `calls` earlier ones on its
// communicator.
constexpr std::int32_t message_type_after(std::uint32_t calls) noexcept {
    return static_cast<std::int32_t>(calls & 0x7fffffffu);
}

class Sequence {
  public:
    // kOnce: recorded, for a non-blocking call. kPersistent: recorded, for several calls.
    enum class Form { kImmediate, kOnce, kPersistent };

    // Counts a collective call of `comm`, which must stay as long as this object and the recording.
    // A call that ends with a fault before its first step is not counted, so the program may repeat
    // it; in check mode it counts, because the other members learn of it.
    Sequence(collectives::CollectiveContext& context, Comm& comm, Form form);
    ~Sequence();
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    Comm& comm() const noexcept { return comm_; }
    int size() const noexcept { return comm_.size(); }
    int rank() const noexcept { return comm_.rank; }
    collectives::Rank group_rank() const noexcept { return comm_.group->me; }

    // Check mode: what the composing function says about the call; null otherwise. The caller owns
    // the description.
    check::Description* description() const noexcept { return description_; }
    void describe_in(check::Description* description) noexcept { description_ = description; }

    // --- Composing. After a fault, no step has any effect.

    // The first fault; none if there was none.
    const Fault& fault() const noexcept { return fault_; }
    bool ok() const noexcept { return !fault_; }
    void fail(int code, const char* argument, std::string what, std::string remedy = {});

    // The datatype of a handle; null, with a fault, if there is none or if it is not committed.
    // Keeps the datatype as long as the sequence needs it.
    Datatype* type(MPI_Datatype handle, const char* argument);
    // The data of a buffer. A negative count, a null pointer and MPI_IN_PLACE are faults.
    Data data(const Buffer& buffer);
    // `count` elements at `displacement` bytes from the address.
    Data data(const Datatype& type, const void* address, std::int64_t displacement,
              std::int64_t count, const BufferNames& names);
    // Reports the same faults as data().
    void check_data(const Datatype& type, const void* address, std::int64_t count,
                    const BufferNames& names) {
        if (!ok() || (count > 0 && type.predefined() && address != nullptr &&
                      address != MPI_IN_PLACE)) [[likely]]
            return;
        data(type, address, 0, count, names);
    }
    // A fault if these are the same memory; the program must use MPI_IN_PLACE then. Compares the
    // first bytes of contiguous data, so it misses other overlaps.
    void refuse_same_memory(const Data& sent, const Data& received);
    // Defines the operation of this call. Called once per sequence at most.
    TypedReduction& define(MPI_Op op, MPI_Datatype handle, const Datatype& type);

    // Memory that stays as long as the steps need it.
    std::byte* scratch(Bytes bytes);

    // An operation of CCL in the local group. `shape` without n.
    void collective(::poe::Call what, collectives::Shape&& shape, const std::byte* given,
                    std::byte* result);
    // The same with the operation of define().
    void reduce(::poe::Call what, collectives::Shape&& shape, const std::byte* given,
                std::byte* result);

    // True if what is given to such an operation may be in the memory of its result (MPI_IN_PLACE),
    // so it need not be copied. `shape` without n and, if define() was called, without the
    // operation.
    bool works_in_place(collectives::Shape shape);

    // Adds messages to the next round, which exchange() completes. Receives from one task match its
    // sends in order. `synchronous`: the bytes move only after a receive has matched the message.
    void send(TaskId task, const Data& data, bool synchronous = false);
    // `exact`: a shorter message is a fault, too, because more messages of the same data follow.
    void receive(TaskId task, const Data& data, bool exact = false);
    void exchange();
    // What the task tells of this call; null unless the steps are executed at once.
    collectives::CallProgress* progress() noexcept {
        return recording_ == nullptr ? &context_.progress() : nullptr;
    }
    // True if an irregular call may move its blocks in shared memory: if it is executed at once,
    // within one node.
    bool may_use_memory();
    // True if a fast path has made that exchange already, so the blocks are complete.
    bool has_begun() const noexcept { return state_.begun.has_value(); }
    // Memory for the blocks of an alltoallv, by rank.
    std::vector<collectives::ExchangeBlock>& blocks() noexcept {
        return collectives::state_of(*comm_.group).blocks;
    }
    // Moves these blocks in shared memory. False: nothing was done, and they must go as messages.
    // All members of the communicator get the same answer.
    bool exchange_in_memory();
    // The same for a gatherv or scatterv (collectives/engine/irregular_calls.hpp). Messages must
    // follow for some blocks, so the caller tells the end to finish() after them.
    std::vector<collectives::RootedBlock>& rooted_blocks() noexcept { return state_.rooted; }
    collectives::ExchangeEnd exchange_with_root(collectives::Operation operation, int root);
    void finish(const collectives::ExchangeEnd& end);
    // Copies this member's block to itself. Sending more than is received is a fault.
    void keep_own(const Data& sent, Data received);
    // True if alltoallv may follow a line of the run's plan.
    bool may_be_planned();
    // The line that this alltoallv follows; null if there is none. Call it once per alltoallv, at
    // all members, if may_be_planned().
    collectives::PlannedLine* planned();
    // An alltoallv by this line; `out` and `in` by rank. Only for immediate sequences.
    void exchange(collectives::PlannedLine& line, const std::vector<Data>& out,
                  const std::vector<Data>& in);
    // True if the communicator has members on several nodes. The same at all members.
    bool over_network();

    // Local work.
    template <typename F>
    void local(F&& work) {
        if (!ok()) return;
        if (recording_ == nullptr) {
            work();
        } else {
            recording_->add_local(std::forward<F>(work));
        }
    }

    // The bytes of the vector or of a block of the last operation of CCL; 0 if there was none.
    Bytes bytes() const noexcept { return bytes_; }

    // What executes the call. Call it once, last, if the sequence is recorded and has no fault.
    RecordingPtr recording() noexcept { return std::move(recording_); }

  private:
    collectives::CollectiveCall& describe(collectives::CollectiveCall& call, ::poe::Call what,
                                          collectives::Shape&& shape, const std::byte* given,
                                          std::byte* result);
    void execute(const collectives::CollectiveCall& call);

    collectives::CollectiveContext& context_;
    Comm& comm_;
    CollectiveState& state_;
    const std::int32_t type_;  // of messages
    check::Description* description_ = nullptr;
    Fault fault_;
    std::optional<TypedReduction> own_reduction_;  // if immediate
    TypedReduction* reduction_ = nullptr;          // of define(), or null
    std::size_t scratches_ = 0;
    Bytes bytes_ = 0;
    bool executed_ = false;   // a step has begun
    RecordingPtr recording_;  // null: immediate
    Round& round_;            // to which messages are added
};

}  // namespace poe::mpi
