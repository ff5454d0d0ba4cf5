/* spawn_floor N PROGRAM: starts N processes by posix_spawn and waits for them; nothing else. What a
 * launcher cannot be faster than. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char** environ;

int main(int argc, char** argv) {
    if (argc != 3) return fprintf(stderr, "usage: spawn_floor N PROGRAM\n"), 2;
    char* child[] = {argv[2], NULL};
    for (int i = atoi(argv[1]); i > 0; --i) {
        pid_t pid;
        if (posix_spawn(&pid, argv[2], NULL, NULL, child, environ) != 0) return 1;
    }
    while (wait(NULL) > 0) continue;
    return 0;
}
