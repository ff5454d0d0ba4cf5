/* ep: Gaussian deviates by the acceptance-rejection method of Marsaglia, and how many fall into each
 * of ten square annuli. The tasks communicate only at the end: one MPI_Allreduce of their sums.
 *
 * Run:   mpicc.poe -O2 ep.c -o ep -lm
 *        poe ./ep W -procs 4
 *
 * Kernel EP of "The NAS Parallel Benchmarks" (RNR-94-007): 2^24 (class S), 2^25 (W) or 2^28 (A) pairs
 * of random numbers (x, y) in (-1, 1); of those with t = x^2 + y^2 <= 1, X = x sqrt(-2 ln t / t) and
 * Y alike. The sums of all X and of all Y are known. */
#include "nas.h"

enum { ANNULI = 10, SUMS = ANNULI + 2, BLOCK = 1 << 16 };

static const struct {
    int log_pairs;
    double sum_x, sum_y;
} kClasses[NAS_CLASSES] = {{24, -3.247834652034740e3, -6.958407078382297e3},
                           {25, -2.863319731645753e3, -6.320053679109499e3},
                           {28, -4.295875165629892e3, -1.580732573678431e4}};

/* Adds the deviates of a block of pairs: sums[annulus] counts, the last two are the sums. */
static void add_block(long block, double* sums) {
    uint64_t state = nas_skip(UINT64_C(271828183), (uint64_t)block * 2 * BLOCK);
    for (int pair = 0; pair < BLOCK; ++pair) {
        const double x = 2 * nas_random(&state) - 1, y = 2 * nas_random(&state) - 1;
        const double t = x * x + y * y;
        if (t > 1) continue;
        const double factor = sqrt(-2 * log(t) / t), gx = x * factor, gy = y * factor;
        sums[(int)fmax(fabs(gx), fabs(gy))] += 1;
        sums[ANNULI] += gx;
        sums[ANNULI + 1] += gy;
    }
}

int main(int argc, char** argv) {
    nas_begin(&argc, &argv, "EP");
    const long blocks = (1L << kClasses[nas_class].log_pairs) / BLOCK;
    double own[SUMS] = {0}, all[SUMS];
    const double start = nas_start();
    for (long block = nas_me; block < blocks; block += nas_tasks) add_block(block, own);
    MPI_Allreduce(own, all, SUMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    char wrong[200] = "";
    if (!nas_equal(all[ANNULI], kClasses[nas_class].sum_x, 1e-8) ||
        !nas_equal(all[ANNULI + 1], kClasses[nas_class].sum_y, 1e-8))
        snprintf(wrong, sizeof wrong, "the sums are %.15e and %.15e, not %.15e and %.15e",
                 all[ANNULI], all[ANNULI + 1], kClasses[nas_class].sum_x,
                 kClasses[nas_class].sum_y);
    return nas_end("EP", start, 2.0 * BLOCK * (double)blocks, wrong);
}
