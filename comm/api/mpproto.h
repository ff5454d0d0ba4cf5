/* mpproto.h: MPL, the message-passing library. C and C++; Fortran programs use the module `mpl`, or
 * call MP_BSEND and so on as external subroutines.
 *
 * There is no call to begin or to end: the library is ready before main, and a task ends when its
 * process ends. Start a program with `poe ./program -procs 4`, or just `./program -procs 4`. A
 * program that is started without both is the only task of its job.
 *
 * Every function returns 0, or -1 after an error, unless stated otherwise. After an error `mperrno`
 * holds NNN of the message "0032-NNN", which has been written to stderr.
 *
 * Order: if a receive matches several messages from one task, they are received in the order in
 * which they were sent. If a message matches several receives, it goes to the one that was posted
 * first. An unreceived message never prevents another message from being received.
 *
 * Each nbytes may be a pointer to int, unsigned, long, size_t or long long, or a null pointer of
 * one of these types. The same holds for numtask and taskid of mpc_environ (both of the same type)
 * and for nbuf of mpc_task_query, which must not be null.
 *
 * Threads: one thread at a time may be inside the library. It may be any thread; use a lock. A call
 * that finds another thread inside is refused. mpc_stopall may be called at any time.
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

/* Any source, any type (mpc_brecv), any message (mpc_wait). */
#define DONTCARE (-1)
/* All messages (mpc_wait). */
#define ALLMSG (-2)
/* No task: the partner of an operation without a partner. */
#define NULLTASK (-3)
/* The group of all tasks. */
#define ALLGRP 0

/* Modes of mpc_stdout_mode; a task id is also a mode. */
#define STDIO_UNORDERED (-1)
#define STDIO_ORDERED (-2)

/* NNN of the last error "0032-NNN". A call that succeeds does not reset it to 0. */
extern int mperrno;

/* Stores the number of tasks of the job, and the id of this task (0 .. *numtask - 1). */
int mpc_environ(int* numtask, int* taskid);

/* Stores nelem ints about the system in nbuf.
 *   qtype 1, nelem 1..4: number of tasks, own task id, own node (0 ..), number of nodes
 *   qtype 2, nelem 1..2: lowest and highest message type
 *   qtype 3, nelem 1..4: values of DONTCARE, ALLMSG, NULLTASK, ALLGRP
 *   qtype 4, nelem 1..2: longest message that is sent eagerly (without asking the receiver first),
 *                        and buffer memory per pair of tasks, both in bytes
 *   qtype 5, nelem 1: setting 1 of mpc_task_set */
int mpc_task_query(int* nbuf, int nelem, int qtype);

/* Changes a setting of this task.
 *   stype 1: a message longer than the buffer of its receive is truncated (nbuf 0, the default), or
 *            it is truncated and the receive ends with an error (nbuf 1) */
int mpc_task_set(int nbuf, int stype);

/* Ends all tasks of the job; the job's exit status is errcode (modulo 256). Flushes stdio, but
 * does not run exit handlers. Does not return. */
int mpc_stopall(int errcode);

/* --- blocking */

/* Sends len bytes at `out` to task `dest` with the type `type` (0 or more). Blocks until the
 * buffer may be used again: the message has been received, or is buffered for the receiver
 * within the buffer memory of the pair (MP_BUFFER_MEM). A message to the task itself that no
 * posted receive matches is always buffered; if it does not fit, the call fails. len may be 0. */
int mpc_bsend(const void* out, size_t len, int dest, int type);

/* Receives a message of at most len bytes from task *source of type *type. Each may be DONTCARE;
 * both are set to those of the message. Blocks until the message is in `in`. *nbytes is set to
 * the number of bytes received. A longer message is truncated to len (see mpc_task_set). */
int mpc_brecv(void* in, size_t len, int* source, int* type, int* nbytes);

/* Sends `out` to dest and receives from *source (may be DONTCARE, and is set), both with type
 * `type`. Blocks until both have ended. Does not deadlock if the partners make the same call, or
 * a receive and a send. The buffers must not overlap. */
