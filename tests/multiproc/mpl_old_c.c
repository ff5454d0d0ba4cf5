/* mpl_old_c: a program of 1990, without the header: no prototypes, int literals, by-reference
 * calls. */
#include <stdio.h>
#include <stdlib.h>

extern int mperrno;

main() {
    int tasks, me, source, type, nbytes[2], constants[4], dontcare;
    char in[8];
    nbytes[1] = 1234;
    mpc_environ(&tasks, &me);
    mpc_task_query(constants, 4, 3);
    dontcare = constants[0];
    if (mpc_bsend("1990", 5, (me + 1) % tasks, 32768) != 0) exit(1);
    source = dontcare;
    type = 32768;
    if (mpc_brecv(in, 8, &source, &type, nbytes) != 0) exit(2);
    if (nbytes[0] != 5 || nbytes[1] != 1234 || in[3] != '0') exit(3);
    mpc_sync(constants[3]);
    if (mpc_bsend(in, 1, 9999, 1) != -1 || mperrno != 104) exit(4);
    mp_sync(&constants[3]);
    exit(0);
}
