/* Programs of MPI that wait in the way that the first argument names. Each task prints "ready" before. If the
   argument begins with "pool_", several threads may call, and a second thread of each task sleeps until another thread
   wakes it, which does not happen. If it begins with "two_", two threads of each task call MPI. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[100000000];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void* wait_for_work(void* unused) {
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&work, &mutex);
    return unused;
}

/* Sends what the task to the right waits for, after a while. */
static void* help_late(void* right) {
    sleep(3);
    MPI_Send(buffer, 8, MPI_CHAR, *(int*)right, 3, MPI_COMM_WORLD);
    return NULL;
}

static int left_task, right_task;
static MPI_Comm mesh;

static void* receive_4(void* unused) {
    MPI_Recv(buffer + 8, 8, MPI_CHAR, left_task, 4, mesh, MPI_STATUS_IGNORE);
    return unused;
}
static void* receive_any(void* unused) {
    MPI_Recv(buffer + 8, 8, MPI_CHAR, MPI_ANY_SOURCE, 4, mesh, MPI_STATUS_IGNORE);
    return unused;
}
static void* synchronous_5(void* unused) {
    MPI_Ssend(buffer + 16, 8, MPI_CHAR, right_task, 5, mesh);
    return unused;
}
/* Polls for longer than the timeout, and sends then what the task to the right waits for. */
static void* poll_and_send(void* unused) {
    const double end = MPI_Wtime() + 3;
    int found = 0;
    while (MPI_Wtime() < end) MPI_Iprobe(MPI_ANY_SOURCE, 99, mesh, &found, MPI_STATUS_IGNORE);
    MPI_Send(buffer + 16, 8, MPI_CHAR, right_task, 3, mesh);
    return unused;
}
static void* compute_and_send(void* unused) {
    const double end = MPI_Wtime() + 3;
    volatile double sum = 0;
    while (MPI_Wtime() < end) sum += 1;
    MPI_Send(buffer + 16, 8, MPI_CHAR, right_task, 3, mesh);
    return unused;
}
static void* sleep_and_send(void* unused) {
    sleep(3);
    MPI_Send(buffer + 16, 8, MPI_CHAR, right_task, 3, mesh);
    return unused;
}

/* Two threads of each task call MPI, the second one makes the calls of `how`. Then the first one does, or waits for the
   end of the others. */