int mpc_bsendrecv(const void* out, size_t outlen, int dest, int type, void* in, size_t inlen,
                  int* source, int* nbytes);

/* Like mpc_bsend and mpc_brecv, but the message is in blknum blocks of blklen bytes whose
 * starts are `offset` bytes apart (offset >= blklen). The message itself has no block structure:
 * any receive matches it. */
int mpc_bvsend(const void* out, size_t blklen, size_t offset, size_t blknum, int dest, int type);
int mpc_bvrecv(void* in, size_t blklen, size_t offset, size_t blknum, int* source, int* type,
               int* nbytes);

/* mpc_pack copies blocks, laid out as for mpc_bvsend, from `in` to contiguous memory at `out`;
 * mpc_unpack does the reverse. */
int mpc_pack(const void* in, void* out, size_t blklen, size_t offset, size_t blknum);
int mpc_unpack(const void* in, void* out, size_t blklen, size_t offset, size_t blknum);

/* --- non-blocking */

/* Starts a send and sets *msgid to its id. Does not block; the buffer must not be changed until
 * the send has ended. */
int mpc_send(const void* out, size_t len, int dest, int type, int* msgid);

/* Starts a receive and sets *msgid to its id. Does not block. *source and *type say which
 * message is wanted, and are set when mpc_wait or mpc_status reports the end. They and the
 * buffer must remain valid until then. */
int mpc_recv(void* in, size_t len, int* source, int* type, int* msgid);

/* Starts a receive like mpc_recv. When it has ended, `handler` is called once with the address
 * of the id, and should end the id with mpc_wait. The handler is called by the thread that uses
 * MPL, at the end of an MPL call. With interrupts it may also be called by a separate thread
 * while the task computes; MPL calls of the task then wait until it returns. It is never called
 * inside another handler, nor while mpc_lockrnc blocks handlers. */
int mpc_rcvncall(void* in, size_t len, int* source, int* type, int* msgid,
                 void (*handler)(int* msgid));

/* newval 1 blocks handlers; 0 allows them again, and those that are due run at once. *oldval is
 * set to the previous value. */
int mpc_lockrnc(int newval, int* oldval);

/* Returns the state of a message: its bytes if it has ended (mpc_wait may still be called), -1
 * while it is in progress, -2 if there is no such id or it ended with an error. Does not block. */
int mpc_status(int msgid);

/* Blocks until the message has ended, sets *nbytes to its bytes and ends the id. If *msgid is
 * DONTCARE, waits for any message and sets *msgid to its id; messages that mpc_status has
 * reported come last. If *msgid is ALLMSG, waits for all messages and sets *nbytes to 0. Neither
 * waits for receives of mpc_rcvncall whose handler has not been called. */
int mpc_wait(int* msgid, int* nbytes);

/* Checks for a message that a receive from *source (or DONTCARE) of *type (or DONTCARE) would
 * match. Sets *source, *type and *nbytes to those of the message, or *nbytes to -1 if there is
 * none. Does not block, and does not receive. */
int mpc_probe(int* source, int* type, int* nbytes);

/* --- groups: ordered sets of tasks, identified by a number that is unique in the job */

/* Creates a group of the gsize tasks in glist, ranked in that order. Only these tasks call it,
 * with the same list. mpc_getlabel returns `label`. Not a barrier. */
int mpc_group(int gsize, const int* glist, int label, int* gid);
/* Called by all members of the parent group. The members with the same label become a group,
 * ranked by key, and by their rank in the parent if the keys are equal. A barrier. */
int mpc_partition(int parent_gid, int key, int label, int* gid);
/* Deletes a group in this task; every member must do so itself. */
int mpc_freegroup(int gid);
/* Store the number of members; all members by rank (glist must have room for them); the rank of
 * a task; the task of a rank; the label that this task gave. */
