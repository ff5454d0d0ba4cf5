// Partitioned communication (MPI 5.0, chapter 4): a persistent message whose parts the program
// hands over one by one. Separate because it has a protocol of its own above the message layer.
//
//   1. MPI_Psend_init sends an offer: the number and the length of its partitions, and the first of
//      a row of message types that this task gives to no other send. MPI_Precv_init starts a
//      receive for an offer. Offers of a communicator, source and tag match these receives in their
//      order.
//   2. MPI_Start of the receive starts one receive per partition of the sender, as soon as the
//      offer has arrived. How the receiver divides its buffer does not matter for the messages.
//   3. MPI_Pready sends its partition as one message. Its type is the first type plus the number of
//      the partition.
// Both ends keep what they know, so a restart sends no offer. Messages of a later start arrive
// after those of the earlier one, because a partition has the same type in both.
//
// All functions are for the thread that has the turn to use the message layer.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/bootstrap/runtime.hpp"
#include "comm/matching/buffer_view.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

// A part of a view whose memory is not contiguous.
class SlicedLayout final : public comm::Layout {
  public:
    SlicedLayout() = default;
    // `whole` must stay as long as this object.
    SlicedLayout(const comm::BufferView& whole, Bytes from, Bytes length) noexcept
        : whole_(&whole), from_(from), length_(length) {}

    Bytes size() const noexcept override { return length_; }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override;
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override;
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override;

  private:
    const comm::BufferView* whole_ = nullptr;
    Bytes from_ = 0;
    Bytes length_ = 0;
};

// What an offer says.
struct PartitionOffer {
    std::int64_t partitions = 0;
    std::uint64_t bytes = 0;  // of a partition
    std::int32_t first_type = 0;
    std::int32_t unused = 0;
};

// What one side of a partitioned communication was made with.
struct PartitionedArguments {
    Comm* comm = nullptr;
    Datatype* type = nullptr;
    void* buffer = nullptr;  // the caller owns the memory
    int partitions = 0;
    MPI_Count count = 0;  // elements of a partition; partitions * count * size is below 2^63
    TaskId task = 0;      // the other task
    int rank = 0;         // its rank
    int tag = 0;
    bool nobody = false;  // the other side is MPI_PROC_NULL
};

// What both sides have: the buffer, and how it is divided.
class Partitioned : public Work {
  public:
    int partitions() const noexcept { return given_.partitions; }
    bool starts_operation() const noexcept override { return false; }
    bool calls_program() const noexcept override { return false; }
    Fault result() override { return fault_; }

  protected:
    Partitioned(comm::Runtime& runtime, const PartitionedArguments& given);

    // Bytes of one partition of this side.
    Bytes partition_bytes() const noexcept;
    // The bytes from `from` on. The view is valid while this object and `slice` exist.
    comm::BufferView part(Bytes from, Bytes length, SlicedLayout& slice) const noexcept;
    ContextId offer_context() const noexcept;
    ContextId data_context() const noexcept;
    void note(comm::Outcome outcome);

    comm::Runtime& runtime_;
    PartitionedArguments given_;
    TypeReference type_;
    TypedLayout layout_;
    comm::BufferView whole_;
    Fault fault_;
};

// The sender. Makes its offer when it is constructed; never blocks.
class PartitionedSend final : public Partitioned {
  public:
    PartitionedSend(comm::Runtime& runtime, const PartitionedArguments& given);

    // True if the program has handed the partition over since the last start.
    bool is_ready(int partition) const noexcept { return at(partition).ready; }
    // Sends the partition. Precondition: the request is active and the partition is not ready.
    void send(int partition);

    void start(comm::MessageLayer& messages) override;
    bool advance(comm::MessageLayer& messages) override;
    Awaited awaited(const comm::MessageLayer& messages) override;

  private:
    struct Part {
        comm::SendRequest send;
        SlicedLayout slice;
        bool ready = false;
    };
    Part& at(int partition) const noexcept { return parts_[static_cast<std::size_t>(partition)]; }

    std::unique_ptr<Part[]> parts_;
    std::int32_t first_type_ = 0;
    int ended_ = 0;  // the partitions before this one have ended
};

// The receiver. Starts to receive the offer when it is constructed; never blocks.
class PartitionedReceive final : public Partitioned {
  public:
    PartitionedReceive(comm::Runtime& runtime, const PartitionedArguments& given);
    ~PartitionedReceive() override;

    // True if everything that the sender sends into this partition of the receiver has arrived; a
    // partition of no bytes arrives when the sender has marked it as ready. Precondition: the
    // request is active.
    bool has_arrived(int partition);

    void start(comm::MessageLayer& messages) override;
    bool advance(comm::MessageLayer& messages) override;
    Awaited awaited(const comm::MessageLayer& messages) override;
    bool describe(MPI_Status& status) const noexcept override;

  private:
    struct Offer;
    struct Part {
        comm::ReceiveRequest receive;
        SlicedLayout slice;
    };
    Part& at(std::int64_t number) const noexcept {
        return parts_[static_cast<std::size_t>(number)];
    }

    bool offer_known();
    void start_parts(comm::MessageLayer& messages);
    std::pair<Bytes, Bytes> sender_partitions(int partition) const noexcept;

    std::unique_ptr<Offer> offer_;
    std::unique_ptr<Part[]>
        parts_;               // one per partition of the sender; null before the offer is known
    std::int64_t ended_ = 0;  // the parts before this one have ended
    bool started_ = false;    // the parts were started since the last start
    Bytes sent_ = 0;          // by the sender in all; known once the receives have started
    bool fits_ = true;        // there is room for them
};

}  // namespace poe::mpi
