/* ft: a partial differential equation in three dimensions by the fast Fourier transform.
 *
 * Run:   mpicc.poe -O2 ft.c -o ft -lm
 *        poe ./ft W -procs 4
 *
 * Kernel FT of "The NAS Parallel Benchmarks" (RNR-94-007): random data is transformed once; then for
 * each time step t every coefficient is multiplied by exp(-4 pi^2 alpha t k^2), transformed back, and
 * a checksum of 1024 elements is taken. The checksums are known.
 *
 * In space the tasks divide the array into slabs of planes z, stored [z][y][x]; in frequency into
 * slabs of rows y, stored [y][z][x]. MPI_Alltoall changes one into the other. */
#include <complex.h>

#include "nas.h"

enum { STEPS = 6, BATCH = 16, LONGEST = 256, CHECKED = 1024 };
static const double kPi = 3.14159265358979323846;
static const double kAlpha = 1e-6;
typedef double complex Complex;

static const struct {
    int nx, ny, nz;
    double checksums[STEPS][2];
} kClasses[NAS_CLASSES] = {{64,
                            64,
                            64,
                            {{5.546087004964e+02, 4.845363331978e+02},
                             {5.546385409189e+02, 4.865304269511e+02},
                             {5.546148406171e+02, 4.883910722336e+02},
                             {5.545423607415e+02, 4.901273169046e+02},
                             {5.544255039624e+02, 4.917475857993e+02},
                             {5.542683411902e+02, 4.932597244941e+02}}},
                           {128,
                            128,
                            32,
                            {{5.673612178944e+02, 5.293246849175e+02},
                             {5.631436885271e+02, 5.282149986629e+02},
                             {5.594024089970e+02, 5.270996558037e+02},
                             {5.560698047020e+02, 5.260027904925e+02},
                             {5.530898991250e+02, 5.249400845633e+02},
                             {5.504159734538e+02, 5.239212247086e+02}}},
                           {256,
                            256,
                            128,
                            {{5.046735008193e+02, 5.114047905510e+02},
                             {5.059412319734e+02, 5.098809666433e+02},
                             {5.069376896287e+02, 5.098144042213e+02},
                             {5.077892868474e+02, 5.101336130759e+02},
                             {5.085233095391e+02, 5.104914655194e+02},
                             {5.091487099959e+02, 5.107917842803e+02}}}};

typedef struct {
    int nx, ny, nz;
    int planes, first_plane; /* of the slab in space */
    int rows, first_row;     /* of the slab in frequency */
    Complex* roots;          /* exp(2 pi i k / LONGEST) */
    Complex *packed, *arrived;
} Grid;

static size_t points(const Grid* g) {
    return (size_t)g->nx * (size_t)g->ny * (size_t)g->planes;
}

/* BATCH transforms of length n at once, without scaling; element k of transform b is a[k * BATCH + b].
 * The method of Stockham: the result is in order without a permutation. Returns where the result is,
 * a or b, which has the same size. */
static Complex* transform(const Grid* g, Complex* a, Complex* b, int n, int backwards) {
    for (int length = n, stride = BATCH; length > 1; length /= 2, stride *= 2) {
        const int half = length / 2;
        for (int p = 0; p < half; ++p) {
            const Complex root = g->roots[p * (LONGEST / length)];
            const double wr = creal(root), wi = backwards ? cimag(root) : -cimag(root);
            const double* from = (const double*)(a + (size_t)stride * (size_t)p);
            const double* other = (const double*)(a + (size_t)stride * (size_t)(p + half));
            double* sum = (double*)(b + (size_t)stride * (size_t)(2 * p));
            double* difference = (double*)(b + (size_t)stride * (size_t)(2 * p + 1));
            for (int q = 0; q < 2 * stride; q += 2) {
                const double re = from[q] - other[q], im = from[q + 1] - other[q + 1];
                sum[q] = from[q] + other[q];
                sum[q + 1] = from[q + 1] + other[q + 1];
                difference[q] = wr * re - wi * im;
                difference[q + 1] = wr * im + wi * re;
            }
        }
        Complex* swapped = a;
        a = b;
        b = swapped;
    }
    return a;
}

