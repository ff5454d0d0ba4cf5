/* mg: V-cycles of a multigrid method for the Poisson equation on a periodic cube.
 *
 * Run:   mpicc.poe -O2 mg.c -o mg -lm
 *        poe ./mg W -procs 4
 *
 * Kernel MG of "The NAS Parallel Benchmarks" (RNR-94-007): the right side is zero except at twenty
 * points, which random numbers choose: +1 at the ten largest, -1 at the ten smallest. The norm of the
 * residual after four cycles is known.
 *
 * The tasks form a periodic Cartesian grid, each with a block of every level and a frame of one point
 * around it. After each operation the faces are exchanged, one direction after the other, so that
 * edges and corners come along (types of MPI_Type_create_subarray). When the block of a task would be
 * thinner than two points, all tasks get the whole level (MPI_Allgather) and continue on their own,
 * because messages would take longer. */
#include "nas.h"

enum { CYCLES = 4, CHARGES = 10, MOST_LEVELS = 9 };
static const double kOperator[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const double kSmoother[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};

static const struct {
    int log_n;
    double norm;
} kClasses[NAS_CLASSES] = {
    {5, 0.5307707005734e-4}, {7, 0.6467329375339e-5}, {8, 0.2433365309069e-5}};

/* A level of this task: n[d] points in direction d (0 is z, 2 is x), stored with a frame. */
typedef struct {
    int n[3], parts[3];
    double *u, *r;
    MPI_Datatype face[3][4]; /* to send down, up; to receive from below, above */
} Level;

typedef struct {
    MPI_Comm comm;
    int parts[3], coords[3], below[3], above[3];
    int shared; /* levels below this index are whole in each task */
    Level levels[MOST_LEVELS];
    double* v;
} Grid;

static size_t points(const Level* l) {
    return (size_t)(l->n[0] + 2) * (size_t)(l->n[1] + 2) * (size_t)(l->n[2] + 2);
}

static size_t at(const Level* l, int z, int y, int x) {
    return ((size_t)z * (size_t)(l->n[1] + 2) + (size_t)y) * (size_t)(l->n[2] + 2) + (size_t)x;
}

/* A face across direction d: of all points that earlier exchanges have made complete. */
static void make_faces(Level* l) {
    int sizes[3] = {l->n[0] + 2, l->n[1] + 2, l->n[2] + 2};
    for (int d = 0; d < 3; ++d) {
        const int place[4] = {1, l->n[d], 0, l->n[d] + 1};
        for (int i = 0; i < 4; ++i) {
            int lengths[3], starts[3];
            for (int e = 0; e < 3; ++e) {
                lengths[e] = e > d ? sizes[e] : l->n[e];
                starts[e] = e > d ? 0 : 1;
            }
            lengths[d] = 1;
            starts[d] = place[i];
            MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, MPI_DOUBLE,
                                     &l->face[d][i]);
            MPI_Type_commit(&l->face[d][i]);
        }
    }
}

static void make_grid(Grid* g) {
    int periods[3] = {1, 1, 1};
    memset(g->parts, 0, sizeof g->parts);
    MPI_Dims_create(nas_tasks, 3, g->parts);
    MPI_Cart_create(MPI_COMM_WORLD, 3, g->parts, periods, 0, &g->comm);
    MPI_Cart_coords(g->comm, nas_me, 3, g->coords);
    for (int d = 0; d < 3; ++d) MPI_Cart_shift(g->comm, d, 1, &g->below[d], &g->above[d]);
    g->shared = 0;
    for (int level = kClasses[nas_class].log_n - 1; level >= 0; --level) {
        Level* l = &g->levels[level];
        const int n = 2 << level;
        int thinnest = n;
        for (int d = 0; d < 3; ++d)
            if (n / g->parts[d] < thinnest) thinnest = n / g->parts[d];
        if (thinnest < 2 && g->shared == 0) g->shared = level + 1;
        for (int d = 0; d < 3; ++d) {
            l->parts[d] = g->shared > 0 ? 1 : g->parts[d];
            l->n[d] = n / l->parts[d];
        }
        l->u = nas_memory(points(l), sizeof(double));
        l->r = nas_memory(points(l), sizeof(double));
        make_faces(l);
    }
    g->v = nas_memory(points(&g->levels[kClasses[nas_class].log_n - 1]), sizeof(double));
}

