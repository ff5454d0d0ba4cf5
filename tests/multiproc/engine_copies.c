/* engine_copies HOW LIBRARY COPY: loads libmpl twice by different ways, as two extensions of a program
 * would, and uses both in one job. Each has its own entry points; there must be one engine and one task.
 *
 *   local    both with RTLD_LOCAL
 *   global   the second with RTLD_GLOBAL
 *   lazy     both with RTLD_LOCAL and RTLD_LAZY, the copy first
 *
 * Then it unloads both and loads libmpl once more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void* library;
    int (*environ_of)(int*, int*);
    int (*bsend)(const void*, size_t, int, int);
    int (*brecv)(void*, size_t, int*, int*, int*);
    int (*combine)(const void*, void*, size_t, void (*)(void*, void*, void*, int*), int);
    int (*sync)(int);
    void (*add)(void*, void*, void*, int*);
    int (*lights)(void);
} Calls;

static void fail(const char* what) {
    fprintf(stderr, "engine_copies: %s\n", what);
    exit(1);
}

static void* find(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (found == NULL) fail(dlerror());
    return found;
}

static Calls load(const char* path, int flags) {
    void* library = dlopen(path, flags);
    if (library == NULL) fail(dlerror());
    Calls calls;
    calls.library = library;
    *(void**)&calls.environ_of = find(library, "mpc_environ");
    *(void**)&calls.bsend = find(library, "mpc_bsend");
    *(void**)&calls.brecv = find(library, "mpc_brecv");
    *(void**)&calls.combine = find(library, "mpc_combine");
    *(void**)&calls.sync = find(library, "mpc_sync");
    *(void**)&calls.add = find(library, "i_vadd");
    *(void**)&calls.lights = find(library, "mpc_nlights");
    return calls;
}

static int count_engine(struct dl_phdr_info* object, size_t size, void* count) {
    (void)size;
    if (strstr(object->dlpi_name, "libpoe_engine") != NULL) ++*(int*)count;
    return 0;
}

int main(int argc, char** argv) {
    if (argc < 4) fail("usage: engine_copies HOW LIBRARY COPY");
    const int lazy = strcmp(argv[1], "lazy") == 0;
    const int global = strcmp(argv[1], "global") == 0;
    const int flags = RTLD_LOCAL | (lazy ? RTLD_LAZY : RTLD_NOW);
    Calls first = load(argv[lazy ? 3 : 2], flags);
    int n = 0, me = -1, again_n = 0, again_me = -1;
    if (first.environ_of(&n, &me) != 0) fail("the first library is not in the job");
    Calls second = load(argv[lazy ? 2 : 3], global ? RTLD_NOW | RTLD_GLOBAL : flags);
    if (first.bsend == second.bsend) fail("the copy is the same library");
    if (second.environ_of(&again_n, &again_me) != 0) fail("the second library is not in the job");
    if (again_n != n || again_me != me) fail("the libraries disagree about the task");
    int engines = 0;
    dl_iterate_phdr(count_engine, &engines);
    if (engines != 1) fail("there is not exactly one engine");

    /* A ring of messages sent by one library and received by the other, through this task too. */
    int value = 100 + me, got = 0, source = (me + n - 1) % n, type = 5, bytes = 0;
    if (first.bsend(&value, sizeof value, (me + 1) % n, 5) != 0) fail("mpc_bsend");
    if (second.brecv(&got, sizeof got, &source, &type, &bytes) != 0) fail("mpc_brecv");
    if (got != 100 + source) fail("the message has a wrong value");
    if (second.bsend(&value, sizeof value, me, 6) != 0) fail("mpc_bsend to the task itself");
    source = me;
    type = 6;
    if (first.brecv(&got, sizeof got, &source, &type, &bytes) != 0) fail("mpc_brecv from itself");

    int sum = 0;
    if (first.combine(&value, &sum, sizeof sum, first.add, 0) != 0) fail("mpc_combine");
    if (second.combine(&sum, &got, sizeof sum, second.add, 0) != 0) fail("mpc_combine, second");
    if (got != n * (100 * n + n * (n - 1) / 2)) fail("the sum is wrong");
    if (first.lights() != second.lights()) fail("the libraries disagree about the lights");
    if (first.sync(0) != 0 || second.sync(0) != 0) fail("mpc_sync");
    /* The engine stays when both are unloaded, and is the one that a library loaded later finds. */
    if (dlclose(first.library) != 0 || dlclose(second.library) != 0) fail("dlclose");
    first = load(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (first.environ_of(&again_n, &again_me) != 0) fail("the library is not in the job any more");
    if (again_n != n || again_me != me) fail("the task has changed");
    if (first.sync(0) != 0) fail("mpc_sync after loading again");
    printf("%d of %d\n", me, n);
    return 0;
}
