#!/usr/bin/env python3
"""What tasks of MPI do is visible: deadlocks that poe reports, poestat, and the trace."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from launching import BUILD, SANITIZED, main, poe, wait_for
from poe_watch import WatchTest, poestat
from trace_file import Trace


class MpiWatchTest(WatchTest):
    compiler, source = "mpicc.poe", "mpi_watch_tasks"
    knows_lengths = True  # of messages that nobody has received

    def need_quiet_threads(self):
        if os.environ.get("POE_SANITIZE") == "thread":
            self.skipTest("the sanitizer has a thread of its own, which could do anything")

    def sent(self, sender, tag, length, receiver):
        return f"task {sender} sent tag {tag}{f' ({length} bytes)' if self.knows_lengths else ''} to task {receiver}"


class Deadlocks(MpiWatchTest):
    def test_receives(self):
        self.told("receives", 3, "deadlock: tasks 0-2 wait for each other",
                  "task 0 waits in MPI_Recv for tag 3 from task 2 in mesh, called at " + self.place_of("left, 3, mesh"))

    def test_sends(self):
        self.told("sends", 2, "deadlock: tasks 0,1",
                  "task 0 waits in MPI_Send of 100000000 bytes, tag 2, to task 1 in MPI_COMM_WORLD")
        self.told("synchronous", 2, "deadlock: tasks 0,1",
                  "task 0 waits in MPI_Ssend of 8 bytes, tag 2, to task 1 in MPI_COMM_WORLD")

    def test_requests(self):
        self.told("wait", 2, "task 0 waits in MPI_Wait for tag 4 from task 1 in MPI_COMM_WORLD")
        self.told("waitall", 2, "task 0 waits in MPI_Waitall for tag 4 from task 1 in MPI_COMM_WORLD",
                  self.sent(1, 5, 8, 0) + "; task 0 waits for tag 4 from task 1")

    def test_probe_and_exchange(self):
        self.told("probe", 2, "task 0 waits in MPI_Probe for tag 6 from task 1 in MPI_COMM_WORLD")
        self.told("exchange", 2, "task 0 waits in MPI_Sendrecv for tag 8 from task 1 in MPI_COMM_WORLD")

    def test_wrong_tag_and_communicator(self):
        self.told("tag", 2, "deadlock: tasks 0,1 wait for each other",
                  "task 0 waits in MPI_Finalize in MPI_COMM_WORLD for task 1",
                  "task 1 waits in MPI_Recv for tag 7 from task 0 in MPI_COMM_WORLD",
                  self.sent(0, 8, 16, 1) + "; task 1 waits for tag 7 from task 0")
        # Check mode adds bytes to each message.
        self.told("tag", 2, "deadlock: tasks 0,1 wait for each other", self.sent(0, 8, 16, 1), MP_MPICHECK="yes")
        self.told("communicator", 2, "task 1 waits in MPI_Recv for tag 7 from task 0 in mesh",
                  self.sent(0, 7, 16, 1) + " in another communicator")

    def test_collectives_of_different_communicators(self):
        self.told("communicators", 3, "deadlock: tasks 0-2", "task 0 waits in MPI_Barrier in MPI_COMM_WORLD for tasks 1,2",
                  "tasks 1,2 wait in MPI_Allreduce in mesh for task 0, called at " + self.place_of("MPI_Allreduce("))
        self.told("barrier", 3, "task 0 waits in MPI_Finalize in MPI_COMM_WORLD for tasks 1,2",
                  "tasks 1,2 wait in MPI_Barrier in mesh for task 0")

    def test_making_and_completing(self):
        self.told("nonblocking", 3, "deadlock: tasks 0-2", "task 0 waits in MPI_Recv", "MPI_Wait for task 0 in a collective operation of mesh")
        self.told("split", 3, "deadlock: tasks 0-2", "task 0 waits in MPI_Recv", "MPI_Comm_split in mesh")

    def test_many_threads(self):
        self.need_quiet_threads()
        self.told("pool_receives", 3, "deadlock: tasks 0-2 wait for each other", "task 0 waits in MPI_Recv for tag 3 from task 2 in mesh")

    def test_two_threads_call(self):
        self.need_quiet_threads()
        self.told("two_receives", 2, "deadlock: tasks 0,1 wait for each other",
                  "task 0 waits in MPI_Recv for tag 3 from task 1 in mesh, called at " + self.place_of("left_task, 3, mesh") +
                  ", and with another thread in MPI_Recv for tag 4 from task 1 in mesh, called at " + self.place_of("left_task, 4, mesh"))
        self.told("two_any", 2, "deadlock: tasks 0,1", "and with another thread in MPI_Recv for tag 4 from any task in mesh")
        self.told("two_synchronous", 2, "deadlock: tasks 0,1", "and with another thread in MPI_Ssend of 8 bytes, tag 5, to task 1 in mesh")

    def test_threads_call_for_the_first(self):
        """The thread that has initialized MPI waits for the end of the others."""
        self.need_quiet_threads()
        self.told("two_joins", 2, "deadlock: tasks 0,1", "task 0 waits in MPI_Recv for ", "and with another thread in MPI_Recv for tag 4 from ")


class ThreadDeadlocks(MpiWatchTest):
    """More of the own library, whose threads wait in several ways."""

    def test_every_way_to_wait(self):
        self.need_quiet_threads()
        for mode in ("poll", "yield", "sleep"):
            self.told("two_receives", 2, "deadlock: tasks 0,1 wait for each other", "and with another thread in MPI_Recv", MP_WAIT_MODE=mode)

    def test_over_tcp(self):
        self.need_quiet_threads()
        self.told("two_receives", 2, "deadlock: tasks 0,1 wait for each other", "and with another thread in MPI_Recv", MP_EUILIB="ip")

    def test_one_task(self):
        self.need_quiet_threads()
        self.told("two_receives", 1, "deadlock: task 0 can never go on", "task 0 waits in MPI_Recv for tag 3 from task 0 in mesh")


class WindowDeadlocks(MpiWatchTest):
    def test_windows(self):
        self.told("window_fence", 2, "deadlock: tasks 0,1 wait for each other", "task 0 waits in MPI_Recv",
                  "task 1 waits in MPI_Win_fence in window table for task 0, called at " + self.place_of("MPI_Win_fence"))
        self.told("window_lock", 2, "deadlock: tasks 0,1 wait for each other", "task 0 waits in MPI_Win_lock for task 1 in window table",
                  "task 1 waits in MPI_Win_lock for task 0 in window table")

    def test_windows_without_a_name(self):
        text = self.told("window_unnamed", 2, "deadlock: tasks 0,1 wait for each other", "task 1 waits in MPI_Win_fence")
        self.assertRegex(text, r"task 1 waits in MPI_Win_fence in window of communicator \d+ for task 0, called at")
        self.told("window_renamed", 2, "task 1 waits in MPI_Win_fence in window without a name for task 0, called at")
        with self.running("window_unnamed", 2, MP_DEADLOCK_TIMEOUT=0) as job:
            seen = self.waiting(job, (0, 1), [(1, "MPI_Win_fence")])
            self.assertRegex(seen[1]["communicator"], r"^window of communicator \d+$")
            self.assertRegex(seen[1]["text"], r" in window of communicator \d+, \d")


class PortDeadlocks(MpiWatchTest):
    def test_nobody_accepts(self):
        self.told("port", 2, "deadlock: tasks 0,1 wait for each other", "task 0 waits in MPI_Recv for tag 1 from task 1 in mesh",
                  "task 1 waits in MPI_Comm_connect in MPI_COMM_SELF for task 0, called at " + self.place_of("MPI_Comm_connect"))

    def test_a_wait_with_a_limit_is_no_deadlock(self):
        result = self.ok(poe(self.program, "port_limit", self.marker, "-procs", "2", env=self.environment()))
        self.assertEqual(result.stderr, b"")


class NoDeadlocks(MpiWatchTest):
    def test_long_waits(self):
        result = self.ok(poe(self.program, "long", self.marker, "-procs", "3", env=self.environment()))
        self.assertEqual(result.stderr, b"")

    def test_another_thread_helps(self):
        """The threads that have called MPI wait for longer than the timeout, and another thread of each task ends that."""
        for how in ("help", "two_polls", "two_computes", "two_sleeps"):
            with self.subTest(how):
                result = self.ok(poe(self.program, how, self.marker, "-procs", "2", env=self.environment()))
                self.assertEqual(result.stderr, b"")


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiNoDeadlocks(NoDeadlocks):
    compiler = "/usr/bin/mpicc.openmpi"

    def test_late_file(self):
        """One task opens a file, and writes to it, later than the other by more than the timeout."""
        with tempfile.NamedTemporaryFile() as file:
            result = self.ok(poe(self.program, "file_late", self.marker, "-procs", "2", env=self.environment(TEST_FILE=file.name)))
            self.assertEqual(result.stderr, b"")


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichNoDeadlocks(OpenMpiNoDeadlocks):
    compiler = "/usr/bin/mpicc.mpich"


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiObjectDeadlocks(MpiWatchTest):
    """Deadlocks in calls for windows and files of another library."""
    compiler, knows_lengths = "/usr/bin/mpicc.openmpi", False

    def test_fence(self):
        self.told("window_fence", 2, "deadlock: tasks 0,1 wait for each other", "task 0 waits in MPI_Recv",
                  "task 1 waits in MPI_Win_fence in window table for task 0, called at " + self.place_of("MPI_Win_fence"))

    def test_epochs(self):
        text = self.told("window_start", 2, "deadlock: tasks 0,1 wait for each other", "task 1 waits in MPI_Recv for tag 0 from task 0 in mesh")
        self.assertRegex(text, "task 0 waits in MPI_Win_(start|complete) for task 1 in window table, called at mpi_watch_tasks.c")
        self.told("window_wait", 2, "deadlock: tasks 0,1 wait for each other", "task 0 waits in MPI_Win_wait for task 1 in window table, called at " +
                  self.place_of("MPI_Win_wait"), "task 1 waits in MPI_Recv for tag 0 from task 0 in mesh")

    def test_files(self):
        with tempfile.NamedTemporaryFile() as file:
            text = self.told("file_write", 2, "deadlock: tasks 0,1 wait for each other", "task 1 waits in MPI_Barrier in mesh for task 0",
                             TEST_FILE=file.name)
            # A library may write such a short block at once.
            self.assertRegex(text, "task 0 waits in MPI_File_(write_all|close) in file of mesh for task 1, called at ")
            self.told("file_close", 2, "deadlock: tasks 0,1 wait for each other",
                      "task 0 waits in MPI_File_close in file of mesh for task 1", TEST_FILE=file.name)

    def test_locks_are_shown(self):
        """Which task has a lock is not known, so this is not reported."""
        with self.running("window_lock", 2) as job:
            seen = wait_for(lambda: self.both_in_window(job), "both tasks to wait for the window")
            self.assertEqual({state["communicator"] for state in seen}, {"window table"})
            self.assertEqual(job.errors(), "")

    def both_in_window(self, job):
        """The states of both tasks once each has waited for twice the timeout."""
        states = list(self.tasks_of(job).values())
        waits = [re.search(r"MPI_Win_\w+.* in window table, (\d+)", state["text"]) for state in states]
        return states if len(states) == 2 and all(wait and int(wait[1]) >= 2 for wait in waits) else None


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichObjectDeadlocks(OpenMpiObjectDeadlocks):
    compiler = "/usr/bin/mpicc.mpich"


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiDeadlocks(Deadlocks):
    """The same of a program that is observed in another library."""
    compiler, knows_lengths = "/usr/bin/mpicc.openmpi", False

    def test_one_of_several_requests(self):
        for call in ("Waitany", "Waitsome"):
            self.told(call.lower(), 3, "deadlock: tasks 0-2 wait for each other",
                      f"task 0 waits in MPI_{call} for one of 2 requests, the first for tag 10 from task 2 in mesh")


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class MpichDeadlocks(OpenMpiDeadlocks):
    compiler = "/usr/bin/mpicc.mpich"


class Poestat(MpiWatchTest):
    def test_calls(self):
        with self.running("receives", 2, MP_DEADLOCK_TIMEOUT=0) as job:
            seen = self.waiting(job, (0, 1))
            self.assertEqual((seen[0]["call"], seen[0]["peer"], seen[0]["type"], seen[0]["communicator"], seen[0]["bytes"]),
                             ("MPI_Recv", 1, 3, "mesh", 8))
            # The time is shown once the wait has lasted.
            wait_for(lambda: re.match(r"MPI_Recv from 0 tag 3, 8 B in mesh, \d", self.tasks_of(job)[1]["text"]), "the time")

    def test_collectives(self):
        with self.running("barrier", 3, MP_DEADLOCK_TIMEOUT=0) as job:
            seen = self.waiting(job, (0, 1, 2))
            self.assertEqual([seen[task]["call"] for task in range(3)], ["MPI_Finalize", "MPI_Barrier", "MPI_Barrier"])
            # Who is missing is found in another library only when somebody looks for deadlocks.
            missing = ", waits for 0" if self.knows_lengths else ""
            self.assertRegex(seen[1]["text"], rf"^MPI_Barrier{missing} in mesh, \d")


@unittest.skipIf(SANITIZED, "observers cannot have a sanitizer")
class OpenMpiPoestat(Poestat):
    compiler, knows_lengths = "/usr/bin/mpicc.openmpi", False


class MpichPoestat(OpenMpiPoestat):
    compiler = "/usr/bin/mpicc.mpich"


if __name__ == "__main__":
    main()
