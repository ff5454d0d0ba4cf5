// The buffers of buffered sends (MPI 5.0, section 3.6).
#include <memory>
#include <mpi.h>
#include <string>
#include <utility>

#include "mpi/api/bodies.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/point/send_buffer.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {
namespace {

// The operation behind a request of MPI_Buffer_iflush. It ends when all messages have been sent
// that were in the buffer when it began.
class Flush final : public Work {
  public:
    explicit Flush(std::shared_ptr<SendBuffer> buffer) noexcept
        : buffer_(std::move(buffer)), until_(buffer_->next_number()) {}

    void start(comm::MessageLayer&) override {}
    bool advance(comm::MessageLayer&) override { return buffer_->oldest_number() >= until_; }

  private:
    std::shared_ptr<SendBuffer> buffer_;  // it stays if the program detaches it meanwhile
    std::uint64_t until_;
};

int refuse_missing(Call& call) {
    return call.fail(MPI_ERR_BUFFER, "", "no buffer is attached",
                     "call MPI_Buffer_attach, MPI_Comm_attach_buffer or MPI_Session_attach_buffer "
                     "first");
}

BufferOwner owner_of(MPI_Session session) {
    return {nullptr, find<Session>(session)->number};
}

int attach(Call& call, const BufferOwner& owner, void* buffer, MPI_Count size) {
    if (buffer != MPI_BUFFER_AUTOMATIC && size < 0)
        return call.fail(MPI_ERR_ARG, "size", std::to_string(size) + " is negative");
    if (buffer == nullptr && size > 0)
        return call.fail(MPI_ERR_BUFFER, "buffer", "it is a null pointer");
    std::shared_ptr<SendBuffer>& place = buffer_of(owner);
    if (place)
        return call.fail(MPI_ERR_BUFFER, "buffer", "a buffer is attached already",
                         "detach it first");
    place = std::make_shared<SendBuffer>(buffer, size);
    return MPI_SUCCESS;
}

int detach(Call& call, const BufferOwner& owner, void* buffer_addr, const CountOut& size) {
    // Another thread may detach it during the wait.
    const std::shared_ptr<SendBuffer> buffer = buffer_of(owner);
    if (!buffer) return refuse_missing(call);
    const VisibleCall visible(call, {});
    const Fault fault = buffer->flush(call.runtime());
    *static_cast<void**>(buffer_addr) = buffer->start();
    const bool fits = size.set(buffer->automatic() ? 0 : buffer->size());
    if (std::shared_ptr<SendBuffer>& place = buffer_of(owner); place == buffer) place.reset();
    if (fault) return call.fail(fault);
    return fits ? MPI_SUCCESS
                : call.fail(MPI_ERR_VALUE_TOO_LARGE, "size",
                            "the size of the buffer does not fit into an int",
                            "call the function whose name ends with _c");
}

int flush(Call& call, const BufferOwner& owner) {
    const std::shared_ptr<SendBuffer> buffer = buffer_of(owner);
    if (!buffer) return refuse_missing(call);
    const VisibleCall visible(call, {});
    return call.finish(buffer->flush(call.runtime()));
}

int start_flush(Call& call, const BufferOwner& owner, MPI_Request* request) {
    std::shared_ptr<SendBuffer>& place = buffer_of(owner);
    if (!place) return refuse_missing(call);
    Request& made = make_work(call.runtime(), std::make_unique<Flush>(place), owner.comm, false);
    *request = handle_of(made);
    return MPI_SUCCESS;
}

}  // namespace

int buffer_attach(Call& call, void* buffer, MPI_Count size) {
    return attach(call, {}, buffer, size);
}
int buffer_detach(Call& call, void* buffer_addr, CountOut size) {
    return detach(call, {}, buffer_addr, size);
}
int buffer_flush(Call& call) {
    return flush(call, {});
}
int buffer_iflush(Call& call, MPI_Request* request) {
    return start_flush(call, {}, request);
}

int comm_attach_buffer(Call& call, MPI_Comm comm, void* buffer, MPI_Count size) {
    return attach(call, {find_comm(comm)}, buffer, size);
}
int comm_detach_buffer(Call& call, MPI_Comm comm, void* buffer_addr, CountOut size) {
    return detach(call, {find_comm(comm)}, buffer_addr, size);
}
int comm_flush_buffer(Call& call, MPI_Comm comm) {
    return flush(call, {find_comm(comm)});
}
int comm_iflush_buffer(Call& call, MPI_Comm comm, MPI_Request* request) {
    return start_flush(call, {find_comm(comm)}, request);
}

int session_attach_buffer(Call& call, MPI_Session session, void* buffer, MPI_Count size) {
    return attach(call, owner_of(session), buffer, size);
}
int session_detach_buffer(Call& call, MPI_Session session, void* buffer_addr, CountOut size) {
    return detach(call, owner_of(session), buffer_addr, size);
}
int session_flush_buffer(Call& call, MPI_Session session) {
    return flush(call, owner_of(session));
}
int session_iflush_buffer(Call& call, MPI_Session session, MPI_Request* request) {
    return start_flush(call, owner_of(session), request);
}

}  // namespace poe::mpi
