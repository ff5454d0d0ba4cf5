/* poe-limits: what this machine's cores, memory and kernel allow, measured bare: the line that no
 * message-passing library can pass. Prints "NAME MEDIAN BEST" in microseconds (half of a round
 * trip, or one operation). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 51, LARGEST = 4 << 20 };

static struct {
    _Alignas(64) atomic_int turn;
    _Alignas(64) char* address;
    _Alignas(64) char ring[2 * LARGEST];
} * shared;
static int sockets[2];
static int side; /* 0 or 1 */
static size_t bytes;
static char *mine, *other;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void spin_turn(void) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != side) continue;
    atomic_store_explicit(&shared->turn, 1 - side, memory_order_release);
}

static void yield_turn(void) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != side) sched_yield();
    atomic_store_explicit(&shared->turn, 1 - side, memory_order_release);
}

static void futex_turn(void) {
    int seen;
    while ((seen = atomic_load(&shared->turn)) != side) {
        syscall(SYS_futex, &shared->turn, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
    atomic_store(&shared->turn, 1 - side);
    syscall(SYS_futex, &shared->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void move_tcp(int receive, int spin) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n =
            receive ? recv(sockets[side], mine + done, bytes - done, spin ? MSG_DONTWAIT : 0)
                    : send(sockets[side], mine + done, bytes - done, spin ? MSG_DONTWAIT : 0);
        if (n > 0) done += (size_t)n;
    }
}

static void tcp_spin_turn(void) {
    move_tcp(side == 0 ? 0 : 1, 1);
    move_tcp(side == 0 ? 1 : 0, 1);
}

static void tcp_block_turn(void) {
    move_tcp(side == 0 ? 0 : 1, 0);
    move_tcp(side == 0 ? 1 : 0, 0);
}

/* The peer's buffer, fetched in one go, each in turn. */
static void cma_turn(void) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != side) continue;
    struct iovec to = {mine, bytes}, from = {shared->address, bytes};
    if (side == 1 && process_vm_readv(getppid(), &to, 1, &from, 1, 0) != (ssize_t)bytes) _exit(3);
    atomic_store_explicit(&shared->turn, 1 - side, memory_order_release);
}

static void copy(void) {
    memcpy(mine, other, bytes);
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("poe-limits: cannot bind to a core");
        _exit(1);
    }
}

/* Runs `step` in this process and, when `pair`, in a second one on core `partner`; `per_step`
 * parts. */
static void measure(const char* name, void (*step)(void), int pair, int partner, double per_step) {
    long count = 1;
    pid_t child = 0;
    side = 0;
    atomic_store(&shared->turn, 0);
    if (pair) {
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pin(partner);
            side = 1;
            for (;;) step();
        }
    }
    double times[REPETITIONS];
    for (int i = -12; i < REPETITIONS; ++i) {
        const double start = now();
        for (long k = 0; k < count; ++k) step();
        const double took = (now() - start) / (double)count;
        if (i >= 0) {
            times[i] = 1e6 * took / per_step;
        } else {
            count = took > 0 ? (long)(2e-3 / took) + 1 : count;
            if (count > 100000) count = 100000;
        }
    }
    if (child > 0) kill(child, SIGKILL);
    qsort(times, REPETITIONS, sizeof times[0], by_value);
    printf("%s %.4f %.4f\n", name, times[REPETITIONS / 2], times[0]);
    fflush(stdout);
}

static void connect_tcp(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &length) != 0) {
        perror("poe-limits: no loopback TCP");
        exit(1);
    }
    sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(sockets[0], (struct sockaddr*)&address, length) != 0) exit(1);
    sockets[1] = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; ++i) setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
}

static void close_tcp(void) {
    close(sockets[0]);
    close(sockets[1]);
}

int main(void) {
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int far = cores > 1 ? 1 : 0;
    char name[64];
    signal(SIGCHLD, SIG_IGN);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mine = aligned_alloc(4096, LARGEST);
    other = aligned_alloc(4096, LARGEST);
    if (shared == MAP_FAILED || mine == NULL || other == NULL) return 1;
    memset(mine, 1, LARGEST);
    memset(other, 2, LARGEST);
    shared->address = other;
    pin(0);
    if (far) measure("line", spin_turn, 1, far, 2);
    if (far) measure("futex_two_cores", futex_turn, 1, far, 2);
    measure("yield_one_core", yield_turn, 1, 0, 2);
    measure("futex_one_core", futex_turn, 1, 0, 2);
    for (bytes = 4096; bytes <= LARGEST; bytes *= 4) {
        snprintf(name, sizeof name, "copy_%zu", bytes);
        measure(name, copy, 0, 0, 1);
        if (!far) continue;
        snprintf(name, sizeof name, "fetch_%zu", bytes);
        measure(name, cma_turn, 1, far, 1);
    }
    if (!far) return 0;
    const size_t sizes[] = {8, 1 << 20};
    for (int i = 0; i < 2; ++i) {
        bytes = sizes[i];
        connect_tcp();
        snprintf(name, sizeof name, "tcp_spin_%zu", bytes);
        measure(name, tcp_spin_turn, 1, far, 2);
        close_tcp();
        connect_tcp();
        snprintf(name, sizeof name, "tcp_block_%zu", bytes);
        measure(name, tcp_block_turn, 1, far, 2);
        close_tcp();
    }
    return 0;
}
