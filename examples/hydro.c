/* hydro: the flow of a gas in two dimensions (the compressible Euler equations) in a box, with MPI.
 *
 * Run:   mpicc.poe -O2 hydro.c -o hydro -lm
 *        poe ./hydro -procs 4                    Sod's shock tube on 200 x 50 cells
 *        poe ./hydro sod 800 200 -procs 8        800 x 200 cells
 *        poe ./hydro blast 256 256 -procs 4      hot gas in a corner of a periodic box
 *
 * sod: gas at rest, dense on the left and thin on the right, in a box with walls. At time 0.2 the
 * density is compared with the exact solution of this Riemann problem. blast: a disc of hot gas in a
 * box that continues periodically. In both, mass and energy must stay what they were, to rounding.
 * Prints a line that ends with "verified" or says what is wrong; the exit status is 1 if it is.
 *
 * The method of Godunov in the form MUSCL-Hancock: in each cell the state has a limited slope and is
 * advanced by half a time step; the fluxes between cells come from the Riemann solver HLLC. A step
 * consists of two sweeps, along x and along y, in alternating order. The tasks form a Cartesian grid;
 * each has a block with a frame of two cells, which is exchanged before a sweep (the type of a face
 * comes from MPI_Type_create_subarray), and MPI_Allreduce finds the largest time step. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 2, FIELDS = 4, Y = 0, X = 1 };
static const double kGamma = 1.4, kCourant = 0.45;

/* Density, momentum in x and in y, energy; of a volume. */
typedef struct {
    double q[FIELDS];
} State;

typedef struct {
    double density, along, across, pressure; /* velocities along the sweep and across it */
} Gas;

typedef struct {
    MPI_Comm comm;
    int tasks, me, dims[2], coords[2], before[2], after[2];
    int all[2], n[2], first[2]; /* cells of the box; of the block, and where it begins */
    MPI_Datatype face[2][4];    /* to send to before, after; to receive from before, after */
    int walls;
    double cell; /* its width */
    State *now, *fluxes;
} Box;

static size_t at(const Box* b, int y, int x) {
    return (size_t)(y + FRAME) * (size_t)(b->n[X] + 2 * FRAME) + (size_t)(x + FRAME);
}

static Gas gas_of(const State* s, int direction) {
    const int along = direction == X ? 1 : 2;
    Gas g = {s->q[0], s->q[along] / s->q[0], s->q[3 - along] / s->q[0], 0};
    g.pressure =
        (kGamma - 1) * (s->q[3] - 0.5 * g.density * (g.along * g.along + g.across * g.across));
    return g;
}

static State state_of(const Gas* g, int direction) {
    const int along = direction == X ? 1 : 2;
    State s;
    s.q[0] = g->density;
    s.q[along] = g->density * g->along;
    s.q[3 - along] = g->density * g->across;
    s.q[3] = g->pressure / (kGamma - 1) +
             0.5 * g->density * (g->along * g->along + g->across * g->across);
    return s;
}

static State flux_of(const Gas* g, int direction) {
    State s = state_of(g, direction);
    for (int f = 0; f < FIELDS; ++f) s.q[f] *= g->along;
    s.q[direction == X ? 1 : 2] += g->pressure;
    s.q[3] += g->pressure * g->along;
    return s;
}

static double sound(const Gas* g) {
    return sqrt(kGamma * g->pressure / g->density);
}

/* The flux between two states by HLLC: three waves, of which the middle one is the contact. */
static State flux_between(const Gas* l, const Gas* r, int direction) {
    const double cl = sound(l), cr = sound(r);
    const double sl = fmin(l->along - cl, r->along - cr), sr = fmax(l->along + cl, r->along + cr);
    if (sl >= 0) return flux_of(l, direction);
    if (sr <= 0) return flux_of(r, direction);
    const double ml = l->density * (sl - l->along), mr = r->density * (sr - r->along);
    const double middle = (r->pressure - l->pressure + ml * l->along - mr * r->along) / (ml - mr);
    const Gas* side = middle >= 0 ? l : r;
    const double wave = middle >= 0 ? sl : sr, mass = middle >= 0 ? ml : mr;
    const State outer = state_of(side, direction);
    Gas inner = *side;
    inner.density = mass / (wave - middle);
    inner.along = middle;
    State s = state_of(&inner, direction), flux = flux_of(side, direction);
    s.q[3] = inner.density * (outer.q[3] / side->density +
                              (middle - side->along) * (middle + side->pressure / mass));
    for (int f = 0; f < FIELDS; ++f) flux.q[f] += wave * (s.q[f] - outer.q[f]);
    return flux;
}

