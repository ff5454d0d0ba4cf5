// The entry points with all arguments by reference: mp_x for C, mp_x_ for Fortran (gfortran's name
// for MP_X). A null pointer in place of a number is refused instead of causing a crash.
#include <cstdint>
#include <initializer_list>

#include "comm/api/api_checks.hpp"
#include "comm/api/mpproto.h"

namespace poe::comm {
namespace {

struct Number {
    const int* where;
    const char* name;
};

// Returns 0 if no pointer is null; otherwise reports the first null pointer and returns -1.
int refuse_nulls(const char* name, std::initializer_list<Number> numbers) {
    for (const Number& number : numbers) {
        if (number.where != nullptr) [[likely]]
            continue;
        const Caller caller(name);
        ApiCall call(caller);
        return refuse_null(call, number.name, "an int");
    }
    return 0;
}

// Converts a negative length to a huge one, which is refused with its own message.
std::size_t length_of(const int* len) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(*len));
}

UserBuffer message(const void* start, const int* len) {
    return {start, length_of(len), length_of(len)};
}

UserBuffer blocks(const void* start, const int* blklen, const int* offset, const int* blknum) {
    return {start, length_of(blklen), length_of(offset), length_of(blknum)};
}

}  // namespace
}  // namespace poe::comm

using namespace poe::comm;

// Returns from the entry point if a number is a null pointer.
#define MPL_NEED(NAME, ...) \
    if (refuse_nulls(NAME, {__VA_ARGS__}) != 0) return -1

