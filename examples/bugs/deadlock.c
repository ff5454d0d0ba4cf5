/* A program with a mistake: it never ends. Find it with pdbx; poe-tutorial(7) shows how.
 *
 *   mpcc -g -O0 deadlock.c -o deadlock
 *   pdbx ./deadlock -procs 4
 *
 * Each task gives a number to its right neighbour and takes one from its left neighbour, so that every
 * number goes around the ring. */
#include <mpproto.h>
#include <stdio.h>

static int tasks, me;

static int from_left(void) {
    int value = -1, source = (me + tasks - 1) % tasks, type = 7;
    size_t received;
    mpc_brecv(&value, sizeof value, &source, &type, &received);
    return value;
}

static void to_right(int value) {
    mpc_bsend(&value, sizeof value, (me + 1) % tasks, 7);
}

int main(void) {
    int round, value;
    mpc_environ(&tasks, &me);
    value = me;
    for (round = 0; round < tasks; ++round) {
        int taken = from_left(); /* the mistake: every task receives before any has sent */
        to_right(value);
        value = taken;
    }
    printf("task %d has its number back: %d\n", me, value);
    return 0;
}