int mpc_getsize(int* gsize, int gid);
int mpc_getmembers(int* glist, int gid);
int mpc_getrank(int* rank, int taskid, int gid);
int mpc_gettaskid(int rank, int* taskid, int gid);
int mpc_getlabel(int* label, int gid);
/* Treats a group as an x by y grid in row-major order. *row is set to the group of the y tasks
 * in this task's row, *column to that of the x tasks in its column. Called by all members. */
int mpc_form2dgrid(int gid, int x, int y, int* row, int* column);
/* The same with ndims dimensions: gids[d] is the group of the tasks that differ from this one
 * only in coordinate d, ranked by it. */
int mpc_formgrid(int gid, int ndims, const int* dims, int* gids);
/* Treats a group whose size is a power of two as a hypercube. *subcube is set to the group of
 * the tasks whose ranks differ from this task's only in bits that are set in mask. Called by all
 * members with the same mask. */
int mpc_formsubcube(int gid, int mask, int* subcube);
/* Convert between ranks and row-major coordinates, and between ranks and Gray codes, in which
 * neighbours differ in one bit. */
int mpc_rank2grid(int rank, int ndims, const int* dims, int* coords);
int mpc_grid2rank(const int* coords, int ndims, const int* dims, int* rank);
int mpc_rank2gray(int rank, int* gray);
int mpc_gray2rank(int gray, int* rank);

/* --- collective: called by all members of the group gid with the same arguments. ALLGRP is the
 * group of all tasks. Roots are task ids. `out` is the member's contribution, `in` receives the
 * result; they must not overlap. Lengths are in bytes. Collective calls do not interfere with
 * messages.
 *
 * A member may return before others have called, unless its result needs theirs; see MP_CCL_MODE in
 * mpl(3). */

/* A reduction: out = one op two, for vectors of *len bytes. It must be associative but need not
 * be commutative; results are those of a reduction in rank order. Called with vectors that do
 * not overlap. */
typedef void (*mpl_reduction)(void* one, void* two, void* out, int* len);

/* Predefined: i int, s float, d double; b bits, l logicals (ints that are zero or nonzero). */
#define MPL_REDUCTION_(NAME) void NAME(void* one, void* two, void* out, int* len)
MPL_REDUCTION_(i_vadd);
MPL_REDUCTION_(i_vmul);
MPL_REDUCTION_(i_vmax);
MPL_REDUCTION_(i_vmin);
MPL_REDUCTION_(s_vadd);
MPL_REDUCTION_(s_vmul);
MPL_REDUCTION_(s_vmax);
MPL_REDUCTION_(s_vmin);
MPL_REDUCTION_(d_vadd);
MPL_REDUCTION_(d_vmul);
MPL_REDUCTION_(d_vmax);
MPL_REDUCTION_(d_vmin);
MPL_REDUCTION_(b_vand);
MPL_REDUCTION_(b_vor);
MPL_REDUCTION_(b_vxor);
MPL_REDUCTION_(l_vand);
MPL_REDUCTION_(l_vor);
MPL_REDUCTION_(l_vxor);
#undef MPL_REDUCTION_

/* Copies len bytes at buf of the root to buf of all other members. */
int mpc_bcast(void* buf, size_t len, int root, int gid);
/* Reduce the vectors of all members: mpc_reduce at the root, mpc_combine at all members,
 * mpc_prefix over the ranks up to the own one. */
int mpc_reduce(const void* out, void* in, size_t len, int root, mpl_reduction func, int gid);
int mpc_combine(const void* out, void* in, size_t len, mpl_reduction func, int gid);
int mpc_prefix(const void* out, void* in, size_t len, mpl_reduction func, int gid);
/* mpc_scatter sends the root's block j to rank j. mpc_gather collects one block of each member
 * at the root, mpc_concat at all members. mpc_index sends each member's block j to rank j.
 * Blocks are in rank order. */
