#!/usr/bin/env python3
"""pdbx and the calls of MPL and MPI: message queues in stopped tasks, and calls that fail."""

import re

from debugging import PdbxTest
from launching import main

MPI_QUEUES = r"""
#include <mpi.h>
static int in[100], zero[4], tags[] = {20, 21, 20};
static void here(void) {}
int main(int argc, char **argv) {
    int me, flag = 0, i;
    MPI_Request requests[6];
    MPI_Comm rows;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &rows);
    if (me == 0) {
        MPI_Irecv(in, 100, MPI_INT, 1, 11, MPI_COMM_WORLD, &requests[0]);
        for (i = 1; i < 4; ++i) MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(in, 1, MPI_BYTE, 1, MPI_ANY_TAG, rows, &requests[4]);
        while (!flag) MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  /* the last message */
        here();
        for (i = 0; i < 5; ++i) MPI_Cancel(&requests[i]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        for (i = 0; i < 3; ++i) MPI_Recv(in, 100, MPI_INT, 1, tags[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, 100, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        for (i = 0; i < 3; ++i) MPI_Send(zero, 1 + i, MPI_INT, 0, tags[i], MPI_COMM_WORLD);
        MPI_Send(zero, 0, MPI_INT, 0, 99, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""

MPL_QUEUES = r"""
#include <mpproto.h>
static char in[100];
static void here(void) {}
int main(void) {
    int tasks, me, i, source, type, id[4], bytes;
    mpc_environ(&tasks, &me);
    if (me == 1) {
        mpc_bsend(in, 10, 0, 5);
        mpc_bsend(in, 20, 0, 6);
    } else if (me == 0) {
        for (i = 0; i < 3; ++i) {
            source = i == 2 ? -1 : 1;
            type = 7;
            mpc_recv(in, 30 + i, &source, &type, &id[i]);
        }
        do {
            source = 1, type = 6;
            mpc_probe(&source, &type, &bytes);
        } while (bytes < 0);
        here();
    }
    return 0;
}
"""

BLOCKED = r"""
#include <mpi.h>
int main(int argc, char **argv) {
    int me, value;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(&value, 1, MPI_INT, 1 - me, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


class Messages(PdbxTest):
    def queues(self, said, command):
        """task -> the lines of its answer after the first one, which is about the call."""
        return {task: text.split("\n")[1:] for text, tasks in said.answers(command).items() for task in tasks}

    def test_queues_of_mpi(self):
        program = self.build("queues.c", MPI_QUEUES)
        for tasks in (2, 4):
            said = self.pdbx(["break here", "cont", "on 0 messages", "delete", "cont"], program, "-procs", tasks)
            queues = self.queues(said, "on 0 messages")
            queues[0] = [re.sub(r"communicator \d+", "the other communicator", line) for line in queues[0]]
            self.assertEqual(queues, {0: [
                "posted receives:",
                "  tag 11 from task 1 in MPI_COMM_WORLD, at most 400 bytes",
                "  tag 12 from any task in MPI_COMM_WORLD, at most 8 bytes (3 times)",
                "  any tag from task 1 in the other communicator, at most 1 byte",
                "messages without a receive:",
                "  tag 20 from task 1 in MPI_COMM_WORLD, 4 bytes",
                "  tag 21 from task 1 in MPI_COMM_WORLD, 8 bytes",
                "  tag 20 from task 1 in MPI_COMM_WORLD, 12 bytes",
                "  tag 99 from task 1 in MPI_COMM_WORLD, 0 bytes"]}, said.text)
            self.assertEqual(said.status, 0, said.text)

    def test_queues_of_mpl(self):
        said = self.pdbx(["break here", "cont", "on 0 messages"], self.build("queues.c", MPL_QUEUES, "mpcc"), "-procs", "2")
        self.assertEqual(self.queues(said, "on 0 messages"), {0: [
            "posted receives:", "  type 7 from task 1, at most 30 bytes", "  type 7 from task 1, at most 31 bytes",
            "  type 7 from any task, at most 32 bytes",
            "messages without a receive:", "  type 5 from task 1, 10 bytes", "  type 6 from task 1, 20 bytes"]}, said.text)

    def test_the_receive_of_a_blocking_call_is_the_last_one(self):
        said = self.pdbx(["catch deadlock", "cont", "messages"], self.build("blocked.c", BLOCKED), "-procs", "2",
                         "-deadlock_timeout", "2")
        for task, lines in self.queues(said, "messages").items():
            self.assertEqual(lines, [
                "posted receives:", "  tag 3 from task 0 in MPI_COMM_WORLD, at most 4 bytes",
                f"  tag 8 from task {1 - task} in MPI_COMM_WORLD, at most 4 bytes (the task waits for it)",
                "messages without a receive: none"], said.text)

    def test_a_task_that_has_called_nothing_has_no_queues(self):
        said = self.pdbx(["messages"], self.build("blocked.c", BLOCKED), "-procs", "2")
        self.assertEqual(said.answers("messages"), {"has not called MPL or MPI": [0, 1]}, said.text)


WRONG_COUNT = r"""
#include <mpi.h>
#include <stdlib.h>
static int given(int me) { return me == 2 ? -1 : 1; }
int main(int argc, char **argv) {
    int me, in = 1, out = 0, status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1) MPI_Send(&in, 1, MPI_INT, me, -7, MPI_COMM_WORLD);  /* no collective call */
    status = MPI_Reduce(&in, &out, given(me), MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (status != MPI_SUCCESS) exit(3);
    MPI_Finalize();
    return 0;
}
"""

MPL_WRONG = r"""
#include <mpproto.h>
int main(void) {
    int tasks, me, in = 1, out, allgrp = 0;
    mpc_environ(&tasks, &me);
    mpc_bcast(&in, sizeof in, tasks + me, allgrp);
    mpc_bsend(&in, sizeof in, tasks, 1);
    return 0;
}
"""


OWN_HANDLER = r"""
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
static jmp_buf recovery;
static int seen;
static void on_error(MPI_Comm *comm, int *code, ...) {
    seen += *comm == MPI_COMM_WORLD && *code != MPI_SUCCESS;
    if (seen == 2) longjmp(recovery, 1);
}
int main(int argc, char **argv) {
    int me, out = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (me != 0) {
        MPI_Send(&out, 1, MPI_INT, 99, 5, MPI_COMM_WORLD);
        if (setjmp(recovery) == 0) MPI_Recv(&out, -1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Bcast(&out, 1, MPI_INT, 50, MPI_COMM_WORLD) != MPI_SUCCESS) ++seen;
    printf("errors %d\n", seen);
    MPI_Finalize();
    return 0;
}
"""


class CatchError(PdbxTest):
    def test_a_collective_call_with_a_wrong_argument_ends_the_job(self):
        program = self.build("wrong_count.c", WRONG_COUNT)
        said = self.pdbx(["catch error", "breakpoints", "cont", "on failed where", "on 2 where", "on 2 up", "on 2 print me"],
                         program, "-procs", "3")
        self.assertEqual(said.lines("catch error"), ["catchpoint 1: catch error, tasks 0-2"])
        errors = [(tasks, text) for tasks, text in said.stops() if "a call fails" in text]
        self.assertEqual([tasks for tasks, _ in errors], [[2]], said.text)
        self.assertRegex(errors[0][1], r"0032-2\d\d MPI_Reduce with communicator MPI_COMM_WORLD: argument count")
        self.assertRegex("\n".join(said.lines("on 2 where")), r"main  wrong_count.c:11")
        self.assertEqual(said.answers("on 2 print me"), {"2": [2]})
        said = self.pdbx(["catch error fatal", "cont", "on 2 where"], program, "-procs", "3")
        self.assertEqual([tasks for tasks, text in said.stops() if "ends the job because of an error" in text], [[2]], said.text)

    def test_an_error_that_a_collective_call_returns(self):
        program = self.build("wrong_count.c", WRONG_COUNT)
        said = self.pdbx(["catch error collective", "cont", "on 2 up", "on 2 print in"], program, "returns", "-procs", "3")
        errors = [(tasks, text) for tasks, text in said.stops() if "a call fails" in text]
        self.assertEqual([tasks for tasks, _ in errors], [[2]], said.text)
        self.assertIn("MPI_Reduce", errors[0][1])
        self.assertIn("main wrong_count.c:11", "".join(said.answers("on 2 up")), said.text)
        # Without the word, also calls that are not collective. Tasks that stop late are reported later.
        said = self.pdbx(["catch error", "cont", "cont"], program, "returns", "-procs", "3")
        errors = [(tasks, text) for tasks, text in said.stops() if "a call fails" in text]
        argument_of_send = "MPI_Send with communicator MPI_COMM_WORLD: argument tag"
        self.assertEqual(sorted(task for tasks, text in errors if argument_of_send in text for task in tasks), [0, 1, 2],
                         said.text)
        self.assertEqual([tasks for tasks, text in errors if argument_of_send not in text], [[2]], said.text)
        said = self.pdbx(["catch error fatal", "cont"], program, "returns", "-procs", "3")
        self.assertNotIn("a call fails", said.text)

    def test_a_program_that_handles_its_errors_itself(self):
        """The tasks stop before the handler of the program is called, which may never return to the call."""
        program = self.build("handler.c", OWN_HANDLER)
        said = self.pdbx(["catch error", "break on_error", "cont", "where", "on 1,2 cont", "on 1,2 cont", "on 1,2 cont",
                          "on 1,2 cont", "cont"], program, "-procs", "3")
        told = {task: [text for tasks, text in said.stops() if task in tasks][1:] for task in range(3)}
        for task in (1, 2):
            self.assertRegex(told[task][0], "a call fails.*MPI_Send", said.text)
            self.assertIn("on_error at handler.c", told[task][1], said.text)
            self.assertRegex(told[task][2], "a call fails.*MPI_Recv", said.text)
            self.assertIn("on_error at handler.c", told[task][3], said.text)
            self.assertRegex(told[task][4], "a call fails.*MPI_Bcast", said.text)
        self.assertEqual(len(told[0]), 1, said.text)
        self.assertRegex(told[0][0], "a call fails.*MPI_Bcast", said.text)
        self.assertRegex("\n".join(said.lines("where")), r"main  handler.c:19")
        self.assertEqual(sorted(said.output()), ["errors 1", "errors 3", "errors 3"], said.text)
        self.assertEqual(said.status, 0, said.text)

    def test_calls_of_mpl(self):
        program = self.build("wrong.c", MPL_WRONG, "mpcc")
        said = self.pdbx(["catch error", "cont", "up", "cont", "up"], program, "-procs", "2")
        errors = [(tasks, text) for tasks, text in said.stops() if "a call fails" in text]
        self.assertEqual([tasks for tasks, _ in errors], [[0], [1], [0, 1]], said.text)
        self.assertIn("0032-119 mpc_bcast: the root, task 2, is not a member", errors[0][1])
        self.assertIn("mpc_bsend: there is no task 2", errors[2][1])
        said = self.pdbx(["catch error collective", "cont", "delete", "cont"], program, "-procs", "2")
        errors = [text for _, text in said.stops() if "a call fails" in text]
        self.assertEqual(len(errors), 2, said.text)
        self.assertTrue(all("mpc_bcast" in text for text in errors), said.text)

    def test_a_word_that_is_no_kind_of_error(self):
        said = self.pdbx(["catch error often"], self.build("wrong.c", MPL_WRONG, "mpcc"), "-procs", "1")
        self.assertIn("catch error collective", said.of("catch error often")[0]["error"])


if __name__ == "__main__":
    main()
