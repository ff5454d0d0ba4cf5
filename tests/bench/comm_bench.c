/* comm_bench [-pin cores|one] OPERATION BYTES...: times one operation between task 0 and task 1
 * (sync: between all tasks). One source, compiled with MPL, with each MPI (-DUSE_MPI), and with
 * nothing but a connection of TCP on loopback (-DUSE_TCP, pingpong only, starts its second task
 * itself), so that all run through the same loop.
 *
 * How it measures, and what it prints: repetitions.h.
 *
 *   pingpong    half of a round trip
 *   stream      one way, 64 messages in a row, then an empty answer; time of one message
 *   sendrecv    both send and receive at once, one message each way
 *   exchange    two sends and two receives each, non-blocking, as with two neighbours
 *   unexpected  pingpong of 8 bytes while BYTES (a number) messages wait that nobody asked for
 *   posted      pingpong of 8 bytes while BYTES (a number) receives wait that nobody sends for
 *   sync        barrier of all tasks */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, LARGEST = 1 << 23, TAG = 1, LATE = 9 };

static int tasks, me;
static char *out, *in;

static void fail(const char* what);

#ifdef USE_MPI
#include <mpi.h>
typedef MPI_Request Handle;
static void check(int result) {
    if (result != MPI_SUCCESS) fail("an MPI call failed");
}
static void begin(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
}
static void finish(void) {
    MPI_Finalize();
}
static void abort_all(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
}
static void send(void* buffer, size_t size, int to, int tag) {
    check(MPI_Send(buffer, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD));
}
static void receive(void* buffer, size_t size, int from, int tag) {
    check(MPI_Recv(buffer, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void send_receive(size_t size, int other) {
    check(MPI_Sendrecv(out, (int)size, MPI_BYTE, other, TAG, in, (int)size, MPI_BYTE, other, TAG,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void start_send(void* buffer, size_t size, int to, Handle* handle) {
    check(MPI_Isend(buffer, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, handle));
}
static void start_receive(void* buffer, size_t size, int from, int tag, Handle* handle) {
    check(MPI_Irecv(buffer, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, handle));
}
static void end(Handle* handle) {
    check(MPI_Wait(handle, MPI_STATUS_IGNORE));
}
static void synchronise(void) {
    check(MPI_Barrier(MPI_COMM_WORLD));
}
#elif defined USE_TCP
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#define send send_to_task /* the name belongs to the system */
typedef int Handle;
static int connection;
static pid_t second;
static void abort_all(void) {
    exit(1);
}
static void begin(int* argc, char*** argv) {
    (void)argc, (void)argv;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &length) != 0)
        fail("there is no TCP on loopback");
    tasks = 2;
    second = fork();
    if (second < 0) fail("cannot start the second task");
    me = second == 0;
    if (me == 1) prctl(PR_SET_PDEATHSIG, SIGKILL);
    connection = me == 1 ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
    if (connection < 0 || (me == 1 && connect(connection, (struct sockaddr*)&address, length) != 0))
        fail("cannot connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
}
static void finish(void) {
    if (me == 0) waitpid(second, NULL, 0);
}
/* Both poll, as the libraries do. */
static void send(void* buffer, size_t size, int to, int tag) {
    (void)to, (void)tag;
    for (size_t done = 0; done < size;) {
        const ssize_t n = sendto(connection, (char*)buffer + done, size - done,
                                 MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
        if (n > 0) done += (size_t)n;
    }
}
static void receive(void* buffer, size_t size, int from, int tag) {
    (void)from, (void)tag;
    for (size_t done = 0; done < size;) {
        const ssize_t n = recv(connection, (char*)buffer + done, size - done, MSG_DONTWAIT);
        if (n > 0) done += (size_t)n;
        if (n == 0) exit(1);
    }
}
static void synchronise(void) {
    char byte = 0;
    if (me == 0) send(&byte, 1, 1, TAG);
    receive(&byte, 1, 1 - me, TAG);
    if (me == 1) send(&byte, 1, 0, TAG);
}
static void send_receive(size_t size, int other) {
    (void)size, (void)other;
    fail("only pingpong is possible");
}
static void start_send(void* buffer, size_t size, int to, Handle* handle) {
    (void)buffer, (void)handle;
    send_receive(size, to);
}
static void start_receive(void* buffer, size_t size, int from, int tag, Handle* handle) {
    (void)buffer, (void)tag, (void)handle;
    send_receive(size, from);
}
static void end(Handle* handle) {
    (void)handle;
}
#else
#include <mpproto.h>
typedef int Handle;
static void check(int result) {
    if (result != 0) fail("an MPL call failed");
}
static void begin(int* argc, char*** argv) {
    (void)argc, (void)argv;
    mpc_environ(&tasks, &me);
}
static void finish(void) {}
static void abort_all(void) {
    mpc_stopall(1);
}
static void send(void* buffer, size_t size, int to, int tag) {
    check(mpc_bsend(buffer, size, to, tag));
}
static void receive(void* buffer, size_t size, int from, int tag) {
    size_t got;
    check(mpc_brecv(buffer, size, &from, &tag, &got));
}
static void send_receive(size_t size, int other) {
    size_t got;
    check(mpc_bsendrecv(out, size, other, TAG, in, size, &other, &got));
}
static void start_send(void* buffer, size_t size, int to, Handle* handle) {
    check(mpc_send(buffer, size, to, TAG, handle));
}
static int sources[1 << 15], types[1 << 15], next_wanted;
static void start_receive(void* buffer, size_t size, int from, int tag, Handle* handle) {
    next_wanted = (next_wanted + 1) % (1 << 15);
    sources[next_wanted] = from, types[next_wanted] = tag;
    check(mpc_recv(buffer, size, &sources[next_wanted], &types[next_wanted], handle));
}
static void end(Handle* handle) {
    size_t got;
    check(mpc_wait(handle, &got));
}
static void synchronise(void) {
    check(mpc_sync(ALLGRP));
}
#endif

static void fail(const char* what) {
    fprintf(stderr, "comm_bench: task %d: %s\n", me, what);
    abort_all();
    exit(1);
}

#include "repetitions.h"

static void ping_pong(size_t size) {
    if (me == 0) {
        send(out, size, 1, TAG);
        receive(in, size, 1, TAG);
    } else {
        receive(in, size, 0, TAG);
        send(out, size, 0, TAG);
    }
}

static void stream(size_t size) {
    for (int i = 0; i < WINDOW; ++i) {
        if (me == 0) {
            send(out, size, 1, TAG);
        } else {
            receive(in, size, 0, TAG);
        }
    }
    if (me == 0) {
        receive(in, 0, 1, TAG);
    } else {
        send(out, 0, 0, TAG);
    }
}

static void both_ways(size_t size) {
    send_receive(size, 1 - me);
}

static void exchange(size_t size) {
    Handle handles[4];
    start_receive(in, size, 1 - me, TAG, &handles[0]);
    start_receive(in + LARGEST, size, 1 - me, TAG, &handles[1]);
    start_send(out, size, 1 - me, &handles[2]);
    start_send(out + LARGEST, size, 1 - me, &handles[3]);
    for (int i = 0; i < 4; ++i) end(&handles[i]);
}

static void eight_bytes(size_t size) {
    (void)size;
    ping_pong(8);
}

static void barrier(size_t size) {
    (void)size;
    synchronise();
}

/* `number` messages wait at each of the two, or receives, while 8 bytes go to and fro. */
static void crowd(const char* name, size_t number) {
    Handle* handles = malloc((number + 1) * sizeof *handles);
    const int unexpected = strcmp(name, "unexpected") == 0;
    if (handles == NULL) fail("out of memory");
    for (size_t i = 0; i < number; ++i) {
        if (unexpected) {
            send(out, 8, 1 - me, LATE + (int)i);
        } else {
            start_receive(in, 8, 1 - me, LATE + (int)i, &handles[i]);
        }
    }
    measure(name, eight_bytes, number, 2);
    for (size_t i = 0; i < number; ++i) {
        if (unexpected) {
            receive(in, 8, 1 - me, LATE + (int)i);
        } else {
            send(out, 8, 1 - me, LATE + (int)i);
        }
    }
    for (size_t i = 0; !unexpected && i < number; ++i) end(&handles[i]);
    free(handles);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    int word = pin_as_told(argc, argv);
    if (word >= argc || tasks < 2) fail("usage: comm_bench [-pin cores|one] OPERATION BYTES...");
    const char* name = argv[word++];
    const size_t room = (size_t)2 * LARGEST;
    out = aligned_alloc(4096, room);
    in = aligned_alloc(4096, room);
    if (out == NULL || in == NULL) fail("out of memory");
    memset(out, me, room);
    memset(in, me, room);
    if (tasks == 2) map_line();
    if (strcmp(name, "sync") == 0) measure(name, barrier, 0, 1);
    for (; word < argc; ++word) {
        const size_t size = strtoul(argv[word], NULL, 10);
        if (strcmp(name, "pingpong") == 0) measure(name, ping_pong, size, 2);
        if (strcmp(name, "stream") == 0) measure(name, stream, size, WINDOW);
        if (strcmp(name, "sendrecv") == 0) measure(name, both_ways, size, 1);
        if (strcmp(name, "exchange") == 0) measure(name, exchange, size, 1);
        if (strcmp(name, "unexpected") == 0 || strcmp(name, "posted") == 0) crowd(name, size);
    }
    finish();
    return 0;
}