extern "C" {

MPL_EXPORT int mp_environ(int* numtask, int* taskid) {
    return api_environ("mp_environ", numtask, taskid);
}

MPL_EXPORT int mp_task_query(int* nbuf, int* nelem, int* qtype) {
    MPL_NEED("mp_task_query", {nelem, "nelem"}, {qtype, "qtype"});
    return api_task_query("mp_task_query", nbuf, *nelem, *qtype);
}

MPL_EXPORT int mp_task_set(int* nbuf, int* stype) {
    MPL_NEED("mp_task_set", {nbuf, "nbuf"}, {stype, "stype"});
    return api_task_set("mp_task_set", *nbuf, *stype);
}

MPL_EXPORT int mp_stopall(int* errcode) {
    api_stopall(errcode != nullptr ? *errcode : 1);
}

MPL_EXPORT int mp_bsend(const void* out, int* len, int* dest, int* type) {
    MPL_NEED("mp_bsend", {len, "len"}, {dest, "dest"}, {type, "type"});
    return api_bsend("mp_bsend", out, length_of(len), *dest, *type);
}

MPL_EXPORT int mp_brecv(void* in, int* len, int* source, int* type, int* nbytes) {
    MPL_NEED("mp_brecv", {len, "len"});
    return api_brecv("mp_brecv", in, length_of(len), source, type, nbytes);
}

MPL_EXPORT int mp_bsendrecv(const void* out, int* outlen, int* dest, int* type, void* in,
                            int* inlen, int* source, int* nbytes) {
    MPL_NEED("mp_bsendrecv", {outlen, "outlen"}, {dest, "dest"}, {type, "type"}, {inlen, "inlen"});
    return api_bsendrecv("mp_bsendrecv", message(out, outlen), *dest, *type, message(in, inlen),
                         source, nbytes);
}

MPL_EXPORT int mp_bvsend(const void* out, int* blklen, int* offset, int* blknum, int* dest,
                         int* type) {
    MPL_NEED("mp_bvsend", {blklen, "blklen"}, {offset, "offset"}, {blknum, "blknum"},
             {dest, "dest"}, {type, "type"});
    return api_bvsend("mp_bvsend", blocks(out, blklen, offset, blknum), *dest, *type);
}

MPL_EXPORT int mp_bvrecv(void* in, int* blklen, int* offset, int* blknum, int* source, int* type,
                         int* nbytes) {
    MPL_NEED("mp_bvrecv", {blklen, "blklen"}, {offset, "offset"}, {blknum, "blknum"});
    return api_bvrecv("mp_bvrecv", blocks(in, blklen, offset, blknum), source, type, nbytes);
}

MPL_EXPORT int mp_pack(const void* in, void* out, int* blklen, int* offset, int* blknum) {
    MPL_NEED("mp_pack", {blklen, "blklen"}, {offset, "offset"}, {blknum, "blknum"});
    return api_pack("mp_pack", in, out, blocks(in, blklen, offset, blknum), false);
}

MPL_EXPORT int mp_unpack(const void* in, void* out, int* blklen, int* offset, int* blknum) {
    MPL_NEED("mp_unpack", {blklen, "blklen"}, {offset, "offset"}, {blknum, "blknum"});
    return api_pack("mp_unpack", in, out, blocks(out, blklen, offset, blknum), true);
}

MPL_EXPORT int mp_send(const void* out, int* len, int* dest, int* type, int* msgid) {
    MPL_NEED("mp_send", {len, "len"}, {dest, "dest"}, {type, "type"});
    return api_send("mp_send", message(out, len), *dest, *type, msgid);
}

MPL_EXPORT int mp_recv(void* in, int* len, int* source, int* type, int* msgid) {
    MPL_NEED("mp_recv", {len, "len"});
    return api_recv("mp_recv", message(in, len), source, type, msgid);
}

MPL_EXPORT int mp_rcvncall(void* in, int* len, int* source, int* type, int* msgid,
                           void (*handler)(int* msgid)) {
    MPL_NEED("mp_rcvncall", {len, "len"});
    return api_rcvncall("mp_rcvncall", message(in, len), source, type, msgid, handler);
}

MPL_EXPORT int mp_status(int* msgid) {
    if (refuse_nulls("mp_status", {{msgid, "msgid"}}) != 0) return -2;
    return api_status("mp_status", *msgid);
}

MPL_EXPORT int mp_wait(int* msgid, int* nbytes) {
    return api_wait("mp_wait", msgid, nbytes);
}

MPL_EXPORT int mp_probe(int* source, int* type, int* nbytes) {
    return api_probe("mp_probe", source, type, nbytes);
}

MPL_EXPORT int mp_lockrnc(int* newval, int* oldval) {
    MPL_NEED("mp_lockrnc", {newval, "newval"});
    return api_lockrnc("mp_lockrnc", *newval, oldval);
}

MPL_EXPORT int mp_flush(int* option) {
    MPL_NEED("mp_flush", {option, "option"});
    return api_flush("mp_flush", *option);
}

MPL_EXPORT int mp_stdout_mode(int* mode) {
    MPL_NEED("mp_stdout_mode", {mode, "mode"});
    return api_stdout_mode("mp_stdout_mode", *mode);
}

MPL_EXPORT int mp_queryintr(void) {
    return api_queryintr("mp_queryintr");
}

MPL_EXPORT int mp_enableintr(void) {
    return api_enableintr("mp_enableintr", true);
}

MPL_EXPORT int mp_disableintr(void) {
    return api_enableintr("mp_disableintr", false);
}

MPL_EXPORT int mp_queryintrdelay(void) {
    return api_queryintrdelay("mp_queryintrdelay");
}

MPL_EXPORT int mp_setintrdelay(int* delay) {
    MPL_NEED("mp_setintrdelay", {delay, "delay"});
    return api_setintrdelay("mp_setintrdelay", *delay);
}

// Fortran subroutines.

MPL_EXPORT void mp_environ_(int* numtask, int* taskid) {
    mp_environ(numtask, taskid);
}

MPL_EXPORT void mp_task_query_(int* nbuf, int* nelem, int* qtype) {
    mp_task_query(nbuf, nelem, qtype);
}

MPL_EXPORT void mp_task_set_(int* nbuf, int* stype) {
    mp_task_set(nbuf, stype);
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

MPL_EXPORT void mp_bsendrecv_(const void* out, int* outlen, int* dest, int* type, void* in,
                              int* inlen, int* source, int* nbytes) {
    mp_bsendrecv(out, outlen, dest, type, in, inlen, source, nbytes);
}

MPL_EXPORT void mp_bvsend_(const void* out, int* blklen, int* offset, int* blknum, int* dest,
                           int* type) {
    mp_bvsend(out, blklen, offset, blknum, dest, type);
}

MPL_EXPORT void mp_bvrecv_(void* in, int* blklen, int* offset, int* blknum, int* source, int* type,
                           int* nbytes) {
    mp_bvrecv(in, blklen, offset, blknum, source, type, nbytes);
}

MPL_EXPORT void mp_pack_(const void* in, void* out, int* blklen, int* offset, int* blknum) {
    mp_pack(in, out, blklen, offset, blknum);
}

MPL_EXPORT void mp_unpack_(const void* in, void* out, int* blklen, int* offset, int* blknum) {
    mp_unpack(in, out, blklen, offset, blknum);
}

MPL_EXPORT void mp_send_(const void* out, int* len, int* dest, int* type, int* msgid) {
    mp_send(out, len, dest, type, msgid);
}

MPL_EXPORT void mp_recv_(void* in, int* len, int* source, int* type, int* msgid) {
    mp_recv(in, len, source, type, msgid);
}

MPL_EXPORT void mp_wait_(int* msgid, int* nbytes) {
    mp_wait(msgid, nbytes);
}

MPL_EXPORT void mp_probe_(int* source, int* type, int* nbytes) {
    mp_probe(source, type, nbytes);
}

MPL_EXPORT void mp_lockrnc_(int* newval, int* oldval) {
    mp_lockrnc(newval, oldval);
}

MPL_EXPORT void mp_rcvncall_(void* in, int* len, int* source, int* type, int* msgid,
                             void (*handler)(int* msgid)) {
    mp_rcvncall(in, len, source, type, msgid, handler);
}

MPL_EXPORT void mp_flush_(int* option) {
    mp_flush(option);
}

MPL_EXPORT void mp_stdout_mode_(int* mode) {
    mp_stdout_mode(mode);
}

// These subroutines return the function's result in their last argument.
MPL_EXPORT void mp_queryintr_(int* rc) {
    *rc = mp_queryintr();
}

MPL_EXPORT void mp_enableintr_(int* rc) {
    *rc = mp_enableintr();
}

MPL_EXPORT void mp_disableintr_(int* rc) {
    *rc = mp_disableintr();
}

MPL_EXPORT void mp_queryintrdelay_(int* rc) {
    *rc = mp_queryintrdelay();
}

MPL_EXPORT void mp_setintrdelay_(int* delay, int* rc) {
    *rc = mp_setintrdelay(delay);
}

// MP_STATUS is a subroutine that returns the result in its second argument.
MPL_EXPORT void mp_status_(int* msgid, int* nbytes) {
    const int answer = mp_status(msgid);
    if (nbytes != nullptr) *nbytes = answer;
}

}  // extern "C"
