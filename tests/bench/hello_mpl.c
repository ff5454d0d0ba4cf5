/* The smallest job with communication: all tasks meet once. */
#include <mpproto.h>
#include <stdio.h>

int main(void) {
    int tasks = 0, task = 0;
    if (mpc_environ(&tasks, &task) != 0 || mpc_sync(ALLGRP) != 0) return 1;
    printf("hello from %d of %d\n", task, tasks);
    return 0;
}
