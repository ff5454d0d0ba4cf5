// The entry points with all arguments by reference: mp_x for C, mp_x_ for Fortran (gfortran's name
// for MP_X). A null pointer for a number is refused, as it would be one more way to crash.
#include <cstdint>

#include "comm/api.hpp"
#include "comm/api_call.hpp"
#include "comm/mpproto.h"

#undef mpc_brecv

namespace poe::comm {
namespace {

int refuse_null(const char* name, const char* argument) {
    ApiCall call(name);
    return call.refuse(MplError::kNullPointer, std::string(argument) + " is a null pointer",
                       "give the address of an int");
}

// A negative length becomes an absurd one, which is refused with its own text.
std::size_t length_of(const int* len) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(*len));
}

}  // namespace
}  // namespace poe::comm

using namespace poe::comm;

extern "C" {

MPL_EXPORT int mp_environ(int* numtask, int* taskid) {
    return api_environ("mp_environ", numtask, taskid);
}

MPL_EXPORT int mp_task_query(int* nbuf, int* nelem, int* qtype) {
    if (nelem == nullptr || qtype == nullptr) {
        return refuse_null("mp_task_query", nelem == nullptr ? "nelem" : "qtype");
    }
    return api_task_query("mp_task_query", nbuf, *nelem, *qtype);
}

MPL_EXPORT int mp_stopall(int* errcode) {
    api_stopall(errcode != nullptr ? *errcode : 1);
}

MPL_EXPORT int mp_bsend(const void* out, int* len, int* dest, int* type) {
    if (len == nullptr || dest == nullptr || type == nullptr) {
        return refuse_null("mp_bsend", len == nullptr ? "len" : dest == nullptr ? "dest" : "type");
    }
    return api_bsend("mp_bsend", out, length_of(len), *dest, *type);
}

MPL_EXPORT int mp_brecv(void* in, int* len, int* source, int* type, int* nbytes) {
    if (len == nullptr) return refuse_null("mp_brecv", "len");
    return api_brecv("mp_brecv", in, length_of(len), source, type, nbytes);
}

MPL_EXPORT void mp_environ_(int* numtask, int* taskid) {
    mp_environ(numtask, taskid);
}

MPL_EXPORT void mp_task_query_(int* nbuf, int* nelem, int* qtype) {
    mp_task_query(nbuf, nelem, qtype);
}

MPL_EXPORT void mp_stopall_(int* errcode) {
    mp_stopall(errcode);
}

MPL_EXPORT void mp_bsend_(const void* out, int* len, int* dest, int* type) {
    mp_bsend(out, len, dest, type);
}

MPL_EXPORT void mp_brecv_(void* in, int* len, int* source, int* type, int* nbytes) {
    mp_brecv(in, len, source, type, nbytes);
}

}  // extern "C"
