/* mpl_unexpected: 10,000 messages that nobody has asked for, from every other task.
 *
 *   mpl_unexpected keep    they are all kept; the last one is received first, then the others
 * backwards mpl_unexpected flood   task 1 sends more than the buffer memory holds and has to wait,
 * while task 0 and task 2 go on as if nothing were; then all arrive in order */
#include <stdlib.h>
#include <string.h>

#include "mpl_test.h"

enum { MESSAGES = 10000, LAST = 1 << 20 };

static int tasks, me;

static int receive_int(int source, int type) {
    int value = -1;
    size_t got = 0;
    CHECK(mpc_brecv(&value, sizeof value, &source, &type, &got) == 0 && got == sizeof value);
    return value;
}

static void keep(void) {
    if (me != 0) {
        for (int i = 0; i < MESSAGES; ++i) CHECK(mpc_bsend(&i, sizeof i, 0, i) == 0);
        const int done = -me;
        CHECK(mpc_bsend(&done, sizeof done, 0, LAST) == 0);
        return;
    }
    for (int task = tasks - 1; task > 0; --task) CHECK(receive_int(task, LAST) == -task);
    for (int i = MESSAGES - 1; i >= 0; --i) {
        for (int task = 1; task < tasks; ++task) {
            CHECK(receive_int(i % 2 == 0 ? DONTCARE : task, i) == i);
        }
    }
}

static void flood(void) {
    static char block[1000];
    int other, type = 5, got;
    if (me == 1) {
        for (int i = 0; i < MESSAGES; ++i) {
            memcpy(block, &i, sizeof i);
            CHECK(mpc_bsend(block, sizeof block, 0, 1) == 0);
        }
    } else if (me == 2) {
        for (int i = 0; i < 2000; ++i) {
            CHECK(mpc_bsend(&i, sizeof i, 0, 5) == 0);
            other = 0;
            CHECK(mpc_brecv(block, sizeof block, &other, &type, &got) == 0);
        }
    } else if (me == 0) {
        for (int i = 0; i < 2000; ++i) {
            CHECK(receive_int(2, 5) == i);
            CHECK(mpc_bsend(&i, sizeof i, 2, 5) == 0);
        }
        for (int i = 0; i < MESSAGES; ++i) {
            int number = -1;
            other = 1, type = 1;
            CHECK(mpc_brecv(block, sizeof block, &other, &type, &got) == 0);
            memcpy(&number, block, sizeof number);
            CHECK(number == i && got == (int)sizeof block);
        }
    }
}

int main(int argc, char** argv) {
    CHECK(mpc_environ(&tasks, &me) == 0);
    CHECK(argc == 2 && tasks >= 2);
    if (strcmp(argv[1], "flood") == 0) {
        CHECK(tasks >= 3);
        flood();
    } else {
        keep();
    }
    CHECK(mpc_sync(ALLGRP) == 0);
    return 0;
}
