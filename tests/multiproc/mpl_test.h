/* What the C test programs share: a check that names its line and ends the whole job. */
#ifndef MPL_TEST_H
#define MPL_TEST_H

#include <mpproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            int numtask_ = 0, taskid_ = -1;                                                  \
            mpc_environ(&numtask_, &taskid_);                                                \
            fprintf(stderr, "%s:%d: task %d: failed: %s (mperrno %d)\n", __FILE__, __LINE__, \
                    taskid_, #condition, mperrno);                                           \
            mpc_stopall(1);                                                                  \
            abort(); /* is not reached */                                                    \
        }                                                                                    \
    } while (0)

#endif
