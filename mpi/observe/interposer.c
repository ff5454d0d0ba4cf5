/* libpoe-observe.so: stands between a program and its MPI library, whichever that is. pmd has it
   preloaded into tasks; it is never linked. It needs nothing but libc and does nothing before the
   first call of MPI, because it is also in programs that have nothing to do with MPI.

   It defines the public functions of MPI that may communicate, under both names, and knows no mpi.h:
   every argument of such a function is an integer or an address, so it is handed on as one word.
   A library may call its own public functions; only the outermost call of a thread is the program's.
   Fortran's entry points call the functions of C under one of the two names, so Fortran is observed
   without entry points of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/observe/observed_call.h"

#define EXPORT __attribute__((visibility("default")))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

typedef long (*Function)(void);

enum {
#define NUMBER(name, number) name = number,
#include "mpi/observe/numbers.inc"
};

/* The functions behind ours: by number, under MPI_X and PMPI_X. Found at the first call of each. */
static Function behind[kNumbers][2];
static const struct PoeRecorder* recorder;
/* What the wrappers do, which the first call of MPI decides. POE's own library shows its calls itself, so the
   wrappers step aside: they jump to its functions, which then find the program's return address. */
enum Mode { kUndecided, kObserving, kAside };
static int mode;
/* The frame of the thread's outermost call of MPI; null outside. The stack grows downwards, so a call
   whose frame is not below it is not inside of it: that one ended without returning (longjmp). */
static __thread const char* outermost __attribute__((tls_model("initial-exec")));

/* The object that contains this address of code. */
static void* object_of(const void* address) {
    Dl_info info;
    struct link_map* map = NULL;
    if (address == NULL || dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name[0] == '\0')
        return NULL;
    return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

/* The object whose call loaded the recorder: it can see the MPI library even if the library was
   loaded with RTLD_LOCAL, as Python does. */
static void* known_object;

static void* look_up(const char* name, void* object) {
    void* found = dlsym(RTLD_NEXT, name);
    return found != NULL || object == NULL ? found : dlsym(object, name);
}

/* What the recorder looks for is not interposed. It may be an object that the program has a copy of. */
static void* find_for_recorder(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    return found != NULL || known_object == NULL ? found : dlsym(known_object, name);
}

/* True if the object with this address is a library of POE: then it needs POE's engine. */
static int is_own(const void* address) {
    Dl_info info;
    struct link_map* map = NULL;
    const char* names = NULL;
    if (dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) return 0;
    for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB) names = (const char*)entry->d_un.d_ptr;
    for (const ElfW(Dyn)* entry = map->l_ld; names != NULL && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED && strncmp(names + entry->d_un.d_val, "libpoe_engine.so.",
                                                 strlen("libpoe_engine.so.")) == 0)
            return 1;
    return 0;
}

static Function find(unsigned number, int profiling, const char* name, const void* site) {
    /* The name of a wrapper begins with "PMPI_"; without the first letter it is the other name. */
    Function function = (Function)look_up(profiling ? name : name + 1, object_of(site));
    if (function == NULL) {
        fprintf(stderr,
                "ERROR: poe cannot find %s of the program's MPI library, which it observes. Run "
                "the program with "
                "-observe no.\n",
                profiling ? name : name + 1);
        abort();
    }
    __atomic_store_n(&behind[number - kFirstNumber][profiling], function, __ATOMIC_RELEASE);
    return function;
}

static Function known(unsigned number, int profiling) {
    return __atomic_load_n(&behind[number - kFirstNumber][profiling], __ATOMIC_ACQUIRE);
}

/* A call before the wrappers know what they do, or the first one of a function while they step aside. Returns the function
   to jump to; null if the wrappers observe. */
static __attribute__((noinline)) Function find_aside(unsigned number, int profiling,
                                                     const char* name, const void* site) {
    const Function function = find(number, profiling, name, site);
    if (__atomic_load_n(&mode, __ATOMIC_ACQUIRE) == kUndecided)
        __atomic_store_n(&mode, is_own((const void*)function) ? kAside : kObserving,
                         __ATOMIC_RELEASE);
    return __atomic_load_n(&mode, __ATOMIC_ACQUIRE) == kAside ? function : NULL;
}

