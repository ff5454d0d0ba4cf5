/* An MPI program for tests of start-up and end. Without an argument: one allreduce of all ranks,
 * checked, and one line from rank 0. With one:
 *   abort   the last rank calls MPI_Abort(comm, 7), the others wait in a barrier
 *   vanish  rank 0 exits with 0 and without MPI_Finalize, the others wait in a barrier
 *   spin    barriers until killed
 *   spawn   rank 0 tries MPI_Comm_spawn and says whether it was refused
 *   appnum  every rank says its application number
 *   names   rank 0 publishes a name, the last looks it up */
#include <ctype.h>
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int allreduce(int rank, int size) {
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) return 1;
    if (rank == 0) printf("sum of %d ranks is %d\n", size, sum);
    return 0;
}

static int spawn(int rank, char* program) {
    MPI_Comm children;
    int code = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank != 0) return 0;
    if (MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                       &code) == MPI_SUCCESS)
        return 1;
    printf("spawn was refused\n");
    return 0;
}

static int names(int rank, int size) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) MPI_Publish_name("poe-service", MPI_INFO_NULL, "port-4711");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        MPI_Lookup_name("poe-service", MPI_INFO_NULL, port);
        printf("found %s\n", port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Unpublish_name("poe-service", MPI_INFO_NULL, "port-4711");
    return rank == size - 1 && strcmp(port, "port-4711") != 0;
}

/* True if another thread of this process runs or waits for a processor. */
static int a_thread_wants_to_run(void) {
    DIR* threads = opendir("/proc/self/task");
    int found = 0;
    for (struct dirent* each; threads != NULL && (each = readdir(threads)) != NULL;) {
        char path[300], state = 'S';
        if (!isdigit((unsigned char)each->d_name[0]) || atoi(each->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", each->d_name);
        FILE* file = fopen(path, "r");
        if (file == NULL) continue;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'R') found = 1;
        fclose(file);
    }
    if (threads != NULL) closedir(threads);
    return found;
}

/* MPI_Finalize of Open MPI 4.1 may unload a module whose events its own thread has yet to handle,
 * and crashes then (docs/decisions/083). So the program waits for its threads. */
static void let_threads_rest(void) {
    for (int i = 0; i < 1000 && a_thread_wants_to_run(); ++i) usleep(1000);
}

int main(int argc, char** argv) {
    int rank, size, present, *appnum, result = 0;
    const char* mode = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "abort") == 0 && rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(mode, "abort") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "vanish") == 0 && rank == 0) _exit(0);
    if (strcmp(mode, "vanish") == 0) MPI_Barrier(MPI_COMM_WORLD);
    while (strcmp(mode, "spin") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "spawn") == 0) result = spawn(rank, argv[0]);
    if (strcmp(mode, "names") == 0) result = names(rank, size);
    if (strcmp(mode, "appnum") == 0) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &present);
        printf("rank %d appnum %d\n", rank, present ? *appnum : -1);
    }
    if (allreduce(rank, size) != 0) result = 1;
    let_threads_rest();
    MPI_Finalize();
    return result;
}