int mpc_scatter(const void* out, void* in, size_t blklen, int root, int gid);
int mpc_gather(const void* out, void* in, size_t blklen, int root, int gid);
int mpc_concat(const void* out, void* in, size_t blklen, int gid);
int mpc_index(const void* out, void* in, size_t blklen, int gid);
/* Receives the vector of the rank that is `step` lower. With flag 0 ranks wrap around. With flag
 * 1 they do not, and a member that receives nothing keeps the contents of `in`. */
int mpc_shift(const void* out, void* in, size_t len, int step, int flag, int gid);
/* Blocks until all members have called it. */
int mpc_sync(int gid);
/* With blocks of different lengths: blklens has one length per rank and is the same at all
 * members; outlens has the lengths of the blocks to each rank, inlens from each rank. Blocks are
 * stored one after the other. */
int mpc_scatterv(const void* out, void* in, const int* blklens, int root, int gid);
int mpc_gatherv(const void* out, void* in, const int* blklens, int root, int gid);
int mpc_concatv(const void* out, void* in, const int* blklens, int gid);
int mpc_indexv(const void* out, const int* outlens, void* in, const int* inlens, int gid);
/* The same, nonblocking: *collid is set to the number of the call, which mpc_collwait or
 * mpc_colltest ends. Buffers must not be changed until then. The call makes progress during any
 * MPL call of the task. Members must start the calls on a group in the same order. */
int mpc_ibcast(void* buf, size_t len, int root, int gid, int* collid);
int mpc_ireduce(const void* out, void* in, size_t len, int root, mpl_reduction func, int gid,
                int* collid);
int mpc_icombine(const void* out, void* in, size_t len, mpl_reduction func, int gid, int* collid);
int mpc_iprefix(const void* out, void* in, size_t len, mpl_reduction func, int gid, int* collid);
int mpc_iscatter(const void* out, void* in, size_t blklen, int root, int gid, int* collid);
int mpc_igather(const void* out, void* in, size_t blklen, int root, int gid, int* collid);
int mpc_iconcat(const void* out, void* in, size_t blklen, int gid, int* collid);
int mpc_iindex(const void* out, void* in, size_t blklen, int gid, int* collid);
int mpc_ishift(const void* out, void* in, size_t len, int step, int flag, int gid, int* collid);
int mpc_isync(int gid, int* collid);
int mpc_iscatterv(const void* out, void* in, const int* blklens, int root, int gid, int* collid);
int mpc_igatherv(const void* out, void* in, const int* blklens, int root, int gid, int* collid);
int mpc_iconcatv(const void* out, void* in, const int* blklens, int gid, int* collid);
int mpc_iindexv(const void* out, const int* outlens, void* in, const int* inlens, int gid,
                int* collid);
/* Blocks until the call has ended. */
int mpc_collwait(int* collid);
/* Sets *done to 1 if the call has ended, which also ends its number; otherwise to 0. Does not
 * block. */
int mpc_colltest(int collid, int* done);

/* --- standard output */

/* Called by all tasks. Blocks until everything that they wrote to standard output before the
 * call is in poe's standard output, in the order of the mode: task after task in ordered mode.
 * option 1: standard output. A task that has ended counts as having called. Its last output may
 * appear at a later flush if there is much of it. Without poe the call flushes stdout. */
int mpc_flush(int option);

/* Called by all tasks with the same mode. Flushes as mpc_flush does. From then on poe shows the
 * tasks' standard output in this mode: STDIO_UNORDERED as it arrives; STDIO_ORDERED task after
 * task, at each flush and at the end; a task id, only the output of that task. If the tasks give
 * different modes, all calls fail and the mode does not change. */
int mpc_stdout_mode(int mode);

/* --- interrupts: progress of messages while the task computes */

/* Returns 1 if interrupts are enabled, otherwise 0. The initial setting is MP_CSS_INTERRUPT. */
int mpc_queryintr(void);
int mpc_enableintr(void);
int mpc_disableintr(void);

/* Microseconds between the arrival of a message and the interrupt. Initially MP_INTRDELAY, or 0. */
int mpc_queryintrdelay(void);
int mpc_setintrdelay(int delay);

/* --- the same by reference */

