// MPL's C entry points: check what the user gave, call the message layer, report. Documented in
// mpproto.h. The by-reference and Fortran entry points are in api_by_reference.cpp.
#include "comm/api.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <span>
#include <unistd.h>

#include <climits>

#include "comm/api_call.hpp"
#include "comm/mpproto.h"

// The type dispatch is for users; here are the functions.
#undef mpc_brecv

namespace poe::comm {
namespace {

// Larger than any address space: a negative number, or an argument of the wrong width.
constexpr std::size_t kAbsurdLength = std::size_t{1} << 47;

std::string task_range(const Runtime& runtime) {
    return runtime.tasks() == 1 ? "the only task is 0"
                                : "tasks are 0 to " + std::to_string(runtime.tasks() - 1);
}

bool is_task(const Runtime& runtime, int task) {
    return task >= 0 && static_cast<std::uint32_t>(task) < runtime.tasks();
}

int refuse_buffer(const ApiCall& call, const void* buffer, std::size_t length) {
    if (length >= kAbsurdLength) {
        return call.refuse(MplError::kLength,
                           "the length " + std::to_string(static_cast<long long>(length)) +
                               " is negative or absurd",
                           "give a number of bytes");
    }
    if (buffer == nullptr && length > 0) {
        return call.refuse(
            MplError::kNullPointer,
            "the buffer is a null pointer but the length is " + std::to_string(length),
            "give the address of the message");
    }
    return 0;
}

int send_blocking(ApiCall& call, const void* out, std::size_t len, int dest, int type) {
    Runtime& runtime = call.runtime();
    if (len >= kAbsurdLength || (out == nullptr && len > 0)) [[unlikely]]
        return refuse_buffer(call, out, len);
    if (!is_task(runtime, dest)) [[unlikely]] {
        return call.refuse(MplError::kDestination,
                           "there is no task " + std::to_string(dest) + " to send to",
                           task_range(runtime));
    }
    if (type < 0) [[unlikely]] {
        return call.refuse(MplError::kType, "the type " + std::to_string(type) + " is negative",
                           "types are 0 to " + std::to_string(INT_MAX));
    }
    call.doing(Call::kBsend, dest, type, len);
    const Outcome outcome = runtime.messages().send(BufferView(const_cast<void*>(out), len), dest,
                                                    type, Context::kUser);
    return outcome == Outcome::kDone ? 0 : call.refuse(outcome, dest);
}

int refuse_wildcards(ApiCall& call, const int* source, const int* type) {
    if (source == nullptr || type == nullptr) {
        return call.refuse(
            MplError::kNullPointer,
            source == nullptr ? "source is a null pointer" : "type is a null pointer",
            "give the address of a variable that holds the wanted value or DONTCARE");
    }
    if (*source != DONTCARE && !is_task(call.runtime(), *source)) {
        return call.refuse(MplError::kSource,
                           "there is no task " + std::to_string(*source) + " to receive from",
                           task_range(call.runtime()) + ", DONTCARE means any");
    }
    if (*type != DONTCARE && *type < 0) {
        return call.refuse(MplError::kType, "the type " + std::to_string(*type) + " is negative",
                           "types are 0 to " + std::to_string(INT_MAX) + ", DONTCARE means any");
    }
    return 0;
}

int receive_blocking(ApiCall& call, void* in, std::size_t len, int* source, int* type,
                     std::size_t& nbytes) {
    if (const int refused = refuse_buffer(call, in, len)) return refused;
    if (const int refused = refuse_wildcards(call, source, type)) return refused;
    call.doing(Call::kBrecv, *source, *type, len);
    ReceiveRequest request;
    request.view = BufferView(in, len);
    request.wanted = {Context::kUser, *source, *type};
    const Outcome outcome = call.runtime().messages().receive(request);
    if (outcome != Outcome::kDone) return call.refuse(outcome, request.source);
    *source = request.source;
    *type = request.type;
    nbytes = request.expected;
    return 0;
}

int query(ApiCall& call, int* nbuf, int nelem, int qtype) {
    const Runtime& runtime = call.runtime();
    const auto clamp = [](Bytes bytes) {
        return static_cast<int>(std::min<Bytes>(bytes, std::numeric_limits<int>::max()));
    };
    std::array<int, 4> answer{};
    int known = 0;
    switch (qtype) {
        case 1:
            answer = {static_cast<int>(runtime.tasks()), runtime.task(), runtime.node(),
                      static_cast<int>(runtime.nodes())};
            known = 4;
            break;
        case 2:
            answer = {0, INT_MAX};
            known = 2;
            break;
        case 3:
            answer = {DONTCARE, ALLMSG, NULLTASK, ALLGRP};
            known = 4;
            break;
        case 4:
            answer = {clamp(runtime.eager_limit()), clamp(runtime.buffer_mem())};
            known = 2;
            break;
        default:
            return call.refuse(MplError::kQuery, "there is no query type " + std::to_string(qtype),
                               "query types are 1 to 4");
    }
    if (nbuf == nullptr) {
        return call.refuse(MplError::kNullPointer, "nbuf is a null pointer",
                           "give the address of " + std::to_string(nelem) + " ints");
    }
    if (nelem < 1 || nelem > known) {
        return call.refuse(MplError::kQuery,
                           "query type " + std::to_string(qtype) + " cannot answer " +
                               std::to_string(nelem) + " elements",
                           "ask for 1 to " + std::to_string(known));
    }
    std::copy_n(answer.begin(), nelem, nbuf);
    return 0;
}

}  // namespace

int api_environ(const char* name, int* numtask, int* taskid) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    if (numtask == nullptr || taskid == nullptr) {
        return call.refuse(
            MplError::kNullPointer,
            numtask == nullptr ? "numtask is a null pointer" : "taskid is a null pointer",
            "give the addresses of two ints");
    }
    *numtask = static_cast<int>(call.runtime().tasks());
    *taskid = call.runtime().task();
    return 0;
}

