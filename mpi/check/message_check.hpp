// MessageCheck: what check mode keeps with a request for messages, and what it finds out with it.
//
// In check mode an envelope travels before the data of every message between programs: the type
// signature of the data, and the place of the send. Sender and receiver of a job are both in this
// mode or both are not. The envelope is part of the message for the message layer, so its lengths
// are kEnvelopeBytes larger than those that the program sees.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/matching/request.hpp"
#include "mpi/check/description.hpp"
#include "mpi/check/pending_buffers.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi::check {

struct Envelope {
    Part part;
    Place place;
};
inline constexpr Bytes kEnvelopeBytes = sizeof(Envelope);

// An envelope and the data, as the message layer sees them. Must stay where it is.
class EnvelopedLayout final : public comm::Layout {
  public:
    Envelope envelope;
    comm::BufferView data;

    // Valid while this object exists.
    comm::BufferView view() const noexcept { return {nullptr, *this, size()}; }

    Bytes size() const noexcept override { return kEnvelopeBytes + data.size(); }
    void copy_out(const std::byte* base, Bytes offset, std::byte* to,
                  Bytes n) const noexcept override;
    void copy_in(std::byte* base, Bytes offset, const std::byte* from,
                 Bytes n) const noexcept override;
    std::byte* piece(std::byte* base, Bytes offset, Bytes& length) const noexcept override;

  private:
    std::byte* envelope_bytes() const noexcept;
};

// The check of one request, which sends a message, receives one, or both. Only the thread that
// holds the runtime lock may call it.
class MessageCheck {
  public:
    explicit MessageCheck(const Place& place) : place_(place) {}

    // Each makes the view that the message layer gets, for `count` elements of `type` at `data`.
    comm::BufferView wrap_send(const comm::BufferView& data, const Datatype& type,
                               std::int64_t count);
    // `type` must stay as long as this object.
    comm::BufferView wrap_receive(const comm::BufferView& data, const Datatype& type);
    // What is sent is a copy of the buffer that receives (MPI_Isendrecv_replace).
    void sends_copy();

    // Before the messages start. A fault if the memory is that of another request in progress.
    Fault begin();
    // The request has ended, or the program can no longer complete it.
    void end() noexcept;

    // After the send has ended: a fault if the buffer is not what it was at the start.
    Fault check_send() const;
    // After the receive has ended without an error: a fault if the type signatures do not match.
    Fault check_receive(const Comm& comm, const comm::ReceiveRequest& receive) const;

    const Place& place() const noexcept { return place_; }

  private:
    Place place_;
    EnvelopedLayout send_;
    EnvelopedLayout receive_;
    const Datatype* received_type_ = nullptr;
    PendingBuffer given_;
    PendingBuffer taken_;
    bool guards_send_ = false;  // the buffer that is sent must not change
    std::uint64_t sum_ = 0;     // of this buffer at the start
};

// The length of a message as the program sees it.
inline Bytes without_envelope(Bytes length) noexcept {
    return length < kEnvelopeBytes ? 0 : length - kEnvelopeBytes;
}

}  // namespace poe::mpi::check