/* The slope of a quantity that makes no new extremum (van Leer). */
static double limited(double below, double here, double above) {
    const double left = here - below, right = above - here;
    return left * right > 0 ? 2 * left * right / (left + right) : 0;
}

/* The states at both ends of a cell after half a time step; ratio is that step over the cell's width. */
static void reconstruct(const Gas g[3], double ratio, int direction, Gas ends[2]) {
    const double slope[FIELDS] = {limited(g[0].density, g[1].density, g[2].density),
                                  limited(g[0].along, g[1].along, g[2].along),
                                  limited(g[0].across, g[1].across, g[2].across),
                                  limited(g[0].pressure, g[1].pressure, g[2].pressure)};
    State states[2], fluxes[2];
    for (int end = 0; end < 2; ++end) {
        const double half = end == 0 ? -0.5 : 0.5;
        const Gas e = {g[1].density + half * slope[0], g[1].along + half * slope[1],
                       g[1].across + half * slope[2], g[1].pressure + half * slope[3]};
        states[end] = state_of(&e, direction);
        fluxes[end] = flux_of(&e, direction);
    }
    for (int end = 0; end < 2; ++end) {
        for (int f = 0; f < FIELDS; ++f)
            states[end].q[f] += 0.5 * ratio * (fluxes[0].q[f] - fluxes[1].q[f]);
        ends[end] = gas_of(&states[end], direction);
    }
}

/* Fills the frame in one direction: from the neighbours, and at a wall by reflection. */
static void exchange(Box* b, int direction) {
    MPI_Request requests[4];
    MPI_Datatype* face = b->face[direction];
    MPI_Irecv(b->now, 1, face[2], b->before[direction], 1, b->comm, &requests[0]);
    MPI_Irecv(b->now, 1, face[3], b->after[direction], 2, b->comm, &requests[1]);
    MPI_Isend(b->now, 1, face[0], b->before[direction], 2, b->comm, &requests[2]);
    MPI_Isend(b->now, 1, face[1], b->after[direction], 1, b->comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    const int n = b->n[direction], lines = b->n[1 - direction];
    for (int side = 0; side < 2 && b->walls; ++side) {
        if ((side == 0 ? b->before : b->after)[direction] != MPI_PROC_NULL) continue;
        for (int depth = 0; depth < FRAME; ++depth)
            for (int line = 0; line < lines; ++line) {
                const int from = side == 0 ? depth : n - 1 - depth;
                const int to = side == 0 ? -1 - depth : n + depth;
                State s = b->now[direction == X ? at(b, line, from) : at(b, from, line)];
                const int along = direction == X ? 1 : 2;
                s.q[along] = -s.q[along];
                b->now[direction == X ? at(b, line, to) : at(b, to, line)] = s;
            }
    }
}

static void sweep(Box* b, int direction, double step) {
    exchange(b, direction);
    const double ratio = step / b->cell;
    const int n = b->n[direction], lines = b->n[1 - direction];
    const size_t along = direction == X ? 1 : (size_t)(b->n[X] + 2 * FRAME);
    for (int line = 0; line < lines; ++line) {
        State* cells = b->now + (direction == X ? at(b, line, 0) : at(b, 0, line)) - FRAME * along;
        Gas g[3] = {gas_of(cells, direction), gas_of(cells + along, direction), {0, 0, 0, 0}};
        Gas last = {0, 0, 0, 0};
        /* fluxes[i] is the flux into cell i from the one before it. */
        for (int i = -1; i <= n; ++i) {
            Gas ends[2];
            g[2] = gas_of(cells + (size_t)(i + 1 + FRAME) * along, direction);
            reconstruct(g, ratio, direction, ends);
            if (i >= 0) b->fluxes[i] = flux_between(&last, &ends[0], direction);
            last = ends[1];
            g[0] = g[1];
            g[1] = g[2];
        }
        for (int i = 0; i < n; ++i)
            for (int f = 0; f < FIELDS; ++f)
                cells[(size_t)(i + FRAME) * along].q[f] +=
                    ratio * (b->fluxes[i].q[f] - b->fluxes[i + 1].q[f]);
    }
}

/* The time in which no wave crosses more than a part of a cell. */
static double time_step(const Box* b) {
    double fastest = 0, all;
    for (int y = 0; y < b->n[Y]; ++y)
        for (int x = 0; x < b->n[X]; ++x) {
            const Gas g = gas_of(&b->now[at(b, y, x)], X);
            fastest = fmax(fastest, fmax(fabs(g.along), fabs(g.across)) + sound(&g));
        }
    MPI_Allreduce(&fastest, &all, 1, MPI_DOUBLE, MPI_MAX, b->comm);
    return kCourant * b->cell / all;
}

static void total(const Box* b, double* mass, double* energy) {
    double own[2] = {0, 0}, all[2];
    for (int y = 0; y < b->n[Y]; ++y)
        for (int x = 0; x < b->n[X]; ++x) {
            own[0] += b->now[at(b, y, x)].q[0];
            own[1] += b->now[at(b, y, x)].q[3];
        }
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, b->comm);
    *mass = all[0] * b->cell * b->cell;
    *energy = all[1] * b->cell * b->cell;
}

