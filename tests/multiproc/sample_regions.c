/* A job of two tasks whose samples belong to regions that are known: alpha_work runs in region "alpha" only, beta_work in
   region "beta" only. Task 1 waits in mpc_brecv while task 0 is in both. Built with mpcc. */
#include <VT_trc.h>
#include <mpproto.h>
#include <stdlib.h>
#include <time.h>

static volatile double sink;

static double thread_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static inline __attribute__((always_inline)) void work_until(double end) {
    while (thread_ms() < end)
        for (int i = 1; i < 200000; ++i) sink += 1.0 / i;
}

__attribute__((noinline, noclone)) void alpha_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 1;
}
__attribute__((noinline, noclone)) void beta_work(double ms) {
    work_until(thread_ms() + ms);
    sink += 2;
}

int main(int argc, char** argv) {
    double const ms = argc > 1 ? atof(argv[1]) : 200;
    int tasks, me, source = 0, type = 7;
    size_t bytes;
    mpc_environ(&tasks, &me);
    if (me == 0) {
        vt_region_begin("alpha");
        alpha_work(ms);
        vt_region_end("alpha");
        vt_region_begin("beta");
        beta_work(ms);
        vt_region_end("beta");
        mpc_bsend(&me, sizeof me, 1, 7);
    } else {
        mpc_brecv(&me, sizeof me, &source, &type, &bytes);
    }
    return 0;
}
