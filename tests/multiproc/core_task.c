/* core_task TASK HOW: task TASK reads a character, or the end, and dies in a known place; HOW is
 * "fault", "abort", "handler", or "short" for a place whose name has one letter. The others wait to be ended. A second thread of each does nothing.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
static sem_t begun;

static void* do_nothing(void* unused) {
    (void)unused;
    sem_post(&begun);
    for (;;) pause();
    return NULL;
}

__attribute__((noinline)) static void the_bad_place(const char* how) {
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "nothing") != 0) *(volatile int*)8 = sink;
    sink++;
}

/* The demangler of C++ would call these float and void. */
__attribute__((noinline)) static void v(const char* how) {
    the_bad_place(how);
    sink++;
}
__attribute__((noinline)) static void f(const char* how) {
    v(how);
    sink++;
}

/* What runtimes do that say something at their end. */
static void on_fault(int number) {
    static const char text[] = "the program's own handler\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char** argv) {
    pthread_t thread;
    sem_init(&begun, 0, 0);
    if (argc != 3 || pthread_create(&thread, NULL, do_nothing, NULL) != 0) return 2;
    sem_wait(&begun);
    if (strcmp(argv[2], "handler") == 0) signal(SIGSEGV, on_fault);
    if (atoi(argv[1]) == atoi(getenv("MP_CHILD"))) {
        getchar();
        if (strcmp(argv[2], "short") == 0) f(argv[2]);
        the_bad_place(argv[2]);
    }
    for (;;) pause();
    return 0;
}
