/* Tasks that write and flush under poe; poe_flush.py knows what must come out.
 *
 *   mpl_flush MODE...     each word is done by all tasks, in order:
 *     say     one line, with task and step         half    a line without an end
 *     flush   mpc_flush(1)                         much    200 KB of lines
 *     ordered unordered zero last   mpc_stdout_mode
 *     differ  each task asks for its own output: refused in all
 *     leave   the last task ends                   close   the last task closes its output
 *     busy    all send to task 0, which has posted its receives, long messages, then flush
 *     syserr  a line on standard error
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpl_test.h"

enum { kLong = 300000 };

static int tasks, me;

static void busy(void) {
    static char out[kLong];
    char* in = calloc((size_t)tasks, kLong);
    int all = ALLMSG, i, id;
    size_t bytes;
    static int source[64], type[64];
    if (me == 0) {
        for (i = 1; i < tasks; ++i) {
            source[i] = i;
            type[i] = 5;
            CHECK(mpc_recv(in + (size_t)i * kLong, kLong, &source[i], &type[i], &id) == 0);
        }
        CHECK(mpc_flush(1) == 0);
        if (tasks > 1) CHECK(mpc_wait(&all, &bytes) == 0);
        for (i = 1; i < tasks; ++i) CHECK(in[(size_t)i * kLong + kLong - 1] == (char)i);
    } else {
        memset(out, me, sizeof out);
        CHECK(mpc_bsend(out, sizeof out, 0, 5) == 0);
        CHECK(mpc_flush(1) == 0);
    }
    free(in);
}

static void much(int step) {
    int i;
    for (i = 0; i < 5000; ++i) printf("task %d step %d line %-20d\n", me, step, i);
}

int main(int argc, char** argv) {
    int step;
    CHECK(mpc_environ(&tasks, &me) == 0);
    for (step = 1; step < argc; ++step) {
        const char* word = argv[step];
        if (strcmp(word, "say") == 0) {
            printf("task %d step %d\n", me, step);
        } else if (strcmp(word, "half") == 0) {
            printf("half %d;", me);
        } else if (strcmp(word, "much") == 0) {
            much(step);
        } else if (strcmp(word, "flush") == 0) {
            CHECK(mpc_flush(1) == 0);
        } else if (strcmp(word, "ordered") == 0) {
            CHECK(mpc_stdout_mode(STDIO_ORDERED) == 0);
        } else if (strcmp(word, "unordered") == 0) {
            CHECK(mpc_stdout_mode(STDIO_UNORDERED) == 0);
        } else if (strcmp(word, "zero") == 0) {
            CHECK(mpc_stdout_mode(0) == 0);
        } else if (strcmp(word, "last") == 0) {
            CHECK(mpc_stdout_mode(tasks - 1) == 0);
        } else if (strcmp(word, "differ") == 0) {
            CHECK(tasks > 1);
            mperrno = 0;
            CHECK(mpc_stdout_mode(me) == -1 && mperrno == 117);
        } else if (strcmp(word, "busy") == 0) {
            busy();
        } else if (strcmp(word, "syserr") == 0) {
            fprintf(stderr, "error %d\n", me);
        } else if (strcmp(word, "leave") == 0) {
            if (me == tasks - 1) return 0;
        } else if (strcmp(word, "close") == 0) {
            fflush(stdout);
            if (me == tasks - 1) close(1);
        } else {
            CHECK(!"a word that it knows");
        }
    }
    return 0;
}
