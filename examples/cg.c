/* cg: the conjugate-gradient method with MPI, on a grid of tasks.
 *
 * Run:   mpicc.poe -O2 cg.c -o cg -lm
 *        poe ./cg -procs 4                 256 x 256 unknowns
 *        mpiexec.poe -n 8 ./cg 512         512 x 512 unknowns
 *
 * Solves -u_xx - u_yy = f on the unit square, with u = 0 on its edges. f is chosen so that the
 * solution is known: u = x (1 - x) y (1 - y), for which the five-point formula is exact. So the
 * error that is printed at the end is only that of the iteration.
 *
 * The tasks form a Cartesian grid, each with a block of the unknowns and a frame of its neighbours'
 * values around it. In each step the tasks exchange the edges of their blocks (the columns have a
 * vector type), and add up two scalar products. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    int rows, columns;         /* of the own block */
    int first_row, first_col;  /* where it lies in the whole grid, from 0 */
    int up, down, left, right; /* neighbours; MPI_PROC_NULL at an edge */
    MPI_Datatype column;
    int width; /* of a row in memory, with the frame */
} Block;

static double* at(const Block* b, double* x, int row, int col) {
    return x + (row + 1) * b->width + col + 1;
}

/* The share of `all` that is coordinate `at` of `parts`, and where it begins. */
static int share(int all, int parts, int coordinate, int* first) {
    const int least = all / parts, more = all % parts;
    *first = coordinate * least + (coordinate < more ? coordinate : more);
    return least + (coordinate < more);
}

static void exchange(const Block* b, double* x) {
    MPI_Request requests[8];
    MPI_Irecv(at(b, x, -1, 0), b->columns, MPI_DOUBLE, b->up, 1, b->comm, &requests[0]);
    MPI_Irecv(at(b, x, b->rows, 0), b->columns, MPI_DOUBLE, b->down, 2, b->comm, &requests[1]);
    MPI_Irecv(at(b, x, 0, -1), 1, b->column, b->left, 3, b->comm, &requests[2]);
    MPI_Irecv(at(b, x, 0, b->columns), 1, b->column, b->right, 4, b->comm, &requests[3]);
    MPI_Isend(at(b, x, 0, 0), b->columns, MPI_DOUBLE, b->up, 2, b->comm, &requests[4]);
    MPI_Isend(at(b, x, b->rows - 1, 0), b->columns, MPI_DOUBLE, b->down, 1, b->comm, &requests[5]);
    MPI_Isend(at(b, x, 0, 0), 1, b->column, b->left, 4, b->comm, &requests[6]);
    MPI_Isend(at(b, x, 0, b->columns - 1), 1, b->column, b->right, 3, b->comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static double dot(const Block* b, double* x, double* y) {
    double own = 0, sum = 0;
    for (int i = 0; i < b->rows; ++i)
        for (int j = 0; j < b->columns; ++j) own += *at(b, x, i, j) * *at(b, y, i, j);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, b->comm);
    return sum;
}

/* y = A x, for the five-point formula without its factor 1 / h^2. */
static void apply(const Block* b, double* x, double* y) {
    exchange(b, x);
    for (int i = 0; i < b->rows; ++i)
        for (int j = 0; j < b->columns; ++j)
            *at(b, y, i, j) = 4 * *at(b, x, i, j) - *at(b, x, i - 1, j) - *at(b, x, i + 1, j) -
                              *at(b, x, i, j - 1) - *at(b, x, i, j + 1);
}

int main(int argc, char** argv) {
    int tasks, me, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
    Block b;
    MPI_Init(&argc, &argv);
    const int n = argc > 1 ? atoi(argv[1]) : 256;
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Dims_create(tasks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &b.comm);
    MPI_Comm_rank(b.comm, &me);
    MPI_Cart_coords(b.comm, me, 2, coords);
    MPI_Cart_shift(b.comm, 0, 1, &b.up, &b.down);
    MPI_Cart_shift(b.comm, 1, 1, &b.left, &b.right);
    if (n < dims[0] || n < dims[1]) {
        if (me == 0) fprintf(stderr, "cg: %d tasks need more than %d rows\n", tasks, n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    b.rows = share(n, dims[0], coords[0], &b.first_row);
    b.columns = share(n, dims[1], coords[1], &b.first_col);
    b.width = b.columns + 2;
    MPI_Type_vector(b.rows, 1, b.width, MPI_DOUBLE, &b.column);
    MPI_Type_commit(&b.column);

    const size_t points = (size_t)(b.rows + 2) * (size_t)b.width;
    double *u = calloc(points, sizeof *u), *r = calloc(points, sizeof *r);
    double *p = calloc(points, sizeof *p), *q = calloc(points, sizeof *q);
    const double h = 1.0 / (n + 1);
    for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.columns; ++j) {
            const double x = (b.first_row + i + 1) * h, y = (b.first_col + j + 1) * h;
            *at(&b, r, i, j) = *at(&b, p, i, j) = 2 * h * h * (x * (1 - x) + y * (1 - y));
        }

    const double start = MPI_Wtime();
    double rr = dot(&b, r, r);
    const double enough = rr * 1e-20;
    int steps = 0;
    for (; rr > enough && steps < 10 * n; ++steps) {
        apply(&b, p, q);
        const double alpha = rr / dot(&b, p, q);
        for (int i = 0; i < b.rows; ++i)
            for (int j = 0; j < b.columns; ++j) {
                *at(&b, u, i, j) += alpha * *at(&b, p, i, j);
                *at(&b, r, i, j) -= alpha * *at(&b, q, i, j);
            }
        const double before = rr;
        rr = dot(&b, r, r);
        for (int i = 0; i < b.rows; ++i)
            for (int j = 0; j < b.columns; ++j)
                *at(&b, p, i, j) = *at(&b, r, i, j) + rr / before * *at(&b, p, i, j);
    }
    const double took = MPI_Wtime() - start;

    double own = 0, error = 0;
    for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.columns; ++j) {
            const double x = (b.first_row + i + 1) * h, y = (b.first_col + j + 1) * h;
            own = fmax(own, fabs(*at(&b, u, i, j) - x * (1 - x) * y * (1 - y)));
        }
    MPI_Reduce(&own, &error, 1, MPI_DOUBLE, MPI_MAX, 0, b.comm);
    if (me == 0)
        printf("%d x %d unknowns on %d x %d tasks: %d steps, %.3f s, error %.1e\n", n, n, dims[0],
               dims[1], steps, took, error);
    free(u), free(r), free(p), free(q);
    MPI_Type_free(&b.column);
    MPI_Comm_free(&b.comm);
    MPI_Finalize();
    return 0;
}
