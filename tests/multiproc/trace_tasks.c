/* What poe_trace.py records: messages of known numbers, collective calls, regions, counters. With
 * "forever" the tasks go on until they are told to end. */
#include <VT_trc.h>
#include <mp_marker.h>
#include <mpproto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t enough = 0;

static void stop(int signal) {
    (void)signal;
    enough = 1;
}

static void round_trip(int me, int tasks, int number) {
    int source = (me + tasks - 1) % tasks;
    size_t got = 0;
    int value = 0;
    vt_region_begin("round");
    mpc_bsendrecv(&number, sizeof number, (me + 1) % tasks, 7, &value, sizeof value, &source, &got);
    vt_counter("value", value);
    vt_region_end("round");
}

int main(int argc, char** argv) {
    int tasks, me, i, id;
    int sum = 0;
    const char* what = argc > 1 ? argv[1] : "";
    signal(SIGUSR1, stop);
    mpc_environ(&tasks, &me);
    if (strcmp(what, "forever") == 0) {
        for (i = 0; sum == 0; ++i) {
            int mine = enough;
            round_trip(me, tasks, i);
            mpc_combine(&mine, &sum, sizeof sum, i_vadd, ALLGRP);
            if (i == 100 && me == 0) puts("going"), fflush(stdout);
        }
        _exit(0);
    }
    if (strcmp(what, "fork") == 0 && fork() == 0) {
        vt_region_begin("child");
        _exit(0);
    }
    if (strcmp(what, "part") == 0) VT_trc_stop_c();
    for (i = 0; i < 10; ++i) round_trip(me, tasks, i);
    if (strcmp(what, "part") == 0) VT_trc_start_c(0);
    mpc_marker(1, 50, "a text that is longer than one record");
    mpc_progress(3, 10);
    mpc_combine(&me, &sum, sizeof sum, i_vadd, ALLGRP);
    mpc_sync(ALLGRP);
    if (me == 0) {
        char* large = calloc(1, 3000000);
        mpc_send(large, 3000000, 1 % tasks, 9, &id);
        if (tasks == 1) {
            int s = 0, t = 9;
            mpc_brecv(large, 3000000, &s, &t, &sum);
        }
        mpc_wait(&id, &i);
        free(large);
    } else if (me == 1) {
        char* large = malloc(3000000);
        int s = DONTCARE, t = 9;
        mpc_recv(large, 3000000, &s, &t, &id);
        mpc_wait(&id, &i);
        free(large);
    }
    if (strcmp(what, "kill") == 0 && me == tasks - 1) raise(SIGKILL);
    while (wait(NULL) > 0) continue;
    return 0;
}