/* The change of velocity through the wave that leads from gas g to pressure p. */
static double velocity_change(const Gas* g, double p) {
    if (p > g->pressure)
        return (p - g->pressure) *
               sqrt(2 / g->density / ((kGamma + 1) * p + (kGamma - 1) * g->pressure));
    return 2 * sound(g) / (kGamma - 1) * (pow(p / g->pressure, (kGamma - 1) / (2 * kGamma)) - 1);
}

static const Gas kLeft = {1, 0, 0, 1}, kRight = {0.125, 0, 0, 0.1};

/* The density of the exact solution of Sod's problem at x / t from where the gases met. On the left a
 * rarefaction, then the contact, on the right a shock. */
static double exact_density(double speed) {
    double low = kRight.pressure, high = kLeft.pressure;
    for (int i = 0; i < 100; ++i) {
        const double p = 0.5 * (low + high);
        *(velocity_change(&kLeft, p) + velocity_change(&kRight, p) > 0 ? &high : &low) = p;
    }
    const double p = 0.5 * (low + high), u = velocity_change(&kRight, p);
    const double c = sound(&kLeft), ratio = (kGamma - 1) / (kGamma + 1);
    const double behind = p / kRight.pressure;
    const double shock =
        sound(&kRight) * sqrt((kGamma + 1) / (2 * kGamma) * behind + (kGamma - 1) / (2 * kGamma));
    if (speed <= -c) return kLeft.density;
    if (speed > shock) return kRight.density;
    if (speed > u) return kRight.density * (behind + ratio) / (ratio * behind + 1);
    const double tail = u - c * pow(p / kLeft.pressure, (kGamma - 1) / (2 * kGamma));
    if (speed > tail) return kLeft.density * pow(p / kLeft.pressure, 1 / kGamma);
    return kLeft.density * pow(2 / (kGamma + 1) - ratio * speed / c, 2 / (kGamma - 1));
}

/* The mean distance of the density from the exact solution. */
static double distance(const Box* b, double time) {
    double own = 0, all;
    for (int y = 0; y < b->n[Y]; ++y)
        for (int x = 0; x < b->n[X]; ++x) {
            const double place = (b->first[X] + x + 0.5) * b->cell - 0.5;
            own += fabs(b->now[at(b, y, x)].q[0] - exact_density(place / time));
        }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, b->comm);
    return all / ((double)b->all[X] * b->all[Y]);
}

static void make_faces(Box* b) {
    int sizes[2] = {b->n[Y] + 2 * FRAME, b->n[X] + 2 * FRAME};
    MPI_Datatype state;
    MPI_Type_contiguous(FIELDS, MPI_DOUBLE, &state);
    for (int d = 0; d < 2; ++d) {
        const int place[4] = {FRAME, b->n[d], 0, b->n[d] + FRAME};
        for (int i = 0; i < 4; ++i) {
            int lengths[2] = {b->n[Y], b->n[X]}, starts[2] = {FRAME, FRAME};
            lengths[d] = FRAME;
            starts[d] = place[i];
            MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, state, &b->face[d][i]);
            MPI_Type_commit(&b->face[d][i]);
        }
    }
    MPI_Type_free(&state);
}