/* Fills the frame of a block from the neighbours, or from its own other side. */
static void exchange(const Grid* g, const Level* l, double* a) {
    for (int d = 2; d >= 0; --d) {
        if (l->parts[d] > 1) {
            MPI_Request requests[4];
            MPI_Irecv(a, 1, l->face[d][2], g->below[d], 2 * d, g->comm, &requests[0]);
            MPI_Irecv(a, 1, l->face[d][3], g->above[d], 2 * d + 1, g->comm, &requests[1]);
            MPI_Isend(a, 1, l->face[d][0], g->below[d], 2 * d + 1, g->comm, &requests[2]);
            MPI_Isend(a, 1, l->face[d][1], g->above[d], 2 * d, g->comm, &requests[3]);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
            continue;
        }
        int first[3], last[3];
        for (int e = 0; e < 3; ++e) {
            first[e] = e < d ? 1 : 0;
            last[e] = e < d ? l->n[e] : e > d ? l->n[e] + 1 : 0;
        }
        const size_t step = d == 0 ? at(l, 1, 0, 0) : d == 1 ? at(l, 0, 1, 0) : 1;
        const size_t n = (size_t)l->n[d];
        for (int z = first[0]; z <= last[0]; ++z)
            for (int y = first[1]; y <= last[1]; ++y)
                for (int x = first[2]; x <= last[2]; ++x) {
                    double* line = a + at(l, z, y, x);
                    line[0] = line[n * step];
                    line[(n + 1) * step] = line[step];
                }
    }
}

/* A stencil of 27 points by distance: w[0] the point itself, w[1] the 6 of the faces, w[2] the 12 of the
 * edges, w[3] the 8 corners. result = base + sign * stencil(a). */
static void apply(const Level* l, const double w[4], const double* a, const double* base,
                  double sign, double* result) {
    enum { LONGEST = 258 };
    double sides[LONGEST], edges[LONGEST];
    const double w0 = sign * w[0], w1 = sign * w[1], w2 = sign * w[2], w3 = sign * w[3];
    const int width = l->n[2] + 2;
    for (int z = 1; z <= l->n[0]; ++z)
        for (int y = 1; y <= l->n[1]; ++y) {
            const double *south = a + at(l, z, y - 1, 0), *north = a + at(l, z, y + 1, 0);
            const double *low = a + at(l, z - 1, y, 0), *high = a + at(l, z + 1, y, 0);
            const double *ls = a + at(l, z - 1, y - 1, 0), *ln = a + at(l, z - 1, y + 1, 0);
            const double *hs = a + at(l, z + 1, y - 1, 0), *hn = a + at(l, z + 1, y + 1, 0);
            const double *here = a + at(l, z, y, 0), *from = base + at(l, z, y, 0);
            double* to = result + at(l, z, y, 0);
            for (int x = 0; x < width; ++x) {
                sides[x] = south[x] + north[x] + low[x] + high[x];
                edges[x] = ls[x] + ln[x] + hs[x] + hn[x];
            }
            for (int x = 1; x < width - 1; ++x)
                to[x] = from[x] + w0 * here[x] + w1 * (here[x - 1] + here[x + 1] + sides[x]) +
                        w2 * (edges[x] + sides[x - 1] + sides[x + 1]) +
                        w3 * (edges[x - 1] + edges[x + 1]);
        }
}

/* r = v - A u. */
static void take_residual(const Grid* g, const Level* l, const double* v, double* r) {
    apply(l, kOperator, l->u, v, -1, r);
    exchange(g, l, r);
}

/* u += S r. */
static void smooth(const Grid* g, const Level* l) {
    apply(l, kSmoother, l->r, l->u, 1, l->u);
    exchange(g, l, l->u);
}

/* The residual of `fine` averaged with weights 1/2, 1/4, 1/8, 1/16, for the coarse points
 * from[d] + 1 ... from[d] + n[d] of a level of width w. */
static void restrict_to(const Level* fine, const Level* coarse, double* result) {
    const double* a = fine->r;
    for (int z = 1; z <= coarse->n[0]; ++z)
        for (int y = 1; y <= coarse->n[1]; ++y)
            for (int x = 1; x <= coarse->n[2]; ++x) {
                double sums[4] = {0, 0, 0, 0};
                for (int dz = -1; dz <= 1; ++dz)
                    for (int dy = -1; dy <= 1; ++dy) {
                        const double* line = a + at(fine, 2 * z + dz, 2 * y + dy, 2 * x);
                        const int distance = (dz != 0) + (dy != 0);
                        sums[distance] += line[0];
                        sums[distance + 1] += line[-1] + line[1];
                    }
                result[at(coarse, z, y, x)] =
                    0.5 * sums[0] + 0.25 * sums[1] + 0.125 * sums[2] + 0.0625 * sums[3];
            }
}

