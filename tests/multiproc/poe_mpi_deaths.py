#!/usr/bin/env python3
"""A task of an MPI program dies while it or another one is in a call: the job ends with the right message, or, where
it may go on, the calls of the others return an error class. The calls are the rows of mpi_death_tasks.c."""

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from launching import DEADLINE, SOURCE, clean_environment, main, start
from poe_mpi import MpiTest

FOLDER = SOURCE / "tests" / "multiproc"


def end_of(job):
    """The result of a job. One that hangs is ended, and its messages say so."""
    try:
        out, errors = job.communicate(timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        job.terminate()
        out, errors = job.communicate()
        errors += b"(the job had not ended in time)"
    return subprocess.CompletedProcess(job.args, job.returncode, out, errors)


class Deaths(MpiTest):
    def setUp(self):
        super().setUp()
        program = (FOLDER / "mpi_death_tasks.c").read_text()
        self.program = self.compile(program, "program", "-D_GNU_SOURCE", f"-I{FOLDER}")
        listed = subprocess.run([self.program, "rows"], capture_output=True, text=True, check=True).stdout
        self.rows = listed.split()
        self.assertGreater(len(self.rows), 100)

    def in_each_row(self, job, check, without=(), only=""):
        """Runs a job for each row, and checks the results. The jobs mostly wait, so several of them run at the same time."""
        rows = [row for row in self.rows if row not in without and row.startswith(only)]
        with ThreadPoolExecutor(4) as pool:
            for row, result in zip(rows, pool.map(job, rows)):
                with self.subTest(row):
                    check(result)

    def file_of(self, row):
        """Jobs do not share files."""
        return self.folder / f"file-{row}-{time.monotonic_ns()}"

    def kill_in_each_row(self, *options):
        """Kills task 1 and checks the end of the job."""
        def job(row):
            process = start(self.program, row, "killed", self.file_of(row), "-procs", "3", *options,
                            env=clean_environment())
            hangs = threading.Timer(DEADLINE, process.terminate)
            hangs.start()
            victim = process.stdout.readline().strip()
            hangs.cancel()
            if victim.isdigit():
                os.kill(int(victim), signal.SIGKILL)
            return end_of(process)

        def check(result):
            self.assertEqual(result.returncode, 128 + signal.SIGKILL, result.stderr)
            self.assertRegex(result.stderr, rb"ERROR: 0031-250  task 1 \(node .*\) killed by SIGKILL")
        self.in_each_row(job, check)

    def test_a_task_is_killed(self):
        self.kill_in_each_row()

    def test_a_task_is_killed_over_tcp(self):
        self.kill_in_each_row("-euilib", "ip")

    def go_on_in_each_row(self, tasks, *options, how="gone", without=(), only=""):
        """Task 1 ends with a code that does not end the job: the calls of all others return an error."""
        def job(row):
            return end_of(start(self.program, row, how, self.file_of(row), "-procs", str(tasks), *options,
                                env=clean_environment()))

        def check(result):
            # In a reduce, members other than the root need not wait for anybody, and end when the job is over.
            self.assertEqual(result.stdout, b"aborted\n" * (tasks - 1), result.stderr)
            self.assertEqual(result.returncode, 7, result.stderr)
        self.in_each_row(job, check, without, only)

    def test_errors_are_returned_by_one_task(self):
        self.go_on_in_each_row(2)

    def test_errors_are_returned_by_three_tasks(self):
        self.go_on_in_each_row(4)

    def test_errors_are_returned_by_calls_in_progress(self):
        # A spawned task that cannot connect to its parents ends the job.
        for moment in ("500", "1500"):
            self.go_on_in_each_row(4, how=moment, without=("spawn", "spawn_by_the_victim"))

    def test_errors_are_returned_by_one_task_over_tcp(self):
        self.go_on_in_each_row(2, "-euilib", "ip")

    def test_errors_are_returned_by_three_tasks_over_tcp(self):
        self.go_on_in_each_row(4, "-euilib", "ip")

    def go_on_after_an_exchange(self, *options):
        """The task ends at many moments, so that the exchange succeeds at some of the others and fails at some."""
        for moment in range(2000, 8000, 600):
            self.go_on_in_each_row(4, *options, how=str(moment), only="survivors")

    def test_survivors_of_an_exchange(self):
        self.go_on_after_an_exchange()

    def test_survivors_of_an_exchange_over_tcp(self):
        self.go_on_after_an_exchange("-euilib", "ip")


if __name__ == "__main__":
    main()