int mp_environ(int* numtask, int* taskid);
int mp_task_query(int* nbuf, int* nelem, int* qtype);
int mp_task_set(int* nbuf, int* stype);
int mp_stopall(int* errcode);
int mp_bsend(const void* out, int* len, int* dest, int* type);
int mp_brecv(void* in, int* len, int* source, int* type, int* nbytes);
int mp_bsendrecv(const void* out, int* outlen, int* dest, int* type, void* in, int* inlen,
                 int* source, int* nbytes);
int mp_bvsend(const void* out, int* blklen, int* offset, int* blknum, int* dest, int* type);
int mp_bvrecv(void* in, int* blklen, int* offset, int* blknum, int* source, int* type, int* nbytes);
int mp_pack(const void* in, void* out, int* blklen, int* offset, int* blknum);
int mp_unpack(const void* in, void* out, int* blklen, int* offset, int* blknum);
int mp_send(const void* out, int* len, int* dest, int* type, int* msgid);
int mp_recv(void* in, int* len, int* source, int* type, int* msgid);
int mp_rcvncall(void* in, int* len, int* source, int* type, int* msgid,
                void (*handler)(int* msgid));
int mp_lockrnc(int* newval, int* oldval);
int mp_status(int* msgid);
int mp_wait(int* msgid, int* nbytes);
int mp_probe(int* source, int* type, int* nbytes);
int mp_bcast(void* buf, int* len, int* root, int* gid);
int mp_reduce(const void* out, void* in, int* len, int* root, mpl_reduction func, int* gid);
int mp_combine(const void* out, void* in, int* len, mpl_reduction func, int* gid);
int mp_prefix(const void* out, void* in, int* len, mpl_reduction func, int* gid);
int mp_scatter(const void* out, void* in, int* blklen, int* root, int* gid);
int mp_gather(const void* out, void* in, int* blklen, int* root, int* gid);
int mp_concat(const void* out, void* in, int* blklen, int* gid);
int mp_index(const void* out, void* in, int* blklen, int* gid);
int mp_shift(const void* out, void* in, int* len, int* step, int* flag, int* gid);
int mp_sync(int* gid);
int mp_scatterv(const void* out, void* in, const int* blklens, int* root, int* gid);
int mp_gatherv(const void* out, void* in, const int* blklens, int* root, int* gid);
int mp_concatv(const void* out, void* in, const int* blklens, int* gid);
int mp_indexv(const void* out, const int* outlens, void* in, const int* inlens, int* gid);
int mp_ibcast(void* buf, int* len, int* root, int* gid, int* collid);
int mp_ireduce(const void* out, void* in, int* len, int* root, mpl_reduction func, int* gid,
               int* collid);
int mp_icombine(const void* out, void* in, int* len, mpl_reduction func, int* gid, int* collid);
int mp_iprefix(const void* out, void* in, int* len, mpl_reduction func, int* gid, int* collid);
int mp_iscatter(const void* out, void* in, int* blklen, int* root, int* gid, int* collid);
int mp_igather(const void* out, void* in, int* blklen, int* root, int* gid, int* collid);
int mp_iconcat(const void* out, void* in, int* blklen, int* gid, int* collid);
int mp_iindex(const void* out, void* in, int* blklen, int* gid, int* collid);
int mp_ishift(const void* out, void* in, int* len, int* step, int* flag, int* gid, int* collid);
int mp_isync(int* gid, int* collid);
int mp_iscatterv(const void* out, void* in, const int* blklens, int* root, int* gid, int* collid);
int mp_igatherv(const void* out, void* in, const int* blklens, int* root, int* gid, int* collid);
int mp_iconcatv(const void* out, void* in, const int* blklens, int* gid, int* collid);
int mp_iindexv(const void* out, const int* outlens, void* in, const int* inlens, int* gid,
               int* collid);
