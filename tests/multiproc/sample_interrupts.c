/* Calls that a signal would interrupt, each again and again in a thread of its own, with some computing before each call, until
   the program has used so much processor time.
   Ends with status 1 and names the calls if one of them fails with EINTR, or transfers less than it was asked to.
     sample_interrupts MS */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kLong = 1 << 20 };

static double end;
static int epoll_file, semaphores, pipe_ends[2], sockets[2];
static const struct timespec kShort = {0, 300000};

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static __attribute__((noinline, noclone)) double compute(void) {
    double volatile sum = 0;
    for (int i = 1; i < 20000; ++i) sum += 1.0 / i;
    return sum;
}

static int interrupted(long result) {
    return result < 0 && errno == EINTR;
}

/* Each makes its call once, and returns whether the call was interrupted. */
static int do_poll(char* memory) {
    (void)memory;
    return interrupted(poll(NULL, 0, 1));
}
static int do_select(char* memory) {
    struct timeval limit = {0, 300};
    (void)memory;
    return interrupted(select(0, NULL, NULL, NULL, &limit));
}
static int do_nanosleep(char* memory) {
    (void)memory;
    return interrupted(nanosleep(&kShort, NULL));
}
static int do_epoll_wait(char* memory) {
    struct epoll_event event;
    (void)memory;
    return interrupted(epoll_wait(epoll_file, &event, 1, 1));
}
static int do_semtimedop(char* memory) {
    struct sembuf take = {0, -1, 0};
    (void)memory;
    return interrupted(semtimedop(semaphores, &take, 1, &kShort));
}
static int do_sigtimedwait(char* memory) {
    sigset_t set;
    (void)memory;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return interrupted(sigtimedwait(&set, NULL, &kShort));
}
static int do_write(char* memory) {
    return write(pipe_ends[1], memory, kLong) != kLong;
}
static int do_send(char* memory) {
    return send(sockets[1], memory, kLong, 0) != kLong;
}

static struct Caller {
    const char* name;
    int (*call)(char*);
    long calls, bad;
} callers[] = {{"poll", do_poll, 0, 0},
               {"select", do_select, 0, 0},
               {"nanosleep", do_nanosleep, 0, 0},
               {"epoll_wait", do_epoll_wait, 0, 0},
               {"semtimedop", do_semtimedop, 0, 0},
               {"sigtimedwait", do_sigtimedwait, 0, 0},
               {"write", do_write, 0, 0},
               {"send", do_send, 0, 0}};
enum { kCallers = sizeof callers / sizeof *callers };

static void* call_often(void* data) {
    struct Caller* const caller = data;
    char* const memory = calloc(1, kLong);
    while (now_ms() < end) {
        compute();
        ++caller->calls;
        caller->bad += caller->call(memory);
    }
    if (caller->call == do_write) close(pipe_ends[1]);
    if (caller->call == do_send) shutdown(sockets[1], SHUT_RDWR);
    free(memory);
    return NULL;
}

/* The other ends: the first reads whatever comes, the second waits for whole messages. */
static void* drain(void* unused) {
    char* const memory = malloc(kLong);
    (void)unused;
    while (read(pipe_ends[0], memory, kLong) > 0) continue;
    free(memory);
    return NULL;
}
static void* receive(void* unused) {
    static struct Caller caller = {"recv", NULL, 0, 0};
    char* const memory = malloc(kLong);
    (void)unused;
    for (ssize_t count; (count = recv(sockets[0], memory, kLong, MSG_WAITALL)) != 0;)
        caller.bad += count != kLong;
    free(memory);
    return &caller;
}

int main(int argc, char** argv) {
    pthread_t threads[kCallers], drains, receives;
    void* receiver;
    int status = 0;
    if (argc < 2 || pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 2;
    epoll_file = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    end = now_ms() + atof(argv[1]);
    pthread_create(&drains, NULL, drain, NULL);
    pthread_create(&receives, NULL, receive, NULL);
    for (int i = 0; i < kCallers; ++i) pthread_create(&threads[i], NULL, call_often, &callers[i]);
    for (int i = 0; i < kCallers; ++i) {
        pthread_join(threads[i], NULL);
        if (callers[i].bad == 0 && callers[i].calls > 0) continue;
        printf("%s: %ld of %ld calls\n", callers[i].name, callers[i].bad, callers[i].calls);
        status = 1;
    }
    pthread_join(drains, NULL);
    pthread_join(receives, &receiver);
    if (((struct Caller*)receiver)->bad > 0) {
        printf("recv: %ld calls\n", ((struct Caller*)receiver)->bad);
        status = 1;
    }
    semctl(semaphores, 0, IPC_RMID);
    if (status == 0) puts("done");
    return status;
}