/* All tasks get the whole of a level from the parts `own`, which have the shape of `part`. */
static void gather(const Grid* g, const Level* part, const double* own, const Level* whole) {
    const size_t count = (size_t)part->n[0] * (size_t)part->n[1] * (size_t)part->n[2];
    double* packed = nas_memory(count, sizeof *packed);
    double* all = nas_memory(count * (size_t)nas_tasks, sizeof *all);
    size_t next = 0;
    for (int z = 1; z <= part->n[0]; ++z)
        for (int y = 1; y <= part->n[1]; ++y)
            for (int x = 1; x <= part->n[2]; ++x) packed[next++] = own[at(part, z, y, x)];
    MPI_Allgather(packed, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, g->comm);
    next = 0;
    for (int task = 0; task < nas_tasks; ++task) {
        int c[3];
        MPI_Cart_coords(g->comm, task, 3, c);
        for (int z = 1; z <= part->n[0]; ++z)
            for (int y = 1; y <= part->n[1]; ++y)
                for (int x = 1; x <= part->n[2]; ++x)
                    whole->r[at(whole, c[0] * part->n[0] + z, c[1] * part->n[1] + y,
                                c[2] * part->n[2] + x)] = all[next++];
    }
    free(packed), free(all);
}

/* The residual of a level to the next coarser one. */
static void go_down(const Grid* g, int level) {
    const Level *fine = &g->levels[level], *coarse = &g->levels[level - 1];
    if (level == g->shared) {
        Level part = *coarse;
        for (int d = 0; d < 3; ++d) part.n[d] = fine->n[d] / 2;
        double* own = nas_memory(points(&part), sizeof *own);
        restrict_to(fine, &part, own);
        gather(g, &part, own, coarse);
        free(own);
    } else {
        restrict_to(fine, coarse, coarse->r);
    }
    exchange(g, coarse, coarse->r);
}

/* Adds the coarse correction, interpolated linearly, to u of the next finer level. */
static void go_up(const Grid* g, int level) {
    const Level *fine = &g->levels[level], *coarse = &g->levels[level - 1];
    /* Where the block begins in the coarse level, if that is whole. */
    int from[3] = {0, 0, 0};
    for (int d = 0; d < 3 && level == g->shared; ++d) from[d] = g->coords[d] * (fine->n[d] / 2);
    for (int z = 1; z <= fine->n[0]; ++z)
        for (int y = 1; y <= fine->n[1]; ++y) {
            /* An even fine point lies on a coarse one, an odd one between two. */
            const int cz[2] = {from[0] + z / 2, from[0] + (z + 1) / 2};
            const int cy[2] = {from[1] + y / 2, from[1] + (y + 1) / 2};
            const double* lines[4];
            for (int i = 0; i < 4; ++i)
                lines[i] = coarse->u + at(coarse, cz[i / 2], cy[i % 2], from[2]);
            double* to = fine->u + at(fine, z, y, 0);
            double before = lines[0][0] + lines[1][0] + lines[2][0] + lines[3][0];
            for (int x = 1; x <= fine->n[2] / 2; ++x) {
                const double here = lines[0][x] + lines[1][x] + lines[2][x] + lines[3][x];
                to[2 * x - 1] += 0.125 * (before + here);
                to[2 * x] += 0.25 * here;
                before = here;
            }
        }
    exchange(g, fine, fine->u);
}

static void cycle(const Grid* g) {
    const int top = kClasses[nas_class].log_n - 1;
    for (int level = top; level > 0; --level) go_down(g, level);
    for (int level = 0; level < top; ++level) {
        const Level* l = &g->levels[level];
        memset(l->u, 0, points(l) * sizeof(double));
        if (level > 0) {
            go_up(g, level);
            take_residual(g, l, l->r, l->r);
        }
        smooth(g, l);
    }
    const Level* finest = &g->levels[top];
    go_up(g, top);
    take_residual(g, finest, g->v, finest->r);
    smooth(g, finest);
    take_residual(g, finest, g->v, finest->r);
}