static void make_box(Box* b) {
    int periods[2] = {!b->walls, !b->walls};
    MPI_Comm_size(MPI_COMM_WORLD, &b->tasks);
    MPI_Dims_create(b->tasks, 2, b->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, b->dims, periods, 1, &b->comm);
    MPI_Comm_rank(b->comm, &b->me);
    MPI_Cart_coords(b->comm, b->me, 2, b->coords);
    for (int d = 0; d < 2; ++d) {
        MPI_Cart_shift(b->comm, d, 1, &b->before[d], &b->after[d]);
        b->first[d] = (int)((long)b->all[d] * b->coords[d] / b->dims[d]);
        b->n[d] = (int)((long)b->all[d] * (b->coords[d] + 1) / b->dims[d]) - b->first[d];
        if (b->all[d] < FRAME * b->dims[d]) {
            if (b->me == 0) fprintf(stderr, "hydro: too few cells for %d tasks\n", b->tasks);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    b->cell = 1.0 / b->all[X];
    b->now = calloc((size_t)(b->n[Y] + 2 * FRAME) * (size_t)(b->n[X] + 2 * FRAME), sizeof *b->now);
    b->fluxes = calloc((size_t)(b->n[b->n[Y] > b->n[X] ? Y : X] + 1), sizeof *b->fluxes);
    if (b->now == NULL || b->fluxes == NULL) {
        fprintf(stderr, "hydro: task %d has no memory for its block\n", b->me);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    make_faces(b);
}

static void fill(Box* b) {
    for (int y = 0; y < b->n[Y]; ++y)
        for (int x = 0; x < b->n[X]; ++x) {
            const double px = (b->first[X] + x + 0.5) * b->cell,
                         py = (b->first[Y] + y + 0.5) * b->cell;
            const Gas hot = {1, 0, 0, 10}, cold = {1, 0, 0, 0.1};
            const Gas* g = b->walls                          ? (px < 0.5 ? &kLeft : &kRight)
                           : hypot(px - 0.2, py - 0.2) < 0.1 ? &hot
                                                             : &cold;
            b->now[at(b, y, x)] = state_of(g, X);
        }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Box b = {0};
    const char* problem = argc > 1 ? argv[1] : "sod";
    b.walls = strcmp(problem, "sod") == 0;
    b.all[X] = argc > 2 ? atoi(argv[2]) : 200;
    b.all[Y] = argc > 3 ? atoi(argv[3]) : b.walls ? b.all[X] / 4 : b.all[X];
    make_box(&b);
    fill(&b);
    double mass, energy, mass_at_end, energy_at_end, time = 0;
    total(&b, &mass, &energy);

    const double end = 0.2, start = MPI_Wtime();
    int steps = 0;
    for (; time < end; ++steps) {
        const double step = fmin(time_step(&b), end - time);
        sweep(&b, steps % 2 == 0 ? X : Y, step);
        sweep(&b, steps % 2 == 0 ? Y : X, step);
        time = step == end - time ? end : time + step;
    }
    const double own = MPI_Wtime() - start;
    double took;
    MPI_Reduce(&own, &took, 1, MPI_DOUBLE, MPI_MAX, 0, b.comm);

    total(&b, &mass_at_end, &energy_at_end);
    /* The error is that of the contact and the shock, each a few cells wide. */
    const double error = b.walls ? distance(&b, end) : 0, most = 1.2 / b.all[X];
    const double lost_mass = fabs(mass_at_end / mass - 1),
                 lost_energy = fabs(energy_at_end / energy - 1);
    const int right = lost_mass < 1e-12 && lost_energy < 1e-12 && error <= most;
    if (b.me == 0) {
        printf("hydro %s, %d x %d cells, %d x %d tasks: %d steps, %.4f s, ", problem, b.all[X],
               b.all[Y], b.dims[X], b.dims[Y], steps, took);
        if (b.walls) printf("error %.5f (limit %.5f), ", error, most);
        printf("change of mass %.1e, of energy %.1e: %s\n", lost_mass, lost_energy,
               right ? "verified" : "WRONG");
    }
    for (int i = 0; i < 8; ++i) MPI_Type_free(&b.face[i / 4][i % 4]);
    free(b.now), free(b.fluxes);
    MPI_Comm_free(&b.comm);
    MPI_Finalize();
    return !right;
}
