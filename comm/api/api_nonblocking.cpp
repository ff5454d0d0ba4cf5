// MPL's nonblocking sends and receives, their completion, and handlers; see mpproto.h.
#include <algorithm>
#include <limits>

#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"
#include "tracer/probe/process_context.hpp"

namespace poe::comm {
namespace {

// Results of mpc_status that are not byte counts.
constexpr int kStatusActive = -1;
constexpr int kStatusUnknown = -2;

int refuse_id(const ApiCall& call, int msgid) {
    return call.refuse(MplError::kMessageId,
                       "there is no message with the id " + std::to_string(msgid),
                       "give an id of mpc_send, mpc_recv or mpc_rcvncall that mpc_wait has not "
                       "ended yet, DONTCARE or ALLMSG");
}

// Reports the end of an operation to the user. The operation still has its id.
int tell(ApiCall& call, Operation& operation, const UserCount& nbytes) {
    if (operation.kind == Operation::Kind::kReceive) {
        return tell_received(call, operation.receive, operation.source, operation.type, nbytes);
    }
    if (process_context().tracer.on() && !operation.told) [[unlikely]]
        process_context().tracer.send_ended(static_cast<std::uint8_t>(operation.send.flow),
                                            operation.send.dest, operation.send.type,
                                            operation.send.number);
    if (operation.send.outcome != Outcome::kDone) {
        return call.refuse(operation.send.outcome, operation.send.dest);
    }
    nbytes.store(static_cast<long long>(operation.send.view.size()));
    return 0;
}

int start_receive(ApiCall& call, void* in, std::size_t len, int* source, int* type, int* msgid,
                  RcvncallHandler handler) {
    if (const int refused = refuse_buffer(call, in, len)) return refused;
    if (const int refused = refuse_wanted(call, source, type)) return refused;
    if (msgid == nullptr) return refuse_null(call, "msgid", "an int");
    call.note(handler == nullptr ? Call::kRecv : Call::kRcvncall, *source, *type, 0);
    const Operation& operation =
        call.runtime().operations().receive({in, len}, source, type, handler);
    *msgid = operation.id;
    if (!operation.finished()) call.runtime().keep_moving();
    return 0;
}

int wait_one(ApiCall& call, Operation& operation, const UserCount& nbytes) {
    call.note(Call::kWait, operation.partner(), operation.message_type(), 0);
    if (!operation.finished()) {
        call.doing(Call::kWait, operation.partner(), operation.message_type(), operation.length());
        call.runtime().operations().wait(operation);
    }
    const int result = tell(call, operation, nbytes);
    call.runtime().operations().end(operation);
    return result;
}

int wait_any(ApiCall& call, int* msgid, const UserCount& nbytes) {
    call.doing(Call::kWait, TaskActivity::kAnyPeer, 0, 0);
    Operation* operation = call.runtime().operations().wait_any();
    if (operation == nullptr) {
        return call.refuse(MplError::kMessageId, "no message is under way to wait for",
                           "start one with mpc_send or mpc_recv");
    }
    *msgid = operation->id;
    const int result = tell(call, *operation, nbytes);
    call.runtime().operations().end(*operation);
    return result;
}

int wait_all(ApiCall& call, const UserCount& nbytes) {
    call.note(Call::kWait, TaskActivity::kAnyPeer, 0, 0);
    Operations& operations = call.runtime().operations();
    int result = 0;
    while (Operation* operation = operations.any()) {
        if (!operation->finished()) {
            call.doing(Call::kWait, operation->partner(), operation->message_type(),
                       operation->length());
            operations.wait(*operation);
        }
        if (tell(call, *operation, nbytes) != 0) result = -1;
        operations.end(*operation);
    }
    nbytes.store(0);
    return result;
}

}  // namespace

int api_send(const Caller& name, const void* out, std::size_t len, int dest, int type, int* msgid) {
    const BufferView view{const_cast<void*>(out), len};
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_buffer(call, out, len)) return refused;
        if (const int refused = refuse_destination(call, dest, type)) return refused;
        if (msgid == nullptr) return refuse_null(call, "msgid", "an int");
        call.note(Call::kSend, dest, type, view.size());
        const Operation& operation = call.runtime().operations().send(view, dest, type);
        *msgid = operation.id;
        if (!operation.finished()) call.runtime().keep_moving();
        return 0;
    });
}

int api_recv(const Caller& name, void* in, std::size_t len, int* source, int* type, int* msgid) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] { return start_receive(call, in, len, source, type, msgid, nullptr); });
}

int api_rcvncall(const Caller& name, void* in, std::size_t len, int* source, int* type, int* msgid,
                 RcvncallHandler handler) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    if (handler == nullptr) return refuse_null(call, "handler", "a function");
    return call.run([&] { return start_receive(call, in, len, source, type, msgid, handler); });
}

int api_status(const Caller& name, int msgid) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        Operation* operation = call.runtime().operations().find(msgid);
        if (operation == nullptr) return kStatusUnknown;
        call.note(Call::kStatus, operation->partner(), operation->message_type(), 0);
        if (!operation->finished()) {
            call.runtime().messages().progress();
            if (!operation->finished()) {
                call.runtime().pause_between_looks();
                return kStatusActive;
            }
        }
        long long count = 0;
        const int result = tell(call, *operation, &count);
        call.runtime().operations().set_told(*operation);
        if (result != 0) return kStatusUnknown;
        return static_cast<int>(std::min<long long>(count, std::numeric_limits<int>::max()));
    });
}

int api_wait(const Caller& name, int* msgid, UserCount nbytes) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    if (msgid == nullptr) return refuse_null(call, "msgid", "an int");
    return call.run([&] {
        if (*msgid == DONTCARE) return wait_any(call, msgid, nbytes);
        if (*msgid == ALLMSG) return wait_all(call, nbytes);
        Operation* operation = call.runtime().operations().find(*msgid);
        if (operation == nullptr) return refuse_id(call, *msgid);
        return wait_one(call, *operation, nbytes);
    });
}

int api_probe(const Caller& name, int* source, int* type, UserCount nbytes) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] {
        if (const int refused = refuse_wanted(call, source, type)) return refused;
        MessageLayer& messages = call.runtime().messages();
        call.note(Call::kProbe, *source, *type, 0);
        const MatchKey wanted{kMplContext, *source, *type};
        const Unexpected* message = messages.probe(wanted);
        if (message == nullptr) {
            messages.progress();
            message = messages.probe(wanted);
        }
        if (message == nullptr) {
            nbytes.store(-1);
            call.runtime().pause_between_looks();
            return 0;
        }
        *source = message->from.source;
        *type = message->from.type;
        if (!nbytes.store(static_cast<long long>(message->length))) {
            return call.refuse(MplError::kCountTooSmall,
                               "the " + std::to_string(message->length) +
                                   " bytes of the message do not fit into an integer of this "
                                   "width",
                               "make nbytes a size_t");
        }
        return 0;
    });
}

int api_lockrnc(const Caller& name, int newval, int* oldval) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    if (newval != 0 && newval != 1) {
        return call.refuse(MplError::kQuery, "handlers cannot be set to " + std::to_string(newval),
                           "1 holds them back, 0 lets them run");
    }
    if (oldval != nullptr) *oldval = call.runtime().handlers_locked() ? 1 : 0;
    call.runtime().lock_handlers(newval == 1);
    return 0;
}

}  // namespace poe::comm
