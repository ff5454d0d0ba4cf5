/* mpproto.h: MPL, the message-passing library. C and C++; Fortran programs use the module `mpl`, or
 * call MP_BSEND and so on as external subroutines.
 *
 * There is no call to begin or to end: the library is ready before main, and a task ends by ending.
 * Start a program with `poe ./program -procs 4`, or just `./program -procs 4`. Run without either
 * it is the only task of its job.
 *
 * Every function answers 0, or -1 after an error: then `mperrno` holds NNN of the message
 * "0032-NNN", which has been written to stderr.
 *
 * Threads: one thread at a time may be inside the library (any thread; use a lock of your own). A
 * call that meets another one is refused. mpc_stopall may be called at any time.
 *
 * The mp_ functions are the same with all arguments by reference, for programs translated from
 * Fortran.
 */
#ifndef MPPROTO_H
#define MPPROTO_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any source, or any type (mpc_brecv). */
#define DONTCARE (-1)
/* All messages (mpc_wait). */
#define ALLMSG (-2)
/* No task: what has no partner. */
#define NULLTASK (-3)
/* The group of all tasks. */
#define ALLGRP 0

/* NNN of the last error "0032-NNN". Never set back to 0 by a call that succeeds. */
extern int mperrno;

/* How many tasks the job has, and which one this is (0 .. *numtask - 1). */
int mpc_environ(int* numtask, int* taskid);

/* Answers about the system: nelem ints into nbuf.
 *   qtype 1, nelem 1..4: number of tasks, own task id, own node (0 ..), number of nodes
 *   qtype 2, nelem 1..2: lowest and highest message type
 *   qtype 3, nelem 1..4: values of DONTCARE, ALLMSG, NULLTASK, ALLGRP
 *   qtype 4, nelem 1..2: longest message sent without asking the receiver first, and buffer memory
 * per pair of tasks, in bytes */
int mpc_task_query(int* nbuf, int nelem, int qtype);

/* Ends all tasks of the job; the job's exit status is errcode (modulo 256). Flushes stdio, does not
 * run exit handlers. Does not return. */
int mpc_stopall(int errcode);

/* Sends len bytes at `out` to task `dest` under the number `type` (0 or more). Blocks until the
 * buffer may be used again: the message has been received or is kept for the receiver, within the
 * buffer memory of the pair (MP_BUFFER_MEM). A message to oneself is always kept. len may be 0. */
int mpc_bsend(const void* out, size_t len, int dest, int type);

/* Receives a message of at most len bytes from task *source of type *type; each may be DONTCARE,
 * and both are set to what came. Blocks until the message is in `in`. *nbytes is set to the bytes
 * received; it may be a pointer to int, unsigned, long or size_t, or a null pointer of one of these
 * types. A longer message is cut to len. */
int mpc_brecv(void* in, size_t len, int* source, int* type, int* nbytes);

/* Returns when all tasks of the group have called it. gid: ALLGRP. */
int mpc_sync(int gid);

/* The same by reference. */
int mp_environ(int* numtask, int* taskid);
int mp_task_query(int* nbuf, int* nelem, int* qtype);
int mp_stopall(int* errcode);
int mp_bsend(const void* out, int* len, int* dest, int* type);
int mp_brecv(void* in, int* len, int* source, int* type, int* nbytes);
int mp_sync(int* gid);

/* mpc_brecv for the other widths of *nbytes; programs write mpc_brecv and get the right one. */
int mpc_brecv_u(void* in, size_t len, int* source, int* type, unsigned* nbytes);
int mpc_brecv_l(void* in, size_t len, int* source, int* type, long* nbytes);
int mpc_brecv_ul(void* in, size_t len, int* source, int* type, unsigned long* nbytes);
int mpc_brecv_ll(void* in, size_t len, int* source, int* type, long long* nbytes);
int mpc_brecv_ull(void* in, size_t len, int* source, int* type, unsigned long long* nbytes);

#ifdef __cplusplus
} /* extern "C" */

inline int mpc_brecv(void* in, size_t len, int* source, int* type, unsigned* nbytes) {
    return mpc_brecv_u(in, len, source, type, nbytes);
}
inline int mpc_brecv(void* in, size_t len, int* source, int* type, long* nbytes) {
    return mpc_brecv_l(in, len, source, type, nbytes);
}
inline int mpc_brecv(void* in, size_t len, int* source, int* type, unsigned long* nbytes) {
    return mpc_brecv_ul(in, len, source, type, nbytes);
}
inline int mpc_brecv(void* in, size_t len, int* source, int* type, long long* nbytes) {
    return mpc_brecv_ll(in, len, source, type, nbytes);
}
inline int mpc_brecv(void* in, size_t len, int* source, int* type, unsigned long long* nbytes) {
    return mpc_brecv_ull(in, len, source, type, nbytes);
}
#if __cplusplus >= 201103L
inline int mpc_brecv(void* in, size_t len, int* source, int* type, decltype(nullptr)) {
    return mpc_brecv(in, len, source, type, static_cast<int*>(nullptr));
}
#endif

#elif defined(__GNUC__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)

#ifdef __GNUC__
#define MPL_GENERIC_ __extension__ _Generic
#else
#define MPL_GENERIC_ _Generic
#endif
/* Anything that is not listed goes to the function itself, where the compiler judges it. */
#define mpc_brecv(in, len, source, type, nbytes) \
    MPL_GENERIC_((nbytes),                            \
        unsigned *: mpc_brecv_u,                      \
        long *: mpc_brecv_l,                          \
        unsigned long *: mpc_brecv_ul,                \
        long long *: mpc_brecv_ll,                    \
        unsigned long long *: mpc_brecv_ull,          \
        default: mpc_brecv)(in, len, source, type, nbytes)

#endif

#endif /* MPPROTO_H */