/* Transforms n elements of `lines` lines; element k of line l is data[k * along + l * across]. */
static void transform_lines(const Grid* g, Complex* data, int n, size_t along, int lines,
                            size_t across, int backwards) {
    static Complex a[LONGEST * BATCH], b[LONGEST * BATCH];
    for (int line = 0; line < lines; line += BATCH) {
        Complex* first = data + (size_t)line * across;
        for (int k = 0; k < n; ++k)
            for (int l = 0; l < BATCH; ++l)
                a[k * BATCH + l] = first[(size_t)k * along + (size_t)l * across];
        const Complex* result = transform(g, a, b, n, backwards);
        for (int k = 0; k < n; ++k)
            for (int l = 0; l < BATCH; ++l)
                first[(size_t)k * along + (size_t)l * across] = result[k * BATCH + l];
    }
}

/* x and y, in space. */
static void transform_planes(const Grid* g, Complex* space, int backwards) {
    for (int z = 0; z < g->planes; ++z) {
        Complex* plane = space + (size_t)z * (size_t)g->nx * (size_t)g->ny;
        transform_lines(g, plane, g->nx, 1, g->ny, (size_t)g->nx, backwards);
        transform_lines(g, plane, g->ny, (size_t)g->nx, g->nx, 1, backwards);
    }
}

/* z, in frequency. */
static void transform_depth(const Grid* g, Complex* frequency, int backwards) {
    for (int y = 0; y < g->rows; ++y)
        transform_lines(g, frequency + (size_t)y * (size_t)g->nx * (size_t)g->nz, g->nz,
                        (size_t)g->nx, g->nx, 1, backwards);
}

/* The line of nx elements at row y (of those of the slab of `task`) and plane z (of the own slab) in
 * the memory for messages: blocks by task, each [row][plane]. */
static Complex* packed_line(const Grid* g, Complex* memory, int task, int row, int plane) {
    return memory +
           ((size_t)(task * g->rows + row) * (size_t)g->planes + (size_t)plane) * (size_t)g->nx;
}

