/* cg: the smallest eigenvalue of a large sparse matrix by the inverse power method, each step of which
 * solves a system with 25 iterations of the conjugate-gradient method.
 *
 * Run:   mpicc.poe -O2 cg.c -o cg -lm
 *        poe ./cg W -procs 4
 *
 * Kernel CG of "The NAS Parallel Benchmarks" (RNR-94-007), with the matrix that its appendix
 * describes: a sum of outer products of sparse random vectors. The eigenvalue is known.
 *
 * The tasks form a grid of rows and columns, with as many columns as rows or twice as many. Each has
 * a block of the matrix, and the part of every vector that belongs to its column. A product sums
 * the parts of a row of tasks (MPI_Allreduce on a communicator of the row); then pairs of tasks
 * exchange the parts (MPI_Sendrecv), so that each has the part of its column again. */
#include "nas.h"

enum { ITERATIONS = 25, MOST_NONZERO = 12 };
static const double kCondition = 0.1;

static const struct {
    int n, nonzero, steps;
    double shift, zeta;
} kClasses[NAS_CLASSES] = {{1400, 7, 15, 10, 8.5971775078648},
                           {7000, 8, 15, 12, 10.362595087124},
                           {14000, 11, 15, 20, 17.130235054029}};

typedef struct {
    int row, column;
    double value;
} Entry;

typedef struct {
    int rows, columns, row, column; /* the grid of tasks, and this task in it */
    MPI_Comm row_comm;
    int partner;             /* the task that has the part of this task's column, and the reverse */
    int first_row, last_row; /* the block of the matrix */
    int first_col, last_col;
    int partner_first, partner_count; /* the rows that the partner needs */
    int *begin, *index;               /* the entries of each row, columns counted from first_col */
    double *value, *product;
} Matrix;

typedef struct {
    int count, place[MOST_NONZERO];
    double value[MOST_NONZERO];
} SparseVector;

static int bound(int n, int parts, int part) {
    return (int)((long)n * part / parts);
}

static void make_grid(Matrix* m, int n) {
    m->rows = 1;
    while (4 * m->rows * m->rows <= nas_tasks) m->rows *= 2;
    m->columns = nas_tasks / m->rows;
    m->row = nas_me / m->columns;
    m->column = nas_me % m->columns;
    MPI_Comm_split(MPI_COMM_WORLD, m->row, m->column, &m->row_comm);
    const int parts = m->columns / m->rows; /* parts of a column in the part of a row: 1 or 2 */
    m->first_row = bound(n, m->columns, m->row * parts);
    m->last_row = bound(n, m->columns, (m->row + 1) * parts);
    m->first_col = bound(n, m->columns, m->column);
    m->last_col = bound(n, m->columns, m->column + 1);
    const int partner_column = m->row * parts + m->column % parts;
    m->partner = m->column / parts * m->columns + partner_column;
    m->partner_first = bound(n, m->columns, partner_column);
    m->partner_count = bound(n, m->columns, partner_column + 1) - m->partner_first;
}

/* A vector of `nonzero` random elements at different random places, and 0.5 at place `own`. */
static void make_vector(SparseVector* v, uint64_t* state, int n, int nonzero, int own) {
    int range = 1;
    while (range < n) range *= 2;
    v->count = 0;
    while (v->count < nonzero) {
        const double value = nas_random(state);
        const int place = (int)(range * nas_random(state));
        int known = place >= n;
        for (int i = 0; i < v->count && !known; ++i) known = v->place[i] == place;
        if (known) continue;
        v->place[v->count] = place;
        v->value[v->count++] = value;
    }
    int at = 0;
    while (at < v->count && v->place[at] != own) ++at;
    if (at == v->count) ++v->count;
    v->place[at] = own;
    v->value[at] = 0.5;
}

static int by_place(const void* a, const void* b) {
    const Entry *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->column > y->column) - (x->column < y->column);
}

/* The own entries of the sum of the outer products; several may have the same place. */
static Entry* make_entries(const Matrix* m, size_t* count) {
    const int n = kClasses[nas_class].n, nonzero = kClasses[nas_class].nonzero;
    uint64_t state = NAS_SEED;
    nas_random(&state);
    size_t room = 1024;
    Entry* entries = nas_memory(room, sizeof *entries);
    double size = 1;
    const double ratio = pow(kCondition, 1.0 / n);
    *count = 0;
    for (int i = 0; i < n; ++i, size *= ratio) {
        SparseVector v;
        make_vector(&v, &state, n, nonzero, i);
        for (int a = 0; a < v.count; ++a) {
            if (v.place[a] < m->first_row || v.place[a] >= m->last_row) continue;
            for (int b = 0; b < v.count; ++b) {
                if (v.place[b] < m->first_col || v.place[b] >= m->last_col) continue;
                double value = v.value[b] * (size * v.value[a]);
                if (v.place[a] == i && v.place[b] == i)
                    value += kCondition - kClasses[nas_class].shift;
                if (*count == room) {
                    room *= 2;
                    entries = nas_check_memory(realloc(entries, room * sizeof *entries), room,
                                               sizeof *entries);
                }
                entries[(*count)++] =
                    (Entry){v.place[a] - m->first_row, v.place[b] - m->first_col, value};
            }
        }
    }
    return entries;
}

