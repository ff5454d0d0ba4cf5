/* A task that speaks PMI-1 by itself and spawns: Debian's MPICH (ch4:ucx) has the protocol, but
 * refuses MPI_Comm_spawn before it says a word. Without an argument: task 0 spawns 1 task "first"
 * and 2 tasks "second", gives them a greeting in their space, and waits for the names that they
 * publish. "missing": task 0 asks for a program that is not there. "endless": for too many tasks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char answer[4096];

static const char* ask(const char* text) {
    const int fd = atoi(getenv("PMI_FD"));
    size_t count = 0;
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) exit(90);
    while (count + 1 < sizeof answer && read(fd, answer + count, 1) == 1)
        if (answer[count++] == '\n') break;
    answer[count] = 0;
    return answer;
}

static const char* value_of(const char* name) {
    static char value[1024];
    const char* at = strstr(answer, name);
    if (at == NULL || sscanf(at + strlen(name), "%1023s", value) != 1) exit(91);
    return value;
}

static void expect(const char* text, const char* beginning) {
    if (strncmp(ask(text), beginning, strlen(beginning)) == 0) return;
    fprintf(stderr, "instead of %s: %s", beginning, answer);
    exit(92);
}

static void wait_for_name(const char* name) {
    const struct timespec moment = {0, 1000000};
    char text[128];
    snprintf(text, sizeof text, "cmd=lookup_name service=%s\n", name);
    while (strstr(ask(text), "rc=0") == NULL) nanosleep(&moment, NULL);
    printf("%s is at %s\n", name, value_of("port="));
}

static void spawn(const char* program) {
    char text[4096];
    int length = 0;
    for (int part = 1; part <= 2; ++part)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "mcmd=spawn\nnprocs=%d\nexecname=%s\ntotspawns=2\nspawnssofar=%d\n"
                           "arg1=%s\nargcnt=1\npreput_num=1\npreput_key_0=greeting\n"
                           "preput_val_0=good morning\ninfo_num=0\nendcmd\n",
                           part, program, part, part == 1 ? "first" : "second");
    expect(text, "cmd=spawn_result rc=0");
    wait_for_name("first-0");
    wait_for_name("second-1");
    wait_for_name("second-2");
}

static void be_spawned(const char* what) {
    char text[512];
    ask("cmd=get_my_kvsname\n");
    snprintf(text, sizeof text, "cmd=get kvsname=%s key=greeting\n", value_of("kvsname="));
    expect(text, "cmd=get_result rc=0 msg=success value=good morning\n");
    ask("cmd=get_appnum\n");
    printf("%s: %s of %s, program %s\n", what, getenv("PMI_RANK"), getenv("PMI_SIZE"),
           value_of("appnum="));
    fflush(stdout);
    snprintf(text, sizeof text, "cmd=publish_name service=%s-%s port=port-%s\n", what,
             getenv("PMI_RANK"), getenv("PMI_RANK"));
    expect(text, "cmd=publish_result info=ok rc=0");
    expect("cmd=barrier_in\n", "cmd=barrier_out rc=0");
}

int main(int argc, char** argv) {
    const int first = getenv("PMI_SPAWNED") == NULL && strcmp(getenv("PMI_RANK"), "0") == 0;
    expect("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init");
    if (getenv("PMI_SPAWNED") != NULL) {
        be_spawned(argv[1]);
    } else if (first && argc > 1) {
        char text[256];
        snprintf(text, sizeof text, "mcmd=spawn\nnprocs=%s\nexecname=%s\nargcnt=0\nendcmd\n",
                 strcmp(argv[1], "missing") == 0 ? "2" : "4000000",
                 strcmp(argv[1], "missing") == 0 ? "/nonexistent/program" : argv[0]);
        expect(text, "cmd=spawn_result rc=-1");
        printf("refused\n");
    } else if (first) {
        spawn(argv[0]);
    }
    expect("cmd=barrier_in\n", "cmd=barrier_out rc=0");
    expect("cmd=finalize\n", "cmd=finalize_ack");
    return 0;
}
