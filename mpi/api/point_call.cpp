// The shared parts of the point-to-point functions; see point_call.hpp.
#include "mpi/api/point_call.hpp"

#include <memory>
#include <string>

#include "mpi/object/status.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/matched_message.hpp"
#include "mpi/point/waiting.hpp"

namespace poe::mpi {
namespace {

bool refused(Call& call, int code, const char* name, const std::string& what,
             const char* remedy = "") {
    call.fail(code, name, what, remedy);
    return false;
}

}  // namespace

bool refuse_comm(Call& call, MPI_Comm comm) {
    return refused(call, MPI_ERR_COMM, "comm",
                   comm == MPI_COMM_NULL ? "it is MPI_COMM_NULL" : "it is no communicator");
}

bool refuse_type(Call& call, MPI_Datatype handle, const Datatype* type, const char* name) {
    if (type != nullptr)
        return refused(call, MPI_ERR_TYPE, name, "the datatype is not committed",
                       "call MPI_Type_commit first");
    return refused(call, MPI_ERR_TYPE, name,
                   handle == MPI_DATATYPE_NULL ? "it is MPI_DATATYPE_NULL" : "it is no datatype");
}

bool refuse_buffer(Call& call, const void*, MPI_Count count, const Datatype& type,
                   const char* name) {
    if (count < 0)
        return refused(call, MPI_ERR_COUNT, "count", std::to_string(count) + " is negative");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, type.size(), &bytes))
        return refused(call, MPI_ERR_COUNT, "count",
                       std::to_string(count) + " elements of " + std::to_string(type.size()) +
                           " bytes are more than 2^63 bytes");
    return refused(call, MPI_ERR_BUFFER, name,
                   "it is a null pointer, but the message has " + std::to_string(bytes) + " bytes",
                   "give the address of the data; MPI_BOTTOM needs a datatype with absolute "
                   "addresses");
}

bool refuse_rank(Call& call, int rank, const Comm& comm, const char* name) {
    return refused(call, MPI_ERR_RANK, name,
                   std::to_string(rank) + " is no rank of the " +
                       (comm.is_inter() ? "remote group" : "group") + " with " +
                       std::to_string(comm.peers().size()) + " members",
                   "give a rank from 0 on, or MPI_PROC_NULL");
}

bool refuse_tag(Call& call, int tag, const char* name) {
    return refused(call, MPI_ERR_TAG, name,
                   tag == MPI_ANY_TAG ? "MPI_ANY_TAG is for receives only"
                                      : std::to_string(tag) + " is negative",
                   "give a tag from 0 on");
}

bool refuse_request(Call& call, MPI_Request request, const char* name) {
    return refused(call, MPI_ERR_REQUEST, name,
                   request == MPI_REQUEST_NULL
                       ? "it is MPI_REQUEST_NULL"
                       : "it is no request, or one that has been completed or freed already");
}

int fail_message(Call& call, Comm& comm, const Fault& fault) {
    call.about(ErrorObject(handle_of(comm)));
    return call.fail(fault);
}

namespace {

check::MessageCheck& check_of(Call& call, Request& request) {
    if (request.check == nullptr)
        request.check =
            std::make_unique<check::MessageCheck>(check::place_of(call.function(), call.site()));
    return *request.check;
}

// In check mode an envelope belongs to each message.
void wrap_send(Call& call, Request& request, const MessageArguments& message) {
    request.send.view =
        check_of(call, request).wrap_send(request.send.view, *message.type, message.count);
}
void wrap_receive(Call& call, Request& request, const MessageArguments& message) {
    request.receive.view =
        check_of(call, request).wrap_receive(request.receive.view, *message.type);
}

}  // namespace

Request& make_send(Call& call, const MessageArguments& message, SendMode mode) {
    Request& request = make_request();
    set_comm(request, *message.comm);
    if (message.nobody) {
        request.type = Request::Type::kNobody;
        return request;
    }
    request.type = Request::Type::kSend;
    request.mode = mode;
    request.send.view = message.view(request.send_layout);
    if (message.type->code() == 0) request.send_type = TypeReference(*message.type);
    request.send.dest = message.task;
    request.send.type = message.tag;
    request.send.context = message.comm->context;
    request.send.flow = comm::FlowClass::kUser;
    if (environment().checking) [[unlikely]]
        wrap_send(call, request, message);
    return request;
}