static void all_to_all(const Grid* g) {
    const int doubles = 2 * g->nx * g->rows * g->planes;
    MPI_Alltoall(g->packed, doubles, MPI_DOUBLE, g->arrived, doubles, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void to_frequency(const Grid* g, const Complex* space, Complex* frequency) {
    const size_t line = (size_t)g->nx * sizeof(Complex);
    for (int z = 0; z < g->planes; ++z)
        for (int y = 0; y < g->ny; ++y)
            memcpy(packed_line(g, g->packed, y / g->rows, y % g->rows, z),
                   space + ((size_t)z * (size_t)g->ny + (size_t)y) * (size_t)g->nx, line);
    all_to_all(g);
    for (int y = 0; y < g->rows; ++y)
        for (int z = 0; z < g->nz; ++z)
            memcpy(frequency + ((size_t)y * (size_t)g->nz + (size_t)z) * (size_t)g->nx,
                   packed_line(g, g->arrived, z / g->planes, y, z % g->planes), line);
}

static void to_space(const Grid* g, const Complex* frequency, Complex* space) {
    const size_t line = (size_t)g->nx * sizeof(Complex);
    for (int y = 0; y < g->rows; ++y)
        for (int z = 0; z < g->nz; ++z)
            memcpy(packed_line(g, g->packed, z / g->planes, y, z % g->planes),
                   frequency + ((size_t)y * (size_t)g->nz + (size_t)z) * (size_t)g->nx, line);
    all_to_all(g);
    for (int z = 0; z < g->planes; ++z)
        for (int y = 0; y < g->ny; ++y)
            memcpy(space + ((size_t)z * (size_t)g->ny + (size_t)y) * (size_t)g->nx,
                   packed_line(g, g->arrived, y / g->rows, y % g->rows, z), line);
}

static void make_grid(Grid* g) {
    g->nx = kClasses[nas_class].nx;
    g->ny = kClasses[nas_class].ny;
    g->nz = kClasses[nas_class].nz;
    g->planes = g->nz / nas_tasks;
    g->first_plane = g->planes * nas_me;
    g->rows = g->ny / nas_tasks;
    g->first_row = g->rows * nas_me;
    g->roots = nas_memory(LONGEST, sizeof(Complex));
    for (int k = 0; k < LONGEST; ++k)
        g->roots[k] = cos(2 * kPi * k / LONGEST) + I * sin(2 * kPi * k / LONGEST);
    g->packed = nas_memory(points(g), sizeof(Complex));
    g->arrived = nas_memory(points(g), sizeof(Complex));
}

static void fill(const Grid* g, Complex* space) {
    uint64_t state = nas_skip(NAS_SEED, 2 * points(g) * (uint64_t)nas_me);
    for (size_t i = 0; i < points(g); ++i) {
        const double re = nas_random(&state), im = nas_random(&state);
        space[i] = re + I * im;
    }
}

/* The factors of one dimension for one time step, by index. */
static double* make_factors(int n) {
    double* factors = nas_memory((size_t)n, sizeof *factors);
    for (int i = 0; i < n; ++i) {
        const double k = i < n / 2 ? i : i - n;
        factors[i] = exp(-4 * kPi * kPi * kAlpha * k * k);
    }
    return factors;
}

/* frequency *= the factors of one time step; result = frequency. */
static void evolve(const Grid* g, double* const factors[3], Complex* frequency, Complex* result) {
    for (int y = 0; y < g->rows; ++y)
        for (int z = 0; z < g->nz; ++z) {
            const double factor = factors[1][g->first_row + y] * factors[2][z];
            const size_t first = ((size_t)y * (size_t)g->nz + (size_t)z) * (size_t)g->nx;
            for (int x = 0; x < g->nx; ++x) {
                frequency[first + (size_t)x] *= factor * factors[0][x];
                result[first + (size_t)x] = frequency[first + (size_t)x];
            }
        }
}

static void take_checksum(const Grid* g, const Complex* space, double* sum) {
    double own[2] = {0, 0};
    for (int j = 1; j <= CHECKED; ++j) {
        const int x = j % g->nx, y = 3 * j % g->ny, z = 5 * j % g->nz - g->first_plane;
        if (z < 0 || z >= g->planes) continue;
        const Complex value =
            space[((size_t)z * (size_t)g->ny + (size_t)y) * (size_t)g->nx + (size_t)x];
        own[0] += creal(value);
        own[1] += cimag(value);
    }
    MPI_Allreduce(own, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double all = (double)g->nx * g->ny * g->nz;
    sum[0] /= all;
    sum[1] /= all;
}

int main(int argc, char** argv) {
    nas_begin(&argc, &argv, "FT");
    Grid g;
    make_grid(&g);
    Complex* space = nas_memory(points(&g), sizeof *space);
    Complex* frequency = nas_memory(points(&g), sizeof *frequency);
    Complex* evolved = nas_memory(points(&g), sizeof *evolved);
    double* const factors[3] = {make_factors(g.nx), make_factors(g.ny), make_factors(g.nz)};
    char wrong[200] = "";

    const double start = nas_start();
    fill(&g, space);
    transform_planes(&g, space, 0);
    to_frequency(&g, space, frequency);
    transform_depth(&g, frequency, 0);
    for (int step = 0; step < STEPS; ++step) {
        evolve(&g, factors, frequency, evolved);
        transform_depth(&g, evolved, 1);
        to_space(&g, evolved, space);
        transform_planes(&g, space, 1);
        double sum[2];
        take_checksum(&g, space, sum);
        const double* expected = kClasses[nas_class].checksums[step];
        if (!nas_equal(sum[0], expected[0], 1e-12) || !nas_equal(sum[1], expected[1], 1e-12))
            snprintf(wrong, sizeof wrong,
                     "the checksum of step %d is (%.12e, %.12e), not (%.12e, %.12e)", step + 1,
                     sum[0], sum[1], expected[0], expected[1]);
    }
    const double all = (double)g.nx * g.ny * g.nz;
    /* 5 N log2 N for each transform, and 10 N for each step. */
    const double operations = all * ((STEPS + 1) * 5 * log2(all) + STEPS * 10);
    const int status = nas_end("FT", start, operations, wrong);
    for (int i = 0; i < 3; ++i) free(factors[i]);
    free(space), free(frequency), free(evolved), free(g.roots), free(g.packed), free(g.arrived);
    return status;
}