int mp_collwait(int* collid);
int mp_colltest(int* collid, int* done);
int mp_group(int* gsize, const int* glist, int* label, int* gid);
int mp_partition(int* parent_gid, int* key, int* label, int* gid);
int mp_freegroup(int* gid);
int mp_getsize(int* gsize, int* gid);
int mp_getmembers(int* glist, int* gid);
int mp_getrank(int* rank, int* taskid, int* gid);
int mp_gettaskid(int* rank, int* taskid, int* gid);
int mp_getlabel(int* label, int* gid);
int mp_form2dgrid(int* gid, int* x, int* y, int* row, int* column);
int mp_formgrid(int* gid, int* ndims, const int* dims, int* gids);
int mp_formsubcube(int* gid, int* mask, int* subcube);
int mp_rank2grid(int* rank, int* ndims, const int* dims, int* coords);
int mp_grid2rank(const int* coords, int* ndims, const int* dims, int* rank);
int mp_rank2gray(int* rank, int* gray);
int mp_gray2rank(int* gray, int* rank);
int mp_flush(int* option);
int mp_stdout_mode(int* mode);
int mp_queryintr(void);
int mp_enableintr(void);
int mp_disableintr(void);
int mp_queryintrdelay(void);
int mp_setintrdelay(int* delay);

/* --- the calls that write integers, for types other than int; programs write mpc_brecv and so
 * on, and the compiler selects the right one */

#define MPL_COUNTED_CALLS_(SUFFIX, COUNT)                                                      \
    int mpc_brecv##SUFFIX(void* in, size_t len, int* source, int* type, COUNT* nbytes);        \
    int mpc_bvrecv##SUFFIX(void* in, size_t blklen, size_t offset, size_t blknum, int* source, \
                           int* type, COUNT* nbytes);                                          \
    int mpc_bsendrecv##SUFFIX(const void* out, size_t outlen, int dest, int type, void* in,    \
                              size_t inlen, int* source, COUNT* nbytes);                       \
    int mpc_wait##SUFFIX(int* msgid, COUNT* nbytes);                                           \
    int mpc_probe##SUFFIX(int* source, int* type, COUNT* nbytes);                              \
    int mpc_environ##SUFFIX(COUNT* numtask, COUNT* taskid);                                    \
    int mpc_task_query##SUFFIX(COUNT* nbuf, int nelem, int qtype);
MPL_COUNTED_CALLS_(_u, unsigned)
MPL_COUNTED_CALLS_(_l, long)
MPL_COUNTED_CALLS_(_ul, unsigned long)
#ifdef __GNUC__
__extension__ typedef long long mpl_long_long_;
__extension__ typedef unsigned long long mpl_unsigned_long_long_;
#else
typedef long long mpl_long_long_;
typedef unsigned long long mpl_unsigned_long_long_;
#endif
MPL_COUNTED_CALLS_(_ll, mpl_long_long_)
MPL_COUNTED_CALLS_(_ull, mpl_unsigned_long_long_)
#undef MPL_COUNTED_CALLS_

#ifdef __cplusplus
} /* extern "C" */

#define MPL_COUNTED_OVERLOADS_(SUFFIX, COUNT)                                                 \
    inline int mpc_brecv(void* in, size_t len, int* source, int* type, COUNT* nbytes) {       \
        return mpc_brecv##SUFFIX(in, len, source, type, nbytes);                              \
    }                                                                                         \
    inline int mpc_bvrecv(void* in, size_t blklen, size_t offset, size_t blknum, int* source, \
                          int* type, COUNT* nbytes) {                                         \
        return mpc_bvrecv##SUFFIX(in, blklen, offset, blknum, source, type, nbytes);          \
    }                                                                                         \
    inline int mpc_bsendrecv(const void* out, size_t outlen, int dest, int type, void* in,    \
                             size_t inlen, int* source, COUNT* nbytes) {                      \
        return mpc_bsendrecv##SUFFIX(out, outlen, dest, type, in, inlen, source, nbytes);     \
    }                                                                                         \
    inline int mpc_wait(int* msgid, COUNT* nbytes) {                                          \
        return mpc_wait##SUFFIX(msgid, nbytes);                                               \
    }                                                                                         \
    inline int mpc_probe(int* source, int* type, COUNT* nbytes) {                             \
        return mpc_probe##SUFFIX(source, type, nbytes);                                       \
    }                                                                                         \
    inline int mpc_environ(COUNT* numtask, COUNT* taskid) {                                   \
        return mpc_environ##SUFFIX(numtask, taskid);                                          \
    }                                                                                         \
    inline int mpc_task_query(COUNT* nbuf, int nelem, int qtype) {                            \
        return mpc_task_query##SUFFIX(nbuf, nelem, qtype);                                    \
    }