static void call_with_two(const char* how) {
    static const struct {
        const char* name;
        void* (*second)(void*);
        void* (*third)(void*);
    } kinds[] = {{"receives", receive_4, NULL},        {"any", receive_any, NULL},
                 {"synchronous", synchronous_5, NULL}, {"joins", receive_4, receive_any},
                 {"polls", poll_and_send, NULL},       {"computes", compute_and_send, NULL},
                 {"sleeps", sleep_and_send, NULL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        pthread_t threads[2];
        if (strcmp(kinds[i].name, how) != 0) continue;
        pthread_create(&threads[0], NULL, kinds[i].second, NULL);
        if (kinds[i].third != NULL)
            pthread_create(&threads[1], NULL, kinds[i].third, NULL);
        else
            MPI_Recv(buffer, 8, MPI_CHAR, left_task, 3, mesh, MPI_STATUS_IGNORE);
        pthread_join(threads[0], NULL);
        if (kinds[i].third != NULL) pthread_join(threads[1], NULL);
    }
}

int main(int argc, char** argv) {
    int rank, size, level;
    pthread_t thread;
    const int two = argc > 1 && strncmp(argv[1], "two_", 4) == 0;
    const int pool = argc > 1 && strncmp(argv[1], "pool_", 5) == 0;
    const int help = argc > 1 && strcmp(argv[1], "help") == 0;
    if (pool) argv[1] += 5;
    if (pool || help || two)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    if (pool) pthread_create(&thread, NULL, wait_for_work, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* how = argc > 1 ? argv[1] : "";
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    left_task = left, right_task = right;
    MPI_Comm_dup(MPI_COMM_WORLD, &mesh);
    MPI_Comm_set_name(mesh, "mesh");
    puts("ready");
    fflush(stdout);

    if (two) {
        call_with_two(how + 4);
    } else if (strcmp(how, "receives") == 0) {
        MPI_Recv(buffer, 8, MPI_CHAR, left, 3, mesh, MPI_STATUS_IGNORE);
    } else if (help) {
        pthread_create(&thread, NULL, help_late, (void*)&right);
        MPI_Recv(buffer, 8, MPI_CHAR, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    } else if (strcmp(how, "sends") == 0) {
        MPI_Send(buffer, sizeof buffer, MPI_CHAR, right, 2, MPI_COMM_WORLD);
    } else if (strcmp(how, "synchronous") == 0) {
        MPI_Ssend(buffer, 8, MPI_CHAR, right, 2, MPI_COMM_WORLD);
    } else if (strcmp(how, "wait") == 0) {
        MPI_Request request;
        MPI_Irecv(buffer, 8, MPI_CHAR, left, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "waitall") == 0) {
        MPI_Request requests[2];
        MPI_Irecv(buffer, 8, MPI_CHAR, left, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(buffer, 8, MPI_CHAR, right, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "waitany") == 0 || strcmp(how, "waitsome") == 0) {
        MPI_Request requests[3];
        int done = 0, indices[3];
        for (int i = 0; i < 3; ++i) requests[i] = MPI_REQUEST_NULL;
        for (int i = 0; i < 2; ++i)
            MPI_Irecv(buffer + i, 1, MPI_CHAR, left, 10 + i, mesh, &requests[2 * i]);
        if (how[4] == 'a')
            MPI_Waitany(3, requests, &done, MPI_STATUS_IGNORE);
        else
            MPI_Waitsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "probe") == 0) {
        MPI_Probe(left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "exchange") == 0) {
        MPI_Sendrecv(buffer, 1, MPI_CHAR, right, 7, buffer + 8, 1, MPI_CHAR, left, 8,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "communicators") == 0) {
        int sum = 0;
        if (rank == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, mesh);
        }
    } else if (strcmp(how, "tag") == 0) {
        if (rank == 0) MPI_Send(buffer, 16, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(buffer, 16, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "communicator") == 0) {
        if (rank == 0) MPI_Send(buffer, 16, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(buffer, 16, MPI_CHAR, 0, 7, mesh, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "long") == 0) {
        /* Waits of more than a timeout that end. */
        MPI_Request requests[2];
        int index = 0, found = 0;
        if (rank == 0) sleep(2);
        MPI_Barrier(mesh);
        if (rank == 0) {
            for (int i = 0; i < 2; ++i)
                MPI_Irecv(buffer + i, 1, MPI_CHAR, i + 1, 1, mesh, &requests[i]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
        } else {
            sleep(2);
            MPI_Send(buffer, 1, MPI_CHAR, 0, 1, mesh);
        }
        if (rank == 1) { /* polls while the others wait for it */
            const double end = MPI_Wtime() + 2;
            while (MPI_Wtime() < end)
                MPI_Iprobe(MPI_ANY_SOURCE, 99, mesh, &found, MPI_STATUS_IGNORE);
        }
        if (rank == 2)
            MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, mesh, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Ssend(buffer, 8, MPI_CHAR, 2, 5, mesh);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(how, "barrier") == 0) {
        if (rank != 0) MPI_Barrier(mesh);
    } else if (strcmp(how, "nonblocking") == 0) {
        MPI_Request request;
        if (rank == 0) MPI_Recv(buffer, 1, MPI_CHAR, 1, 0, mesh, MPI_STATUS_IGNORE);
        MPI_Ibarrier(mesh, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "split") == 0) {
        MPI_Comm part;
        if (rank == 0) MPI_Recv(buffer, 1, MPI_CHAR, 1, 0, mesh, MPI_STATUS_IGNORE);
        MPI_Comm_split(mesh, 0, 0, &part);
    } else if (strncmp(how, "window", 6) == 0) {
        MPI_Win table;
        MPI_Comm unnamed;
        MPI_Comm_dup(mesh, &unnamed);
        if (strcmp(how, "window_unnamed") == 0) {
            MPI_Win_create(buffer, 1, 1, MPI_INFO_NULL, unnamed, &table);
        } else {
            MPI_Win_create(buffer, 1, 1, MPI_INFO_NULL, mesh, &table);
            MPI_Win_set_name(table, strcmp(how, "window_renamed") == 0 ? "" : "table");
        }
        if (strcmp(how, "window_start") == 0 || strcmp(how, "window_wait") == 0) {
            /* The other task makes no call for the window. */
            MPI_Group all, other;
            const int peer = 1;
            MPI_Comm_group(mesh, &all);
            MPI_Group_incl(all, 1, &peer, &other);
            if (rank == 0 && how[7] == 's') {
                MPI_Win_start(other, 0, table);
                MPI_Put(buffer + 8, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, table);
                MPI_Win_complete(table);
            } else if (rank == 0) {
                MPI_Win_post(other, 0, table);
                MPI_Win_wait(table);
            } else {
                MPI_Recv(buffer, 1, MPI_CHAR, 0, 0, mesh, MPI_STATUS_IGNORE);
            }
        } else if (strcmp(how, "window_lock") == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, table);
            MPI_Barrier(mesh);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, table);
        } else if (rank == 0) {
            MPI_Recv(buffer, 1, MPI_CHAR, 1, 0, mesh, MPI_STATUS_IGNORE);
        }
        MPI_Win_fence(0, table);
    } else if (strncmp(how, "port", 4) == 0) {
        /* Nobody accepts. With a limit, the wait ends by itself. */
        char port[MPI_MAX_PORT_NAME];
        MPI_Comm other;
        MPI_Info info;
        MPI_Info_create(&info);
        if (strcmp(how, "port_limit") == 0) MPI_Info_set(info, "timeout", "4");
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, mesh);
            MPI_Recv(buffer, 1, MPI_CHAR, 1, 1, mesh, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, mesh, MPI_STATUS_IGNORE);
            MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other);
            MPI_Send(buffer, 1, MPI_CHAR, 0, 1, mesh);
        }
    } else if (strncmp(how, "file", 4) == 0) {
        MPI_File file;
        if (strcmp(how, "file_late") == 0 && rank == 0) sleep(2);
        MPI_File_open(
            mesh, getenv("TEST_FILE"),
            strcmp(how, "file_open") == 0 ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR,
            MPI_INFO_NULL, &file);
        if (strcmp(how, "file_late") == 0 && rank == 0) sleep(2);
        if (rank == 1 && strcmp(how, "file_write") == 0) MPI_Barrier(mesh);
        MPI_File_write_all(file, buffer, 8, MPI_CHAR, MPI_STATUS_IGNORE);
        if (rank == 1 && strcmp(how, "file_close") == 0)
            MPI_Recv(buffer, 1, MPI_CHAR, 0, 0, mesh, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