typedef struct {
    double value;
    uint64_t place;
} Candidate;

static int by_value(const void* a, const void* b) {
    const Candidate *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Keeps the largest `value`s in the sorted list. */
static void consider(Candidate* list, double value, uint64_t place) {
    if (value <= list[0].value) return;
    int i = 0;
    for (; i + 1 < CHARGES && list[i + 1].value < value; ++i) list[i] = list[i + 1];
    list[i] = (Candidate){value, place};
}

/* v at the places of the ten largest of all tasks becomes `charge`. */
static void place_charges(const Grid* g, const Level* l, const Candidate* own, double charge) {
    Candidate all[16 * CHARGES];
    MPI_Allgather(own, CHARGES * (int)sizeof *own, MPI_BYTE, all, CHARGES * (int)sizeof *own,
                  MPI_BYTE, g->comm);
    qsort(all, (size_t)nas_tasks * CHARGES, sizeof *all, by_value);
    const uint64_t n = UINT64_C(1) << kClasses[nas_class].log_n;
    for (int i = (nas_tasks - 1) * CHARGES; i < nas_tasks * CHARGES; ++i) {
        const int z = (int)(all[i].place / (n * n)) - g->coords[0] * l->n[0];
        const int y = (int)(all[i].place / n % n) - g->coords[1] * l->n[1];
        const int x = (int)(all[i].place % n) - g->coords[2] * l->n[2];
        if (z >= 0 && z < l->n[0] && y >= 0 && y < l->n[1] && x >= 0 && x < l->n[2])
            g->v[at(l, z + 1, y + 1, x + 1)] = charge;
    }
}

static void make_right_side(const Grid* g, const Level* l) {
    const uint64_t n = UINT64_C(1) << kClasses[nas_class].log_n;
    Candidate largest[CHARGES], smallest[CHARGES];
    for (int i = 0; i < CHARGES; ++i) largest[i] = smallest[i] = (Candidate){-2, 0};
    for (int z = 0; z < l->n[0]; ++z)
        for (int y = 0; y < l->n[1]; ++y) {
            const uint64_t place = ((uint64_t)(g->coords[0] * l->n[0] + z) * n +
                                    (uint64_t)(g->coords[1] * l->n[1] + y)) *
                                       n +
                                   (uint64_t)(g->coords[2] * l->n[2]);
            uint64_t state = nas_skip(NAS_SEED, place);
            for (int x = 0; x < l->n[2]; ++x) {
                const double value = nas_random(&state);
                consider(largest, value, place + (uint64_t)x);
                consider(smallest, -value, place + (uint64_t)x);
            }
        }
    place_charges(g, l, largest, 1);
    place_charges(g, l, smallest, -1);
    exchange(g, l, g->v);
}

static double norm_of(const Grid* g, const Level* l) {
    double own = 0, all;
    for (int z = 1; z <= l->n[0]; ++z)
        for (int y = 1; y <= l->n[1]; ++y)
            for (int x = 1; x <= l->n[2]; ++x) own += l->r[at(l, z, y, x)] * l->r[at(l, z, y, x)];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    return sqrt(all / pow(8, kClasses[nas_class].log_n));
}

int main(int argc, char** argv) {
    nas_begin(&argc, &argv, "MG");
    Grid g;
    make_grid(&g);
    const int levels = kClasses[nas_class].log_n;
    const Level* finest = &g.levels[levels - 1];
    make_right_side(&g, finest);

    const double start = nas_start();
    take_residual(&g, finest, g.v, finest->r);
    for (int i = 0; i < CYCLES; ++i) cycle(&g);
    const double norm = norm_of(&g, finest);
    char wrong[100] = "";
    if (!nas_equal(norm, kClasses[nas_class].norm, 1e-8))
        snprintf(wrong, sizeof wrong, "the norm is %.13e, not %.13e", norm,
                 kClasses[nas_class].norm);
    for (int i = 0; i < levels; ++i) {
        free(g.levels[i].u), free(g.levels[i].r);
        for (int d = 0; d < 12; ++d) MPI_Type_free(&g.levels[i].face[d / 4][d % 4]);
    }
    free(g.v);
    MPI_Comm_free(&g.comm);
    /* About 58 operations for each point of the finest level in a cycle. */
    return nas_end("MG", start, 58.0 * CYCLES * pow(8, kClasses[nas_class].log_n), wrong);
}
