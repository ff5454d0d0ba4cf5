// Request: a point-to-point operation, a non-blocking or persistent collective operation, or a
// generalized request, that the program completes with MPI_Wait or MPI_Test (MPI 5.0, sections 3.7,
// 3.9, 6.12, 6.13 and 13.2).
//
// Requests are reused without being built anew, because that takes longer than a short message. All
// functions are for the thread that has the turn to use the message layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>

#include "comm/matching/message_layer.hpp"
#include "comm/matching/request.hpp"
#include "mpi/check/message_check.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/typed_layout.hpp"
#include "mpi/object/fault.hpp"
#include "mpi/object/handle.hpp"

namespace poe::mpi {

// What a request of the type kWork does: a collective operation or another activity that consists
// of several messages. The request owns it; make_work() in works.hpp makes such a request.
//
// While a request is active, advance() is called during every wait of this task, and by the
// functions that test requests; after it has returned true, it is not called again before the next
// start(). Neither function may block or wait for messages. The destructor may run when the
// operation is not active only.
class Work {
  public:
    Work() = default;
    virtual ~Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    // Begins the operation. Called once for a non-blocking operation, and by each MPI_Start for a
    // persistent one.
    virtual void start(comm::MessageLayer& messages) = 0;
    // Continues the operation as far as possible. Returns true if it has ended.
    virtual bool advance(comm::MessageLayer& messages) = 0;
    // What the operation waits for, after advance() has returned false.
    virtual Awaited awaited(const comm::MessageLayer&) { return {}; }
    // Blocks until the message has ended that the operation waits for after advance() has returned
    // false. Returns false, and does nothing, if it does not wait for exactly one. Called only if
    // one thread uses the library. Nobody calls advance() meanwhile.
    virtual bool wait(comm::MessageLayer&) { return false; }
    // Why the operation failed; no fault if it succeeded. Called after the end, once or more.
    virtual Fault result() { return {}; }
    // True if the operation has succeeded, so that nobody needs to ask for result(). If it is
    // false, result() tells. Called after the end.
    virtual bool succeeded() const noexcept { return false; }
    // The bytes that the status of the request names: of a data access to a file, those that
    // have moved.
    virtual Bytes moved() const noexcept { return 0; }
    // The file whose error handler errors invoke; MPI_FILE_NULL: that of the request's
    // communicator.
    virtual MPI_File file() const noexcept { return MPI_FILE_NULL; }
    // False if advance() calls no function of the program; then it is also called while the task
    // computes, by the progress thread.
    virtual bool calls_program() const noexcept { return true; }
    // True if a start of a persistent request is a collective operation of its communicator.
    virtual bool starts_operation() const noexcept { return true; }
    // Fills in everything but MPI_ERROR of the status of an operation that has ended. Returns
    // false, and does nothing, if such an operation has the status of one that receives nothing.
    virtual bool describe(MPI_Status&) const noexcept { return false; }
    // Ends the ownership. The object may be kept for another operation.
    virtual void release() noexcept { delete this; }
};

struct WorkRelease {
    WorkRelease() noexcept = default;
    // So that a std::unique_ptr of any derived class becomes a WorkPtr.
    template <typename Derived>
    WorkRelease(const std::default_delete<Derived>&) noexcept {}
    void operator()(Work* work) const noexcept { work->release(); }
};
using WorkPtr = std::unique_ptr<Work, WorkRelease>;

// How a message is sent (MPI 5.0, section 3.4).
enum class SendMode : std::uint8_t { kStandard, kSynchronous, kBuffered, kReady };

// The program's functions of a generalized request (MPI 5.0, section 13.2).
struct Generalized {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* extra_state = nullptr;
    bool complete = false;
};

struct Request final : Object {
    enum class Type : std::uint8_t {
        kNone,  // not in use
        kSend,
        kReceive,
        kSendReceive,  // MPI_Isendrecv
        kNobody,       // with MPI_PROC_NULL in both directions: complete at once
        kWork,
        kGeneralized,
    };

    Type type = Type::kNone;
    bool persistent = false;
    bool active = false;  // from the start until a wait or test has completed it
    bool ended = false;   // kWork: advance() has returned true
    bool freed = false;   // the program has called MPI_Request_free while it was active
    bool common = false;  // it is sent_request()
    SendMode mode = SendMode::kStandard;
    // The request stands for a receive from MPI_PROC_NULL, perhaps in addition to a send.
    bool receives_from_nobody = false;

    // The communicator whose error handler errors invoke, and which translates tasks into ranks.
    // Null: none. The request holds a reference to it unless it is predefined.
    Comm* comm = nullptr;
    // In the list of requests that are kept for reuse.
    Request* next_free = nullptr;
    // Messages in check mode; otherwise null.
    std::unique_ptr<check::MessageCheck> check;
    // MPI_Isendrecv_replace: the copy of the message that is sent.
    std::unique_ptr<std::byte[]> copy;
    // The datatypes that must stay until the messages have ended.
    TypeReference send_type;
    TypeReference receive_type;

    // The members above and this one are all that a receive of contiguous memory touches: five
    // cache lines. A program with many requests in flight needs more of them than the first cache
    // holds.
    comm::ReceiveRequest receive;
    comm::SendRequest send;
    // Where the messages are, if the memory is neither contiguous nor a plain vector.
    TypedLayout send_layout;
    TypedLayout receive_layout;

    WorkPtr work;
    // kWork: one more than the number of the collective operation in Comm::operations; 0: it is
    // something else, or has not been started.
    std::uint32_t operation = 0;
    OperationFacts facts;  // of a persistent collective operation
    Generalized generalized;
    // In the list of active requests of the type kWork.
    Request* next_work = nullptr;
    Request* previous_work = nullptr;

    // Called when the last reference is gone.
    void reset() noexcept;
};

// Returns a request in the state that reset() leaves. Allocates only if more requests are in use
// than ever before.
Request& make_request();
// Ends a request that is not active, and invalidates its handle.
void free_request(Request& request) noexcept;
// The one request of all sends that have ended when MPI_Isend returns, because to make a request
// takes longer than a short message. It is always active and never freed.
Request& sent_request();
// The number of requests in use, to find what a program has not freed.
std::size_t requests_in_use() noexcept;

// Makes `comm` the communicator of the request, which must have none.
void set_comm(Request& request, Comm& comm) noexcept;

inline Request* find_request(MPI_Request handle) noexcept {
    return find<Request>(handle);
}
inline MPI_Request handle_of(Request& request) noexcept {
    return handle_of<MPI_Request>(static_cast<Object&>(request));
}

}  // namespace poe::mpi