/* Loads the recorder, which is in the folder of this library. */
static void start_recorder(const void* site) {
    static struct PoeInterposer interposer = {.find = find_for_recorder};
    Dl_info own;
    char path[4096];
    if (getenv("MP_SEGMENT") == NULL || dladdr((const void*)&behind, &own) == 0) return;
    const char* slash = strrchr(own.dli_fname, '/');
    const int length = slash == NULL ? 0 : (int)(slash + 1 - own.dli_fname);
    if (snprintf(path, sizeof path, "%.*slibpoe-recorder.so", length, own.dli_fname) >=
        (int)sizeof path)
        return;
    interposer.library_threads_count = poe_library_threads(interposer.library_threads);
    known_object = object_of(site);
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct PoeRecorder* (*start)(const struct PoeInterposer*) = NULL;
    if (library != NULL)
        start = (const struct PoeRecorder* (*)(const struct PoeInterposer*))dlsym(
            library, "poe_start_recorder");
    if (start == NULL) {
        fprintf(stderr, "ATTENTION: poe does not observe the MPI calls of process %d: %s.\n",
                (int)getpid(), dlerror());
        return;
    }
    __atomic_store_n(&recorder, start(&interposer), __ATOMIC_RELEASE);
}

static int is_init(unsigned number) {
    return number == kNumberOfInit || number == kNumberOfInitThread;
}

/* Make the call with as many words as most functions have arguments, or with all. A function does not look
   at arguments that it does not have, and its caller removes them. */
static inline long forward(Function function, int wide, const long* a) {
    typedef long (*Usual)(long, long, long, long, long, long, long);
    typedef long (*Widest)(long, long, long, long, long, long, long, long, long, long, long, long,
                           long, long);
    void (*const any)(void) = (void (*)(void))function;
    if (!wide) return ((Usual)any)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    return ((Widest)any)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                         a[12], a[13]);
}

/* Runs when a call ends, also when an exception of C++ passes through it. */
static void leave_outermost(const char** entered) {
    (void)entered;
    outermost = NULL;
}

static inline __attribute__((always_inline)) long observe(struct PoeObservedCall* call,
                                                          int profiling, const char* name,
                                                          int wide) {
    const unsigned place = call->number - kFirstNumber;
    Function function = known(call->number, profiling);
    if (UNLIKELY(function == NULL)) function = find(call->number, profiling, name, call->site);
    const char* frame = (const char*)call;
    if (UNLIKELY(outermost != NULL) && frame < outermost)
        return forward(function, wide, call->arguments.words);
    const char* entered __attribute__((cleanup(leave_outermost))) = frame;
    outermost = entered;
    const struct PoeRecorder* const to = __atomic_load_n(&recorder, __ATOMIC_ACQUIRE);
    if (UNLIKELY(to == NULL)) {
        if (is_init(call->number)) poe_before_init();
        const long result = forward(function, wide, call->arguments.words);
        if ((int)result == 0 && is_init(call->number)) start_recorder(call->site);
        return result;
    }
    const struct PoeHooks hooks = to->hooks[place];
    if (UNLIKELY(hooks.before == NULL)) return forward(function, wide, call->arguments.words);
    hooks.before(call);
    const long result = forward(function, wide, call->arguments.words);
    hooks.after(call, (int)result);
    return result;
}

static __attribute__((noinline)) long observed(struct PoeObservedCall* call, int profiling,
                                               const char* name) {
    return observe(call, profiling, name, 0);
}
static __attribute__((noinline)) long observed_wide(struct PoeObservedCall* call, int profiling,
                                                    const char* name) {
    return observe(call, profiling, name, 1);
}

/* One wrapper: the function under both names. The words for the recorder (kept, status) are not initialized,
   because the recorder writes them before it reads them. The wrapper jumps to another function of the same type without a
   frame of its own; what needs a frame for that is in first_X. Another library may define the same name, so first_X calls
   the wrapper by a local name. */
