/* A task of tests of the marker array: sets lights, text and progress, says "ready", and waits for
 * a line on standard input; then sets more, and ends as its first argument says: 0, a code,
 * "crash". */
#include <mp_marker.h>
#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "0";
    char line[100];
    int tasks, me;
    mpc_environ(&tasks, &me);
    snprintf(line, sizeof line, "task %d says größer", me);
    mpc_marker(me, 62, line);
    mpc_marker(0, 25, NULL);
    mpc_progress(me, 4);
    if (mpc_nlights() > 20) mpc_marker(20, 99, NULL);
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) return 9;
    mpc_marker(-1, 0, "the end");
    mpc_progress(4, 4);
    if (strcmp(how, "crash") == 0 && me == 1) abort();
    return atoi(how);
}
