/* The calls that control output and interrupts, as far as they need no poe: without its daemon a
 * flush only flushes.
 *
 *   mpl_control QUERYINTR DELAY     the values that the environment sets
 */
#include <stdlib.h>

#include "mpl_test.h"

int main(int argc, char** argv) {
    int numtask = 0, taskid = 0, one = 1, option = 2, mode = -3, delay = 30;
    if (argc != 3) return 2;
    CHECK(mpc_environ(&numtask, &taskid) == 0);

    CHECK(mpc_queryintr() == atoi(argv[1]));
    CHECK(mpc_queryintrdelay() == atoi(argv[2]));
    CHECK(mpc_enableintr() == 0 && mpc_queryintr() == 1);
    CHECK(mp_disableintr() == 0 && mp_queryintr() == 0);
    CHECK(mp_enableintr() == 0 && mpc_queryintr() == 1);
    CHECK(mpc_disableintr() == 0 && mpc_queryintr() == 0);
    CHECK(mpc_setintrdelay(25) == 0 && mp_queryintrdelay() == 25);
    CHECK(mpc_setintrdelay(-1) == -1 && mperrno == 107);
    CHECK(mp_setintrdelay(&delay) == 0 && mpc_queryintrdelay() == 30);

    CHECK(mpc_flush(1) == 0 && mp_flush(&one) == 0);
    CHECK(mpc_flush(0) == -1 && mp_flush(&option) == -1 && mp_flush(NULL) == -1);
    CHECK(mpc_stdout_mode(STDIO_ORDERED) == 0 && mpc_stdout_mode(STDIO_UNORDERED) == 0);
    CHECK(mpc_stdout_mode(numtask - 1) == 0 && mpc_stdout_mode(numtask) == -1);
    CHECK(mp_stdout_mode(&taskid) == 0 && mp_stdout_mode(&mode) == -1);
    return 0;
}
