/* What poe_algorithms.py looks at in a trace: "groups" makes groups of all tasks and of some; else
 * each operation is called once, on blocks of 64 bytes, with root 0. */
#include <mpproto.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 64, MOST_TASKS = 64 };

int main(int argc, char** argv) {
    static char out[MOST_TASKS * BYTES], in[MOST_TASKS * BYTES];
    int tasks, me, i, gid, list[MOST_TASKS];
    if (mpc_environ(&tasks, &me) != 0 || tasks > MOST_TASKS) return 1;
    for (i = 0; i < tasks; ++i) list[i] = tasks - 1 - i;
    if (argc > 1 && strcmp(argv[1], "groups") == 0) {
        /* All but task 0, the last task first. */
        if (me != 0 && mpc_group(tasks - 1, list, 5, &gid) != 0) return 1;
        if (mpc_partition(ALLGRP, me, me % 2, &gid) != 0) return 1;
        return 0;
    }
    if (mpc_bcast(out, BYTES, 0, ALLGRP) != 0) return 1;
    if (mpc_reduce(out, in, BYTES, 0, i_vadd, ALLGRP) != 0) return 1;
    if (mpc_combine(out, in, BYTES, i_vadd, ALLGRP) != 0) return 1;
    if (mpc_prefix(out, in, BYTES, i_vadd, ALLGRP) != 0) return 1;
    if (mpc_scatter(out, in, BYTES, 0, ALLGRP) != 0) return 1;
    if (mpc_gather(out, in, BYTES, 0, ALLGRP) != 0) return 1;
    if (mpc_concat(out, in, BYTES, ALLGRP) != 0) return 1;
    if (mpc_index(out, in, BYTES, ALLGRP) != 0) return 1;
    if (mpc_shift(out, in, BYTES, 1, 0, ALLGRP) != 0) return 1;
    return mpc_sync(ALLGRP) != 0;
}
