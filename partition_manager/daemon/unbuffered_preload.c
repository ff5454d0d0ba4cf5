/* libpoe-unbuffered.so: makes the standard output of a program line-buffered although it is a pipe.
   pmd has it preloaded into tasks (line_buffering.hpp); it is never linked. A library of its own,
   because it runs inside programs that know nothing of POE, and must need nothing but libc. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* True if standard output is still the pipe that pmd made for the task. */
static int writes_to_task_pipe(const char* pipe) {
    struct stat status;
    char inode[32];
    if (fstat(1, &status) != 0 || !S_ISFIFO(status.st_mode)) return 0;
    snprintf(inode, sizeof inode, "%llu", (unsigned long long)status.st_ino);
    return strcmp(inode, pipe) == 0;
}

/* Programs that this one starts get the environment that they would have without us. */
static void leave_environment(void) {
    const char* before = getenv("MP_UNBUFFERED_PRELOAD");
    if (before == NULL) return; /* all processes are to have it */
    if (*before == '\0')
        unsetenv("LD_PRELOAD");
    else
        setenv("LD_PRELOAD", before, 1);
    unsetenv("MP_UNBUFFERED_PRELOAD");
    unsetenv("MP_UNBUFFERED_PIPE");
}

__attribute__((constructor)) static void begin(void) {
    const char* pipe = getenv("MP_UNBUFFERED_PIPE");
    /* pmd-core becomes the program that is meant. */
    if (pipe == NULL || strcmp(program_invocation_short_name, "pmd-core") == 0) return;
    if (writes_to_task_pipe(pipe)) setvbuf(stdout, NULL, _IOLBF, 0);
    leave_environment();
}
