/* mpl_dispatch: the integers that calls write, through every kind of pointer that programs pass.
 * Built as C90, C99, C11 and C++; one task is enough. The neighbours of the count must stay as they
 * were.
 */
#include "mpl_test.h"

#define TRY(kind)                                                                 \
    do {                                                                          \
        kind count[3];                                                            \
        int source = DONTCARE, type = DONTCARE;                                   \
        char in[8];                                                               \
        count[0] = count[1] = count[2] = (kind)0x77;                              \
        CHECK(mpc_bsend("hello", 5, me, 3) == 0);                                 \
        CHECK(mpc_brecv(in, sizeof in, &source, &type, &count[1]) == 0);          \
        CHECK(count[0] == (kind)0x77 && count[1] == 5 && count[2] == (kind)0x77); \
        memset(count, 0xff, sizeof count);                                        \
        CHECK(mpc_environ(&count[0], &count[1]) == 0);                            \
        CHECK(count[0] == 1 && count[1] == 0 && count[2] == (kind)-1);            \
        memset(count, 0xff, sizeof count);                                        \
        CHECK(mpc_task_query(count, 2, 3) == 0);                                  \
        CHECK(count[0] == (kind)DONTCARE && count[1] == (kind)ALLMSG);            \
        CHECK(count[2] == (kind)-1);                                              \
    } while (0)

int main(void) {
    int tasks, me;
    CHECK(mpc_environ(&tasks, &me) == 0);
    TRY(int);
    TRY(unsigned);
    TRY(long);
    TRY(unsigned long);
    TRY(size_t);
#if !defined(__STRICT_ANSI__) || defined(__cplusplus) || __STDC_VERSION__ >= 199901L
    TRY(long long);
    TRY(unsigned long long);
#endif
    {
        /* The name is still a function: its address can be taken. */
#ifdef __cplusplus
        int (*receive)(void*, size_t, int*, int*, size_t*) = mpc_brecv;
        size_t got = 0;
#else
        int (*receive)(void*, size_t, int*, int*, int*) = mpc_brecv;
        int got = 0;
#endif
        int source = me, type = 4;
        char in[4];
        CHECK(mpc_bsend("abc", 4, me, 4) == 0);
        CHECK(receive(in, sizeof in, &source, &type, &got) == 0 && got == 4);
    }
    return 0;
}