Request& make_receive(Call& call, const MessageArguments& message) {
    Request& request = make_request();
    set_comm(request, *message.comm);
    if (message.nobody) {
        request.type = Request::Type::kNobody;
        request.receives_from_nobody = true;
        return request;
    }
    request.type = Request::Type::kReceive;
    request.receive.view = message.view(request.receive_layout);
    if (message.type->code() == 0) request.receive_type = TypeReference(*message.type);
    request.receive.wanted = message.key();
    if (environment().checking) [[unlikely]]
        wrap_receive(call, request, message);
    return request;
}

Request* make_send_receive(Call& call, const void* sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                           MPI_Comm comm) {
    MessageArguments sent;
    MessageArguments received;
    if (!resolve_send(call, sendbuf, sendcount, sendtype, dest, sendtag, comm, sent,
                      {"sendbuf", "sendtype", "dest", "sendtag"}) ||
        !resolve_receive(call, recvbuf, recvcount, recvtype, source, recvtag, comm, received,
                         {"recvbuf", "recvtype", "source", "recvtag"}))
        return nullptr;
    if (sent.nobody) return &make_receive(call, received);
    Request& request = make_send(call, sent, SendMode::kStandard);
    if (received.nobody) {
        request.receives_from_nobody = true;
        return &request;
    }
    request.type = Request::Type::kSendReceive;
    request.receive.view = received.view(request.receive_layout);
    request.receive_type = TypeReference(*received.type);
    request.receive.wanted = received.key();
    if (environment().checking) [[unlikely]]
        wrap_receive(call, request, received);
    return &request;
}

// The message is received into the buffer that it is sent from, so what is sent is a copy.
Request* make_replacement(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                          int sendtag, int source, int recvtag, MPI_Comm comm) {
    Request* request = make_send_receive(call, buf, count, datatype, dest, sendtag, buf, count,
                                         datatype, source, recvtag, comm);
    if (request == nullptr || request->type != Request::Type::kSendReceive) return request;
    const comm::BufferView whole = request->send.view;
    try {
        request->copy = std::make_unique_for_overwrite<std::byte[]>(whole.size());
    } catch (...) {
        free_request(*request);
        throw;
    }
    whole.copy_out(0, request->copy.get(), whole.size());
    if (request->check != nullptr) request->check->sends_copy();
    request->send.view = {request->copy.get(), whole.size()};
    return request;
}

Request* make_matched_receive(Call& call, void* buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Message* message, MatchedMessage*& matched) {
    MessageArguments arguments;
    matched = find_matched(*message);
    arguments.nobody = *message == MPI_MESSAGE_NO_PROC;
    if (matched == nullptr && !arguments.nobody) {
        call.fail(MPI_ERR_REQUEST, "message",
                  *message == MPI_MESSAGE_NULL ? "it is MPI_MESSAGE_NULL"
                                               : "it is no message of MPI_Mprobe or MPI_Improbe, "
                                                 "or it has been received already");
        return nullptr;
    }
    arguments.comm = matched != nullptr ? matched->comm : &world();
    call.about(ErrorObject(handle_of(*arguments.comm)));
    if (!resolve_buffer(call, buf, count, datatype, arguments, kReceiveNames)) return nullptr;
    Request& request = make_receive(call, arguments);
    if (request.check != nullptr) [[unlikely]] {
        if (const Fault fault = request.check->begin()) {
            call.fail(fault);
            free_request(request);
            return nullptr;
        }
    }
    *message = MPI_MESSAGE_NULL;
    return &request;
}

void start_matched_receive(Call& call, Request& request, MatchedMessage* matched) {
    request.active = true;
    if (matched == nullptr) return;
    request.receive.reset(request.receive.view, {});
    request.receive.tell = nullptr;
    request.receive.owner = &request;
    comm::MessageLayer& messages = call.runtime().messages();
    messages.start(request.receive, *matched->message);
    messages.begin_fetching();
    if (environment().checking) check::ledger().release(matched);
    matched_messages().release(*matched);
    if (!has_ended(request)) call.runtime().keep_moving();
}

int start_new(Call& call, Request& request, MPI_Request* handle) {
    if (const Fault fault = start(call.runtime(), request)) {
        const int code = fail_message(call, *request.comm, fault);
        free_request(request);
        return code;
    }
    *handle = handle_of(request);
    return MPI_SUCCESS;
}

}  // namespace poe::mpi