#define ENTRY(observed, call_number, profiling, entry, profiling_name, parameters, ...)   \
    EXPORT long entry parameters;                                                         \
    static long local_##entry parameters __attribute__((alias(#entry)));                  \
    static __attribute__((noinline, cold)) long first_##entry parameters {                \
        void (*const function)(void) = (void (*)(void))find_aside(                        \
            call_number, profiling, profiling_name, __builtin_return_address(0));         \
        if (function != NULL) return ((long(*) parameters)function)(__VA_ARGS__);         \
        return local_##entry(__VA_ARGS__);                                                \
    }                                                                                     \
    EXPORT long entry parameters {                                                        \
        if (UNLIKELY(__atomic_load_n(&mode, __ATOMIC_ACQUIRE) != kObserving)) {           \
            void (*const function)(void) = (void (*)(void))known(call_number, profiling); \
            if (function != NULL) return ((long(*) parameters)function)(__VA_ARGS__);     \
            return first_##entry(__VA_ARGS__);                                            \
        }                                                                                 \
        struct PoeObservedCall call;                                                      \
        call.number = call_number;                                                        \
        call.site = __builtin_return_address(0);                                          \
        call.arguments = (struct PoeArguments){{__VA_ARGS__}};                            \
        return observed(&call, profiling, profiling_name);                                \
    }
#define WRAPPER(observed, number, name, parameters, ...)                 \
    ENTRY(observed, number, 0, name, "P" #name, parameters, __VA_ARGS__) \
    ENTRY(observed, number, 1, P##name, "P" #name, parameters, __VA_ARGS__)
#define WRAPPER_0(number, name) WRAPPER(observed, number, name, (void))
#define WRAPPER_1(number, name) WRAPPER(observed, number, name, (long a), a)
#define WRAPPER_2(number, name) WRAPPER(observed, number, name, (long a, long b), a, b)
#define WRAPPER_3(number, name) WRAPPER(observed, number, name, (long a, long b, long c), a, b, c)
#define WRAPPER_4(number, name) \
    WRAPPER(observed, number, name, (long a, long b, long c, long d), a, b, c, d)
#define WRAPPER_5(number, name) \
    WRAPPER(observed, number, name, (long a, long b, long c, long d, long e), a, b, c, d, e)
#define WRAPPER_6(number, name)                                                                   \
    WRAPPER(observed, number, name, (long a, long b, long c, long d, long e, long f), a, b, c, d, \
            e, f)
#define WRAPPER_7(number, name)                                                                  \
    WRAPPER(observed, number, name, (long a, long b, long c, long d, long e, long f, long g), a, \
            b, c, d, e, f, g)
#define WRAPPER_8(number, name)                                                                    \
    WRAPPER(observed_wide, number, name,                                                           \
            (long a, long b, long c, long d, long e, long f, long g, long h), a, b, c, d, e, f, g, \
            h)
#define WRAPPER_9(number, name)                                                                   \
    WRAPPER(observed_wide, number, name,                                                          \
            (long a, long b, long c, long d, long e, long f, long g, long h, long i), a, b, c, d, \
            e, f, g, h, i)
#define WRAPPER_10(number, name)                                                                 \
    WRAPPER(observed_wide, number, name,                                                         \
            (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j), a, \
            b, c, d, e, f, g, h, i, j)
#define WRAPPER_11(number, name)                                                                  \
    WRAPPER(                                                                                      \
        observed_wide, number, name,                                                              \
        (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k), \
        a, b, c, d, e, f, g, h, i, j, k)
#define WRAPPER_12(number, name)                                                             \
    WRAPPER(observed_wide, number, name,                                                     \
            (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, \
             long k, long l),                                                                \
            a, b, c, d, e, f, g, h, i, j, k, l)
#define WRAPPER_13(number, name)                                                             \
    WRAPPER(observed_wide, number, name,                                                     \
            (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, \
             long k, long l, long m),                                                        \
            a, b, c, d, e, f, g, h, i, j, k, l, m)

#pragma GCC diagnostic push
/* The prototypes are those of the MPI library, which this file does not know. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "mpi/observe/wrappers.inc"
#pragma GCC diagnostic pop
