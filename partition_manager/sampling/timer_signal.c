/* libpoe-sample.so: takes call stacks inside of a task if the kernel allows no perf events. pmd has it preloaded into
   tasks; it is never linked and needs libc only. docs/sampling.md says why it takes them in this way.

   Each thread has a timer of its own processor time. The kernel looks at such timers when the thread returns to the
   program, so the signal never interrupts a system call (Linux 5.9 and later on x86-64; pmd uses nothing else). The
   signal is SIGURG: its default is to be ignored, so it harms nothing where the handler is gone, debuggers let it
   pass, and programs that use it must expect more of them than there is news. If a program sets an action for it,
   sampling of the process ends.

   The handler copies registers and stack to a slot and calls nothing of libc that takes locks. process_vm_readv copies
   the stack, because it stops at the end of the memory instead of causing a fault. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "partition_manager/sampling/sample_slots.h"

#define EXPORT __attribute__((visibility("default")))

enum { kSignal = SIGURG, kPage = 4096 };

/* A thread with a timer. */
struct Thread {
    int timer;
    struct Thread* next;
    struct Thread** link; /* what points to this one */
    void* (*start)(void*);
    void* argument;
};

static struct PoeSampleSlots* slots; /* null: this process is not sampled */
static int task;
static pthread_key_t thread_key; /* its destructor ends the timer of a thread */
static struct Thread main_thread;
static struct Thread* threads; /* all that have timers */
static int threads_lock;
static int yielded; /* the program uses the signal itself */
static struct sigaction
    program_action; /* what the program believes to be the action of the signal */

static pid_t own_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns a slot that the calling thread may fill; null if all are in use. */
static struct PoeSampleSlot* claim(pid_t thread) {
    uint64_t const first = __atomic_fetch_add(&slots->next, 1, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < slots->slots; ++i) {
        struct PoeSampleSlot* const slot = poe_sample_slot(slots, (first + i) % slots->slots);
        uint64_t free_state = 0;
        if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&slot->state, &free_state,
                                        (uint64_t)thread << 2 | kPoeSampleFilling, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return slot;
    }
    __atomic_fetch_add(&slots->lost, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void publish(struct PoeSampleSlot* slot) {
    __atomic_store_n(&slot->state, (uint64_t)slot->thread << 2 | kPoeSampleFilled,
                     __ATOMIC_RELEASE);
}

/* Reports that the process has begun to run a program or was forked. */
static void report(enum PoeSampleKind kind) {
    pid_t const thread = own_thread();
    struct PoeSampleSlot* const slot = claim(thread);
    if (slot == NULL) return;
    slot->time = now_ns();
    slot->kind = kind;
    slot->task = task;
    slot->process = getpid();
    slot->thread = thread;
    slot->parent = getppid();
    publish(slot);
}

static uint64_t copy_stack(struct PoeSampleSlot* slot, uint64_t address) {
    struct iovec there[kPoeSampleStack / kPage + 1];
    struct iovec const here = {slot->stack, kPoeSampleStack};
    unsigned count = 0;
    /* A part for each page, because parts are copied whole or not at all. */
    for (uint64_t at = 0; at < kPoeSampleStack;) {
        uint64_t part = kPage - (address + at) % kPage;
        if (part > kPoeSampleStack - at) part = kPoeSampleStack - at;
        there[count++] = (struct iovec){(void*)(address + at), part};
        at += part;
    }
    long const copied =
        syscall(SYS_process_vm_readv, slot->process, &here, 1L, there, (long)count, 0L);
    return copied > 0 ? (uint64_t)copied : 0;
}

static int is_ours(const siginfo_t* info) {
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == (void*)&threads;
}

static void take_sample(int number, siginfo_t* info, void* context) {
    /* The DWARF numbers 0 to 16 of the registers as the context has them. */
    static int const order[kPoeSampleRegisters] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    (void)number;
    if (!is_ours(info) || slots == NULL) return;
    int const saved = errno;
    uint64_t const begin = now_ns();
    pid_t const thread = own_thread();
    struct PoeSampleSlot* const slot = claim(thread);
    if (slot != NULL) {
        const greg_t* const registers = ((const ucontext_t*)context)->uc_mcontext.gregs;
        slot->time = begin;
        slot->kind = kPoeSampleTaken;
        slot->count = 1 + (uint32_t)(info->si_overrun > 0 ? info->si_overrun : 0);
        slot->task = task;
        slot->process = getpid();
        slot->thread = thread;
        slot->parent = 0;
        for (int i = 0; i < kPoeSampleRegisters; ++i)
            slot->registers[i] = (uint64_t)registers[order[i]];
        slot->stack_bytes = copy_stack(slot, (uint64_t)registers[REG_RSP]);
        publish(slot);
    }
    __atomic_fetch_add(&slots->spent, now_ns() - begin, __ATOMIC_RELAXED);
    errno = saved;
}

static void lock_threads(void) {
    while (__atomic_exchange_n(&threads_lock, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}

static void unlock_threads(void) {
    __atomic_store_n(&threads_lock, 0, __ATOMIC_RELEASE);
}

/* Starts the timer of the calling thread. A thread without one is not sampled. */
static void begin_thread(struct Thread* self) {
    pid_t const thread = own_thread();
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event.sigev_value.sival_ptr = &threads;
    event._sigev_un._tid = thread;
    lock_threads();
    if (!yielded && syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) == 0) {
        /* The first period is cut short by a share that differs between threads, so that they are not
           sampled in step. */
        uint64_t const period = slots->period;
        uint64_t const first = 1 + period / 256 * (((uint32_t)thread * 2654435761u) >> 24);
        struct itimerspec const times = {
            {(time_t)(period / 1000000000u), (long)(period % 1000000000u)},
            {(time_t)(first / 1000000000u), (long)(first % 1000000000u)}};
        syscall(SYS_timer_settime, self->timer, 0, &times, NULL);
        self->next = threads;
        self->link = &threads;
        if (threads != NULL) threads->link = &self->next;
        threads = self;
    }
    unlock_threads();
}

static void end_thread(void* data) {
    struct Thread* const self = data;
    lock_threads();
    if (self->link != NULL) {
        syscall(SYS_timer_delete, self->timer);
        *self->link = self->next;
        if (self->next != NULL) self->next->link = self->link;
        self->link = NULL;
    }
    unlock_threads();
    if (self != &main_thread) free(self);
}

/* Ends all timers, because the program has other plans for the signal. */
static void yield_signal(void) {
    lock_threads();
    yielded = 1;
    for (struct Thread* each = threads; each != NULL; each = each->next) {
        syscall(SYS_timer_delete, each->timer);
        each->link = NULL;
    }
    threads = NULL;
    unlock_threads();
}

/* A forked process has the thread that forked, and no timers. */
static void begin_fork(void) {
    struct Thread* self = pthread_getspecific(thread_key);
    threads = NULL;
    threads_lock = 0;
    main_thread.link = NULL;
    report(kPoeSampleForked);
    if (self == NULL) self = &main_thread;
    self->link = NULL;
    begin_thread(self);
}

static void* look_up(void** known, const char* name) {
    void* found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}

typedef int (*Sigaction)(int, const struct sigaction*, struct sigaction*);
typedef void (*Handler)(int);

static int next_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
    static void* known;
    return ((Sigaction)look_up(&known, "sigaction"))(number, action, before);
}

__attribute__((constructor)) static void begin_program(void) {
    const char* const path = getenv(POE_SAMPLE_SLOTS);
    const char* const number = getenv(POE_SAMPLE_TASK);
    struct stat facts;
    struct sigaction action;
    if (path == NULL || number == NULL) return;
    task = atoi(number);
    int const file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* memory = MAP_FAILED;
    if (fstat(file, &facts) == 0 && facts.st_size > (off_t)sizeof(struct PoeSampleSlots))
        memory = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return;
    madvise(memory, (size_t)facts.st_size, MADV_DONTDUMP);
    if (pthread_key_create(&thread_key, end_thread) != 0) return;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (next_sigaction(kSignal, &action, &program_action) != 0) return;
    slots = memory;
    pthread_atfork(NULL, NULL, begin_fork);
    report(kPoeSampleExecuted);
    pthread_setspecific(thread_key, &main_thread);
    begin_thread(&main_thread);
}

/* What a sampled thread begins with. The call of its function is the last one, so that this function is not in its
   stacks. */
static void* run_thread(void* data) {
    struct Thread* const self = data;
    pthread_setspecific(thread_key, self);
    begin_thread(self);
    return self->start(self->argument);
}

typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument) {
    static void* known;
    Create const create = (Create)look_up(&known, "pthread_create");
    struct Thread* const self = slots == NULL ? NULL : calloc(1, sizeof *self);
    if (self == NULL) return create(thread, attributes, start, argument);
    self->start = start;
    self->argument = argument;
    int const error = create(thread, attributes, run_thread, self);
    if (error != 0) free(self);
    return error;
}

EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
    if (number != kSignal || slots == NULL || yielded)
        return next_sigaction(number, action, before);
    struct sigaction const known = program_action;
    if (action != NULL) {
        struct sigaction ignored = {.sa_handler = SIG_IGN};
        yield_signal();
        next_sigaction(number, &ignored, NULL); /* forgets what is pending */
        if (next_sigaction(number, action, NULL) != 0) return -1;
    }
    if (before != NULL) *before = known;
    return 0;
}

