// What the bodies of the point-to-point functions share: the checks of their arguments, which also
// resolve them, because a handle should be resolved once per message, and the reports of failed
// messages (MPI 5.0, chapter 3).
#pragma once

#include <cstdint>
#include <mpi.h>

#include "comm/bootstrap/runtime.hpp"
#include "mpi/api/call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/datatype/queries.hpp"
#include "mpi/point/matched_message.hpp"
#include "mpi/point/message_view.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

// The reports of wrong arguments. Each reports an error and returns false.
[[gnu::cold]] bool refuse_comm(Call& call, MPI_Comm comm);
[[gnu::cold]] bool refuse_type(Call& call, MPI_Datatype handle, const Datatype* type,
                               const char* name);
[[gnu::cold]] bool refuse_buffer(Call& call, const void* buffer, MPI_Count count,
                                 const Datatype& type, const char* name);
[[gnu::cold]] bool refuse_rank(Call& call, int rank, const Comm& comm, const char* name);
[[gnu::cold]] bool refuse_tag(Call& call, int tag, const char* name);
[[gnu::cold]] bool refuse_request(Call& call, MPI_Request request, const char* name);

// The arguments of one direction of a message, resolved.
struct MessageArguments {
    Comm* comm = nullptr;
    Datatype* type = nullptr;
    const void* buffer = nullptr;
    MPI_Count count = 0;
    TaskId task = comm::kWildcard;  // the other task
    int tag = comm::kWildcard;
    bool nobody = false;  // the other side is MPI_PROC_NULL

    comm::BufferView view(TypedLayout& layout) const noexcept {
        return view_of(layout, *type, buffer, count);
    }
    comm::MatchKey key() const noexcept { return {comm->context, task, tag}; }
    CallAbout about(Bytes bytes) const noexcept { return {task, tag, bytes, comm->context, 0}; }
};

// The names of the parameters, for error messages.
struct ArgumentNames {
    const char* buffer = "buf";
    const char* type = "datatype";
    const char* rank = "dest";
    const char* tag = "tag";
};
inline constexpr ArgumentNames kSendNames{};
inline constexpr ArgumentNames kReceiveNames{"buf", "datatype", "source", "tag"};

// Each of the following reports an error and returns false if the arguments are wrong.

inline bool resolve_comm(Call& call, MPI_Comm handle, MessageArguments& message) {
    message.comm = is_predefined(handle) ? find_comm(handle) : find<Comm>(handle);
    return message.comm != nullptr || refuse_comm(call, handle);
}

inline bool resolve_buffer(Call& call, const void* buffer, MPI_Count count, MPI_Datatype handle,
                           MessageArguments& message, const ArgumentNames& names) {
    message.type =
        is_predefined(handle) ? find_predefined_datatype(value_of(handle)) : find<Datatype>(handle);
    if (message.type == nullptr || !message.type->committed()) [[unlikely]]
        return refuse_type(call, handle, message.type, names.type);
    message.buffer = buffer;
    message.count = count;
    std::int64_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(count, message.type->size(), &bytes) ||
        (buffer == nullptr && bytes > 0 && message.type->code() != 0)) [[unlikely]]
        return refuse_buffer(call, buffer, count, *message.type, names.buffer);
    return true;
}

inline bool resolve_rank(Call& call, int rank, MessageArguments& message,
                         const ArgumentNames& names) {
    const Members& peers = message.comm->peers();
    if (static_cast<unsigned>(rank) < static_cast<unsigned>(peers.size())) [[likely]] {
        message.task = peers.task(rank);
        return true;
    }
    message.nobody = rank == MPI_PROC_NULL;
    return message.nobody || refuse_rank(call, rank, *message.comm, names.rank);
}

// A receive or a probe: the rank may be MPI_ANY_SOURCE, the tag MPI_ANY_TAG.
inline bool resolve_wanted(Call& call, int source, int tag, MessageArguments& message,
                           const ArgumentNames& names) {
    message.tag = tag == MPI_ANY_TAG ? comm::kWildcard : tag;
    if (tag < 0 && tag != MPI_ANY_TAG) [[unlikely]]
        return refuse_tag(call, tag, names.tag);
    if (source == MPI_ANY_SOURCE) {
        message.task = comm::kWildcard;
        return true;
    }
    return resolve_rank(call, source, message, names);
}

inline bool resolve_tag(Call& call, int tag, MessageArguments& message,
                        const ArgumentNames& names) {
    message.tag = tag;
    return tag >= 0 || refuse_tag(call, tag, names.tag);
}

inline bool resolve_send(Call& call, const void* buffer, MPI_Count count, MPI_Datatype type,
                         int dest, int tag, MPI_Comm comm, MessageArguments& message,
                         const ArgumentNames& names = kSendNames) {
    return resolve_comm(call, comm, message) &&
           resolve_buffer(call, buffer, count, type, message, names) &&
           resolve_rank(call, dest, message, names) && resolve_tag(call, tag, message, names);
}

inline bool resolve_receive(Call& call, const void* buffer, MPI_Count count, MPI_Datatype type,
                            int source, int tag, MPI_Comm comm, MessageArguments& message,
                            const ArgumentNames& names = kReceiveNames) {
    return resolve_comm(call, comm, message) &&
           resolve_buffer(call, buffer, count, type, message, names) &&
           resolve_wanted(call, source, tag, message, names);
}

// Reports the failure of a message of this communicator and returns its code.
[[gnu::cold]] int fail_message(Call& call, Comm& comm, const Fault& fault);

// The request that describes this send. The request is not started.
Request& make_send(Call& call, const MessageArguments& message, SendMode mode);
Request& make_receive(Call& call, const MessageArguments& message);

// The request of a send and a receive that MPI_Sendrecv and MPI_Isendrecv make, not started. Null
// after an error was reported.
Request* make_send_receive(Call& call, const void* sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                           MPI_Comm comm);
// The same for MPI_Sendrecv_replace and MPI_Isendrecv_replace.
Request* make_replacement(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                          int sendtag, int source, int recvtag, MPI_Comm comm);
// Returns the request of MPI_Mrecv and MPI_Imrecv, which is not started; null after an error was
// reported. `matched` becomes the message that it will receive; null if that is
// MPI_MESSAGE_NO_PROC. start_matched_receive() starts it.
Request* make_matched_receive(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Message* message, MatchedMessage*& matched);
void start_matched_receive(Call& call, Request& request, MatchedMessage* matched);

// What a call that starts or completes this request is about.
CallAbout about_request(const Request& request) noexcept;

// Starts the request of a non-blocking function, and stores its handle or reports the error.
int start_new(Call& call, Request& request, MPI_Request* handle);

// Stores the result of an active request that has ended, and reports its error. The handle becomes
// MPI_REQUEST_NULL unless the request is persistent. `status` may be null.
int finish_one(Call& call, MPI_Request& handle, Request& request, MPI_Status* status);

}  // namespace poe::mpi
