/* solver: the program of poe-tutorial(7). The tasks form a ring; in each round a task computes,
 * sends its edge to the right and receives that of its left neighbour. Task 2 has three times the
 * work of the others, and all wait for it.
 *
 * Run:   poe ./solver -procs 4 -tracelevel 9 -tracefile ring.trc        and look at ring.trc with
 * vt poe ./solver even -procs 4 -tracelevel 9 -tracefile even.trc   the same work for all
 */
#include <VT_trc.h>
#include <mpproto.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 12, SLOW_TASK = 2, EDGE_TYPE = 5 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* As many milliseconds of work as the part of the problem is large. */
static void solve(double milliseconds) {
    const double end = seconds() + 1e-3 * milliseconds;
    volatile double sum = 0;
    vt_region_begin("solve");
    while (seconds() < end) sum = sum + 1;
    vt_region_end("solve");
}

static void stop(const char* call) {
    fprintf(stderr, "solver: %s failed (0032-%d)\n", call, mperrno);
    mpc_stopall(1);
}

int main(int count, char** words) {
    static char edge[64 << 10];
    const int even = count > 1 && strcmp(words[1], "even") == 0;
    int tasks = 0;
    int me = 0;
    if (mpc_environ(&tasks, &me) != 0) stop("mpc_environ");
    const int right = (me + 1) % tasks;
    const int left = (me + tasks - 1) % tasks;
    /* The sum of all parts is the same, whoever has them. */
    const double slow = tasks > SLOW_TASK ? 3 : 1;
    const double part = even ? (tasks - 1 + slow) / tasks : me == SLOW_TASK ? slow : 1;

    for (int round = 0; round < ROUNDS; ++round) {
        int from = left;
        int type = EDGE_TYPE;
        size_t bytes = 0;
        solve(part);
        if (mpc_bsend(edge, sizeof edge, right, EDGE_TYPE) != 0) stop("mpc_bsend");
        if (mpc_brecv(edge, sizeof edge, &from, &type, &bytes) != 0) stop("mpc_brecv");
    }
    if (me == 0) printf("%d rounds\n", ROUNDS);
    return 0;
}