MPL_COUNTED_OVERLOADS_(_u, unsigned)
MPL_COUNTED_OVERLOADS_(_l, long)
MPL_COUNTED_OVERLOADS_(_ul, unsigned long)
MPL_COUNTED_OVERLOADS_(_ll, mpl_long_long_)
MPL_COUNTED_OVERLOADS_(_ull, mpl_unsigned_long_long_)
#undef MPL_COUNTED_OVERLOADS_
#if __cplusplus >= 201103L
inline int mpc_brecv(void* in, size_t len, int* source, int* type, decltype(nullptr)) {
    return mpc_brecv(in, len, source, type, static_cast<int*>(nullptr));
}
inline int mpc_bvrecv(void* in, size_t blklen, size_t offset, size_t blknum, int* source, int* type,
                      decltype(nullptr)) {
    return mpc_bvrecv(in, blklen, offset, blknum, source, type, static_cast<int*>(nullptr));
}
inline int mpc_bsendrecv(const void* out, size_t outlen, int dest, int type, void* in, size_t inlen,
                         int* source, decltype(nullptr)) {
    return mpc_bsendrecv(out, outlen, dest, type, in, inlen, source, static_cast<int*>(nullptr));
}
inline int mpc_wait(int* msgid, decltype(nullptr)) {
    return mpc_wait(msgid, static_cast<int*>(nullptr));
}
inline int mpc_probe(int* source, int* type, decltype(nullptr)) {
    return mpc_probe(source, type, static_cast<int*>(nullptr));
}
#endif

#elif defined(__GNUC__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)

#ifdef __GNUC__
#define MPL_GENERIC_ __extension__ _Generic
#else
#define MPL_GENERIC_ _Generic
#endif
/* Any type that is not listed selects the function itself, so that the compiler reports the
 * error. */
#define MPL_BY_COUNT_(call, nbytes) \
    MPL_GENERIC_((nbytes),                          \
        unsigned *: call##_u,                       \
        long *: call##_l,                           \
        unsigned long *: call##_ul,                 \
        mpl_long_long_ *: call##_ll,                \
        mpl_unsigned_long_long_ *: call##_ull,      \
        default: call)
#define mpc_brecv(in, len, source, type, nbytes) \
    MPL_BY_COUNT_(mpc_brecv, nbytes)(in, len, source, type, nbytes)
#define mpc_bvrecv(in, blklen, offset, blknum, source, type, nbytes) \
    MPL_BY_COUNT_(mpc_bvrecv, nbytes)(in, blklen, offset, blknum, source, type, nbytes)
#define mpc_bsendrecv(out, outlen, dest, type, in, inlen, source, nbytes) \
    MPL_BY_COUNT_(mpc_bsendrecv, nbytes)(out, outlen, dest, type, in, inlen, source, nbytes)
#define mpc_wait(msgid, nbytes) MPL_BY_COUNT_(mpc_wait, nbytes)(msgid, nbytes)
#define mpc_probe(source, type, nbytes) MPL_BY_COUNT_(mpc_probe, nbytes)(source, type, nbytes)
#define mpc_environ(numtask, taskid) MPL_BY_COUNT_(mpc_environ, numtask)(numtask, taskid)
#define mpc_task_query(nbuf, nelem, qtype) MPL_BY_COUNT_(mpc_task_query, nbuf)(nbuf, nelem, qtype)

#endif

#endif /* MPPROTO_H */
