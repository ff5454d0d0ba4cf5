/* mpc_indexv with a constant pattern, for plans of vt -plan:   planned_index ROUNDS [CHANGED]
 * From round CHANGED on, task 1 sends five times as much to task 0. Every task checks all bytes. */
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostTasks = 16 };

static int length(int from, int to, int round, int changed) {
    if (from == to) return 10;
    const int usual = 5000 + 700 * from + 300 * to;
    return round >= changed && from == 1 && to == 0 ? 5 * usual : usual;
}

int main(int argc, char** argv) {
    int tasks = 0, task = 0;
    mpc_environ(&tasks, &task);
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    const int changed = argc > 2 ? atoi(argv[2]) : rounds;
    for (int round = 0; round < rounds; ++round) {
        int out[kMostTasks], in[kMostTasks], out_all = 0, in_all = 0;
        for (int r = 0; r < tasks; ++r) {
            out_all += out[r] = length(task, r, round, changed);
            in_all += in[r] = length(r, task, round, changed);
        }
        unsigned char* send = malloc((size_t)out_all);
        unsigned char* receive = malloc((size_t)in_all);
        for (int r = 0, at = 0; r < tasks; at += out[r++])
            for (int i = 0; i < out[r]; ++i)
                send[at + i] = (unsigned char)(i * 7 + task * 31 + r * 17 + round);
        if (mpc_indexv(send, out, receive, in, 0) != 0) return 1;
        for (int r = 0, at = 0; r < tasks; at += in[r++])
            for (int i = 0; i < in[r]; ++i)
                if (receive[at + i] != (unsigned char)(i * 7 + r * 31 + task * 17 + round)) {
                    fprintf(stderr, "round %d: byte %d from task %d is wrong\n", round, i, r);
                    return 2;
                }
        free(send);
        free(receive);
    }
    return 0;
}
