/* A program with a mistake: the sum is wrong. Find it with pdbx; poe-tutorial(7) shows how.
 *
 *   mpicc.poe -g -O0 wrong_index.c -o wrong_index
 *   pdbx ./wrong_index -procs 4
 *
 * The numbers 1 to N are divided among the tasks, and their sum is computed. */
#include <mpi.h>
#include <stdio.h>

#define N 10

static int block[N];

/* The first and the last number of a task. The last task gets the remainder. */
static void range_of(int task, int tasks, int* first, int* last) {
    int share = N / tasks;
    *first = task * share + 1;
    *last = *first + share - 1;
    if (task == tasks) *last = N; /* the mistake: the last task is tasks - 1 */
}

int main(int argc, char** argv) {
    int me, tasks, first, last, i, sum = 0, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    range_of(me, tasks, &first, &last);
    for (i = first; i <= last; ++i) {
        block[i - first] = i;
        sum += block[i - first];
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("the sum is %d, and should be %d\n", total, N * (N + 1) / 2);
    MPI_Finalize();
    return 0;
}