static void make_matrix(Matrix* m) {
    size_t count, kept = 0;
    Entry* entries = make_entries(m, &count);
    qsort(entries, count, sizeof *entries, by_place);
    const int rows = m->last_row - m->first_row;
    m->begin = nas_memory((size_t)rows + 1, sizeof *m->begin);
    m->index = nas_memory(count, sizeof *m->index);
    m->value = nas_memory(count, sizeof *m->value);
    m->product = nas_memory((size_t)rows, sizeof *m->product);
    for (size_t i = 0; i < count; ++i) {
        if (i == 0 || by_place(&entries[i], &entries[i - 1]) != 0) {
            m->index[kept++] = entries[i].column;
            ++m->begin[entries[i].row + 1];
        }
        m->value[kept - 1] += entries[i].value;
    }
    for (int row = 0; row < rows; ++row) m->begin[row + 1] += m->begin[row];
    free(entries);
}

/* y = A x. */
static void multiply(const Matrix* m, const double* x, double* y) {
    const int rows = m->last_row - m->first_row;
    for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int i = m->begin[row]; i < m->begin[row + 1]; ++i) sum += m->value[i] * x[m->index[i]];
        m->product[row] = sum;
    }
    MPI_Allreduce(MPI_IN_PLACE, m->product, rows, MPI_DOUBLE, MPI_SUM, m->row_comm);
    MPI_Sendrecv(m->product + (m->partner_first - m->first_row), m->partner_count, MPI_DOUBLE,
                 m->partner, 1, y, m->last_col - m->first_col, MPI_DOUBLE, m->partner, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double dot(const Matrix* m, const double* x, const double* y) {
    double own = 0, sum;
    for (int i = 0; i < m->last_col - m->first_col; ++i) own += x[i] * y[i];
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, m->row_comm);
    return sum;
}

/* Solves A z = x approximately. */
static void solve(const Matrix* m, const double* x, double* z, double* r, double* p, double* q) {
    const int length = m->last_col - m->first_col;
    for (int i = 0; i < length; ++i) z[i] = 0, r[i] = p[i] = x[i];
    double rho = dot(m, r, r);
    for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
        multiply(m, p, q);
        const double alpha = rho / dot(m, p, q), before = rho;
        for (int i = 0; i < length; ++i) z[i] += alpha * p[i], r[i] -= alpha * q[i];
        rho = dot(m, r, r);
        const double beta = rho / before;
        for (int i = 0; i < length; ++i) p[i] = r[i] + beta * p[i];
    }
}

int main(int argc, char** argv) {
    nas_begin(&argc, &argv, "CG");
    const int n = kClasses[nas_class].n, nonzero = kClasses[nas_class].nonzero;
    Matrix m;
    make_grid(&m, n);
    make_matrix(&m);
    const int length = m.last_col - m.first_col;
    double* work[5];
    for (int i = 0; i < 5; ++i) work[i] = nas_memory((size_t)length, sizeof(double));
    double *x = work[0], *z = work[1], zeta = 0;
    for (int i = 0; i < length; ++i) x[i] = 1;

    const double start = nas_start();
    for (int step = 0; step < kClasses[nas_class].steps; ++step) {
        solve(&m, x, z, work[2], work[3], work[4]);
        zeta = kClasses[nas_class].shift + 1 / dot(&m, x, z);
        const double norm = sqrt(dot(&m, z, z));
        for (int i = 0; i < length; ++i) x[i] = z[i] / norm;
    }
    char wrong[100] = "";
    if (!nas_equal(zeta, kClasses[nas_class].zeta, 1e-10))
        snprintf(wrong, sizeof wrong, "zeta is %.13f, not %.13f", zeta, kClasses[nas_class].zeta);
    const double entries = nonzero * (nonzero + 1);
    const double operations =
        2.0 * kClasses[nas_class].steps * n * (3 + entries + ITERATIONS * (5 + entries) + 3);
    const int status = nas_end("CG", start, operations, wrong);
    for (int i = 0; i < 5; ++i) free(work[i]);
    free(m.begin), free(m.index), free(m.value), free(m.product);
    return status;
}