EXPORT Handler signal(int number, Handler handler) {
    static void* known;
    if (number != kSignal || slots == NULL || yielded)
        return ((Handler(*)(int, Handler))look_up(&known, "signal"))(number, handler);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction before;
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* A program that has blocked all signals and waits for them must not get ours. */
typedef int (*Timed)(const sigset_t*, siginfo_t*, const struct timespec*);

static int wait_for_signal(const sigset_t* set, siginfo_t* info, const struct timespec* limit) {
    static void* known;
    Timed const timed = (Timed)look_up(&known, "sigtimedwait");
    uint64_t const begin = now_ns();
    struct timespec rest = {0, 0};
    siginfo_t found;
    if (limit != NULL) rest = *limit;
    for (;;) {
        int const number = timed(set, &found, limit == NULL ? NULL : &rest);
        if (number != kSignal || !is_ours(&found)) {
            if (number > 0 && info != NULL) *info = found;
            return number;
        }
        if (limit == NULL) continue;
        uint64_t const whole = (uint64_t)limit->tv_sec * 1000000000u + (uint64_t)limit->tv_nsec;
        uint64_t const gone = now_ns() - begin;
        uint64_t const left = gone < whole ? whole - gone : 0;
        rest = (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    }
}

EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* limit) {
    return wait_for_signal(set, info, limit);
}

EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    return wait_for_signal(set, info, NULL);
}

EXPORT int sigwait(const sigset_t* set, int* number) {
    int found;
    do {
        found = wait_for_signal(set, NULL, NULL);
    } while (found < 0 && errno == EINTR);
    if (found < 0) return errno;
    *number = found;
    return 0;
}
