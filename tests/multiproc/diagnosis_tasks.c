/* The programs of diagnosis_tasks.inc with MPL. */
#include <VT_trc.h>
#include <mpproto.h>

static int ME, TASKS;
static char letters[64], result[64];

static void receive(int from, int tag) {
    size_t bytes;
    mpc_brecv(letters, sizeof letters, &from, &tag, &bytes);
}
static void bcast_later(int root) {
    int id;
    mpc_ibcast(letters, sizeof letters, root, ALLGRP, &id);
    mpc_collwait(&id);
}

#define WORLD() (mpc_environ(&TASKS, &ME), mpc_sync(ALLGRP))
#define LEAVE() mpc_sync(ALLGRP)
#define SEND(to, tag) mpc_bsend(letters, sizeof letters, to, tag)
#define RECEIVE(from, tag) receive(from, tag)
#define BARRIER() mpc_sync(ALLGRP)
#define BCAST(root) mpc_bcast(letters, sizeof letters, root, ALLGRP)
#define REDUCE(root) mpc_reduce(letters, result, sizeof(int), root, i_vadd, ALLGRP)
#define ALLREDUCE() mpc_combine(letters, result, sizeof(int), i_vadd, ALLGRP)
#define IBCAST_WAIT(root) bcast_later(root)
#define BEGIN(phase) vt_region_begin(phase)
#define END(phase) vt_region_end(phase)
#include "diagnosis_tasks.inc"
