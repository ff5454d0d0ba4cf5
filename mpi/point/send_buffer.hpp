// SendBuffer: the memory from which buffered sends are made (MPI 5.0, section 3.6). It is attached
// to a communicator or the process, or allocated by the library (MPI_BUFFER_AUTOMATIC).
//
// The attached memory is divided into slots in the order of their addresses. A slot begins with the
// send's request, after which the packed message follows. A slot is free again when the message
// layer has taken the message.
#pragma once

#include <cstddef>
#include <memory>
#include <mpi.h>
#include <optional>

#include "comm/bootstrap/runtime.hpp"
#include "comm/matching/message_layer.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/object/fault.hpp"

namespace poe::mpi {

// For the thread that has the turn.
class SendBuffer {
  public:
    // `start` and `size` as the program gave them. MPI_BUFFER_AUTOMATIC: the library allocates, and
    // `size` has no meaning. Does not own the memory.
    SendBuffer(void* start, MPI_Count size) noexcept;
    // Precondition: idle().
    ~SendBuffer() = default;
    SendBuffer(const SendBuffer&) = delete;
    SendBuffer& operator=(const SendBuffer&) = delete;

    void* start() const noexcept { return start_; }
    MPI_Count size() const noexcept { return size_; }
    bool automatic() const noexcept { return start_ == MPI_BUFFER_AUTOMATIC; }

    // Copies the message and starts to send it. Never blocks. MPI_ERR_BUFFER if it does not fit.
    Fault send(comm::MessageLayer& messages, const comm::SendRequest& message);

    // True if all messages have been sent. Never blocks.
    bool idle() noexcept;
    // Blocks until all messages have been sent. A fault if that cannot happen; the messages are
    // then discarded.
    Fault flush(comm::Runtime& runtime);

    // The number of the next message, from 0 on, and the number of the oldest one that is not sent;
    // for MPI_Buffer_iflush.
    std::uint64_t next_number() const noexcept { return next_number_; }
    std::uint64_t oldest_number() noexcept;

  private:
    struct Slot;

    Slot* reserve(Bytes bytes) noexcept;
    Slot* place_after(Slot* before, Bytes bytes) noexcept;
    void release(Slot& slot) noexcept;
    void release_ended() noexcept;

    void* start_;
    MPI_Count size_;
    std::byte* begin_ = nullptr;  // aligned
    std::byte* end_ = nullptr;
    Slot* first_ = nullptr;  // by address, or in the order of sending
    Slot* last_ = nullptr;
    Slot* newest_ = nullptr;
    std::uint64_t next_number_ = 0;
    comm::FinishedList ended_;
    std::optional<TaskId> lost_;  // the task of a message that could not be sent
};

// What a buffer is attached to: a communicator, a session, or by default the process, whose buffer
// is for the communicators of the world model.
struct BufferOwner {
    Comm* comm = nullptr;
    int session = 0;  // the number of a session; 0: none
};

// The buffer that a send on this communicator uses: its own, or that of its session or of the
// process. Null: none.
SendBuffer* buffer_for(const Comm& comm) noexcept;
// The place where the buffer of this owner is kept.
std::shared_ptr<SendBuffer>& buffer_of(const BufferOwner& owner);
// For MPI_Session_finalize: detaches the session's buffer. Blocks until its messages have been
// sent.
void detach_buffer_of_session(comm::Runtime& runtime, int session);
// For MPI_Comm_free and MPI_Comm_disconnect: detaches the communicator's buffer. Blocks until its
// messages have been sent.
void detach_buffer_of(comm::Runtime& runtime, const Comm& comm);

}  // namespace poe::mpi