int api_task_query(const char* name, int* nbuf, int nelem, int qtype) {
    ApiCall call(name);
    if (!call.ready()) return call.refuse_unready();
    return query(call, nbuf, nelem, qtype);
}

int api_stopall(int errcode) {
    the_runtime().note_stopall(errcode);
    std::fflush(nullptr);
    ::_exit(errcode & 255);
}

int api_bsend(const char* name, const void* out, std::size_t len, int dest, int type) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    return call.run([&] { return send_blocking(call, out, len, dest, type); });
}

template <typename Count>
int api_brecv(const char* name, void* in, std::size_t len, int* source, int* type, Count* nbytes) {
    ApiCall call(name);
    if (!call.ready()) [[unlikely]]
        return call.refuse_unready();
    std::size_t got = 0;
    const int result = call.run([&] { return receive_blocking(call, in, len, source, type, got); });
    if (result != 0 || nbytes == nullptr) return result;
    if (got > static_cast<std::size_t>(std::numeric_limits<Count>::max())) {
        return call.refuse(MplError::kCountTooSmall,
                           "the message has come, but its " + std::to_string(got) +
                               " bytes cannot be told in an int",
                           "make nbytes a size_t");
    }
    *nbytes = static_cast<Count>(got);
    return 0;
}

template int api_brecv<int>(const char*, void*, std::size_t, int*, int*, int*);

}  // namespace poe::comm

using namespace poe::comm;

extern "C" {

MPL_EXPORT int mpc_environ(int* numtask, int* taskid) {
    return api_environ("mpc_environ", numtask, taskid);
}

MPL_EXPORT int mpc_task_query(int* nbuf, int nelem, int qtype) {
    return api_task_query("mpc_task_query", nbuf, nelem, qtype);
}

MPL_EXPORT int mpc_stopall(int errcode) {
    return api_stopall(errcode);
}

MPL_EXPORT int mpc_bsend(const void* out, size_t len, int dest, int type) {
    return api_bsend("mpc_bsend", out, len, dest, type);
}

MPL_EXPORT int mpc_brecv(void* in, size_t len, int* source, int* type, int* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

MPL_EXPORT int mpc_brecv_u(void* in, size_t len, int* source, int* type, unsigned* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

MPL_EXPORT int mpc_brecv_l(void* in, size_t len, int* source, int* type, long* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

MPL_EXPORT int mpc_brecv_ul(void* in, size_t len, int* source, int* type, unsigned long* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

MPL_EXPORT int mpc_brecv_ll(void* in, size_t len, int* source, int* type, long long* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

MPL_EXPORT int mpc_brecv_ull(void* in, size_t len, int* source, int* type,
                             unsigned long long* nbytes) {
    return api_brecv("mpc_brecv", in, len, source, type, nbytes);
}

}  // extern "C"
