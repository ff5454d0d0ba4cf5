#!/usr/bin/env python3
"""A task of an MPI program dies while it or another one is in a call: the job ends with the right message, or, where
it may go on, the calls of the others return an error class."""

import os
import signal

from launching import DEADLINE, clean_environment, main, start
from poe_mpi import MpiTest, poe

# Task 1 is the victim. In calls of the first group it waits while the others need it; in the others it takes part.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, number, sum;
static char memory[1 << 20], other[1 << 20];
/* Windows with locks in shared memory, and with locks by messages. */
static char port[MPI_MAX_PORT_NAME]; /* of the victim */
static MPI_Win window, dynamic;
static MPI_Group victim;

static int is(const char* name, const char* what) { return strcmp(name, what) == 0; }

/* A call that needs task 1, which does nothing. Returns its code. */
static int lonely(const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    if (is("anysource", what))
        return MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (is("anyprobe", what)) return MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    if (is("anywait", what)) {
        MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, &status);
    }
    if (is("issend", what)) {
        MPI_Issend(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, &status);
    }
    if (is("recv", what)) return MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
    if (is("ssend", what)) return MPI_Ssend(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (is("send", what)) return MPI_Send(memory, sizeof memory, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (is("probe", what)) return MPI_Probe(1, 0, MPI_COMM_WORLD, &status);
    if (is("mprobe", what)) return MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, &status);
    if (is("wait", what)) {
        MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, &status);
    }
    if (is("waitany", what)) {
        int index;
        MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        return MPI_Waitany(1, &request, &index, &status);
    }
    if (is("precv", what) || is("psend", what)) {
        if (is("precv", what))
            MPI_Precv_init(memory, 4, 100, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        else
            MPI_Psend_init(memory, 4, sizeof memory / 4, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        if (is("psend", what)) MPI_Pready_range(0, 3, request);
        return MPI_Wait(&request, &status);
    }
    if (is("connect", what)) {
        MPI_Comm inter;
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
        return MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    if (is("from_group", what)) {
        MPI_Group all, pair;
        MPI_Comm made;
        const int ranks[2] = {1, rank};
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 2, ranks, &pair);
        return MPI_Comm_create_from_group(pair, "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    }
    if (is("win_start", what)) return MPI_Win_start(victim, 0, window);
    if (is("win_wait", what)) {
        const int code = MPI_Win_post(victim, 0, window);
        return code != MPI_SUCCESS ? code : MPI_Win_wait(window);
    }
    if (is("win_lock", what)) {
        const int code = MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, dynamic);
        return code != MPI_SUCCESS ? code : MPI_Win_unlock(1, dynamic);
    }
    if (is("put", what)) {
        int code = MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, window);
        if (code == MPI_SUCCESS) code = MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        return code != MPI_SUCCESS ? code : MPI_Win_unlock(1, window);
    }
    if (is("sendrecv", what))
        return MPI_Sendrecv(memory, 1, MPI_INT, 1, 0, &number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
    return -1;
}

/* A call that all members make. */
static int together(const char* what) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    int code = -1;
    if (is("win_fence", what)) return MPI_Win_fence(0, window);
    if (is("barrier", what)) return MPI_Barrier(MPI_COMM_WORLD);
    if (is("bcast", what)) return MPI_Bcast(memory, 100, MPI_INT, 1, MPI_COMM_WORLD);
    if (is("allreduce", what)) return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (is("reduce", what)) return MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (is("longreduce", what))
        return MPI_Allreduce(memory, other, 100000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (is("alltoall", what))
        return MPI_Alltoall(memory, 50000, MPI_INT, other, 50000, MPI_INT, MPI_COMM_WORLD);
    if (is("gatherv", what)) {
        int counts[16], places[16];
        for (int i = 0; i < size; ++i) counts[i] = 1000, places[i] = 1000 * i;
        return MPI_Gatherv(memory, 1000, MPI_INT, other, counts, places, MPI_INT, 1, MPI_COMM_WORLD);
    }
    if (is("ibcast", what)) {
        code = MPI_Ibcast(memory, 100, MPI_INT, 1, MPI_COMM_WORLD, &request);
        return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (is("comm_dup", what)) code = MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (is("comm_split", what)) code = MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
    if (is("comm_idup", what)) {
        code = MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
        if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (code == MPI_SUCCESS) MPI_Comm_free(&made);
    return code;
}

int main(int argc, char** argv) {
    const char* what = argv[1];
    const int alone = lonely_names(what), returns = is("return", argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (returns) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Group all;
    const int one = 1;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    if (returns) MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    if (returns) MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &one, &victim);
    if (rank == 1) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (returns) _exit(7); /* an end that does not end the job */
        printf("%d\n", (int)getpid());
        fflush(stdout);
        while (alone) pause();
    }
    for (;;) {
        const int code = alone ? lonely(what) : together(what);
        int class = MPI_SUCCESS;
        if (code == MPI_SUCCESS) continue;
        MPI_Error_class(code, &class);
        printf("%s\n", class == MPI_ERR_PROC_ABORTED ? "aborted" : "another class");
        return 0;
    }
}
"""

LONELY = ["recv", "ssend", "send", "probe", "mprobe", "wait", "waitany", "sendrecv", "issend", "win_start", "win_wait",
          "precv", "psend", "connect", "from_group"]
# As long as the victim lives, these succeed while it does nothing.
ONE_SIDED = ["win_lock", "put"]
ANY = ["anysource", "anyprobe", "anywait"]
TOGETHER = ["barrier", "bcast", "allreduce", "reduce", "longreduce", "alltoall", "gatherv",
            "ibcast", "comm_dup", "comm_split", "comm_idup", "win_fence"]


class Deaths(MpiTest):
    def setUp(self):
        super().setUp()
        names = " || ".join(f'is("{name}", what)' for name in LONELY + ANY + ONE_SIDED)
        self.program = self.compile(PROGRAM.replace("int main(", "static int lonely_names(const char* what) "
                                                    f"{{ return {names}; }}\n\nint main("))

    def kill_during(self, what, *options):
        """Kills task 1 and checks the end of the job."""
        job = start(self.program, what, "fatal", "-procs", "3", *options, env=clean_environment())
        os.kill(int(job.stdout.readline()), signal.SIGKILL)
        _, errors = job.communicate(timeout=DEADLINE)
        text = errors.decode()
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, text)
        self.assertRegex(text, r"ERROR: 0031-250  task 1 \(node .*\) killed by SIGKILL")

    def test_a_task_is_killed_while_others_need_it(self):
        for what in LONELY:
            with self.subTest(what):
                self.kill_during(what)

    def test_a_task_is_killed_in_a_call_of_all(self):
        for what in TOGETHER:
            with self.subTest(what):
                self.kill_during(what)

    def test_the_same_over_tcp(self):
        for what in ["recv", "ssend", "wait", "probe", "barrier", "allreduce", "ibcast", "comm_dup", "win_start", "win_wait", "win_fence",
                     "precv", "psend", "connect", "from_group"]:
            with self.subTest(what):
                self.kill_during(what, "-euilib", "ip")

    def go_on_without(self, what, tasks, *options):
        """Task 1 ends with a code that does not end the job: the calls of all others return an error."""
        result = poe(self.program, what, "return", "-procs", str(tasks), *options, timeout=DEADLINE)
        # In a reduce, members other than the root need not wait for anybody, and end when the job is over.
        self.assertEqual(result.stdout, b"aborted\n" * (tasks - 1), result.stderr)
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_errors_are_returned_when_a_task_has_ended(self):
        for tasks in 2, 4:
            for what in LONELY + ANY + ONE_SIDED + TOGETHER:
                with self.subTest(f"{what} {tasks}"):
                    self.go_on_without(what, tasks)

    def test_the_same_without_shared_memory(self):
        for tasks in 2, 4:
            for what in LONELY + ANY + ONE_SIDED + TOGETHER:
                with self.subTest(f"{what} {tasks}"):
                    self.go_on_without(what, tasks, "-euilib", "ip")


if __name__ == "__main__":
    main()
