/* What poe_waits.py traces: tasks that wait for others in ways that are known. The argument says
 * how. */
#include <mpproto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONG (4 << 20)
#define ROUNDS 10

static void pause_ms(int ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static void receive(char* buffer, int from) {
    int source = from, type = 1;
    size_t bytes = 0;
    mpc_brecv(buffer, LONG, &source, &type, &bytes);
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    static char buffer[LONG];
    int tasks, me, i, other, id;
    size_t bytes;
    mpc_environ(&tasks, &me);
    mpc_sync(ALLGRP);
    for (i = 0; i < ROUNDS; ++i) {
        if (strcmp(how, "late") == 0) { /* a receiver that comes late */
            if (me == 0) mpc_bsend(buffer, LONG, 1, 1);
            if (me == 1) pause_ms(20), receive(buffer, 0);
        } else if (strcmp(how, "many") == 0) { /* many senders, one slow receiver */
            if (me > 0) mpc_bsend(buffer, LONG, 0, 1);
            for (other = 1; me == 0 && other < tasks; ++other)
                pause_ms(5), receive(buffer, DONTCARE);
        } else if (strcmp(how, "wait") == 0) { /* a send that does not block, waited for */
            if (me == 0) mpc_send(buffer, LONG, 1, 1, &id), pause_ms(2), mpc_wait(&id, &bytes);
            if (me == 1) pause_ms(20), receive(buffer, 0);
        } else if (strcmp(how, "ibcast") == 0) { /* a root that comes late */
            if (me == 0) pause_ms(20);
            mpc_ibcast(buffer, 64, 0, ALLGRP, &id);
            if (me != 0) pause_ms(2);
            mpc_collwait(&id);
            mpc_sync(ALLGRP);
        } else if (strcmp(how, "poll") == 0) { /* asking again and again */
            int source = 1, type = 1;
            if (me == 1) pause_ms(20), mpc_bsend(buffer, 64, 0, 1);
            if (me == 0 && i % 2 == 0) {
                mpc_recv(buffer, LONG, &source, &type, &id);
                while (mpc_status(id) < 0) continue;
                mpc_wait(&id, &bytes);
            } else if (me == 0) {
                do {
                    source = 1, type = 1;
                    mpc_probe(&source, &type, &bytes);
                } while (bytes == (size_t)-1);
                receive(buffer, 1);
            }
        }
    }
    mpc_sync(ALLGRP);
    return 0;
}
