#!/usr/bin/env python3
"""Other people's programs under poe, without a word of configuration: Open MPI, MPICH, an application
that nobody here wrote, and what they leave behind."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from launching import LaunchTest, clean_environment, descendants_of, main, poe, processes, start, wait_for

SUM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d sum %d\n", rank, size, sum);
    fflush(stdout);
    if (argc > 1 && argv[1][0] == 'a' && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    if (argc > 1 && argv[1][0] == 'x' && rank == 1) _exit(3);
    if (argc > 1 && argv[1][0] == 'k' && rank == 1) abort();
    if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def temporary_names():
    """What other people's programs leave behind; LaunchTest looks after poe's own files."""
    return {f"{d}/{n}" for d in ("/dev/shm", "/tmp") for n in os.listdir(d)
            if re.match(r"(vader|ompi|openmpi|pmix|ucx|mpich|mpiexec)", n)}


class Foreign(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.programs = {}
        for kind in ("openmpi", "mpich"):
            compiler = shutil.which(f"mpicc.{kind}")
            if compiler is None:
                raise unittest.SkipTest(f"no mpicc.{kind}; ./dev test installs it")
            source = pathlib.Path(cls.directory.name, "sum.c")
            source.write_text(SUM)
            program = pathlib.Path(cls.directory.name, f"sum_{kind}")
            subprocess.run([compiler, str(source), "-o", str(program)], check=True)
            cls.programs[kind] = str(program)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        super().setUp()
        self.names_before = temporary_names()

    def tearDown(self):
        super().tearDown()
        self.assertEqual(temporary_names() - self.names_before, set(), "left behind")

    def test_allreduce(self):
        for kind, program in self.programs.items():
            for n in (1, 2, 4):
                result = self.ok(poe(program, "-procs", str(n)))
                self.assertEqual(sorted(result.stdout.decode().splitlines()),
                                 [f"{i} of {n} sum {n * (n - 1) // 2}" for i in range(n)], kind)
                self.assertEqual(result.stderr, b"", kind)

    def test_in_a_script(self):
        for kind, program in self.programs.items():
            result = self.ok(poe("sh", "-c", f"cd / && exec {program}", "-procs", "2"))
            self.assertEqual(sorted(result.stdout.splitlines())[0], b"0 of 2 sum 1", kind)

    def test_the_server_before_the_tasks(self):
        result = self.ok(poe(self.programs["openmpi"], "-procs", "2", env=clean_environment(MP_PMIX="yes")))
        self.assertEqual(sorted(result.stdout.splitlines())[0], b"0 of 2 sum 1")

    def test_abort_gives_its_code(self):
        for kind, program in self.programs.items():
            result = poe(program, "abort", "-procs", "3")
            self.assertEqual(result.returncode, 7, (kind, result.stderr))
            self.assertIn(b"task 1 ", result.stderr)
            self.assertNotIn(b"N/A", result.stderr)

    def test_exit_without_finalize_ends_the_job_with_its_code(self):
        for kind, program in self.programs.items():
            result = poe(program, "x", "-procs", "3")
            self.assertEqual(result.returncode, 3, (kind, result.stderr))
            self.assertIn(b"task 1 ", result.stderr)
            self.assertIn(b"without MPI_Finalize", result.stderr)

    def test_a_single_task_may_leave_as_it_likes(self):
        for kind, program in self.programs.items():
            self.ok(poe("sh", "-c", f"{program} k; exit 0"))

    def test_death_of_the_pmix_server_ends_the_job(self):
        # The server is not needed any more: a task that still needs it may say so before poe does.
        job = start("sh", "-c", f"{self.programs['openmpi']} >&2 && echo over && sleep 600 # {self.marker}", "-procs", "2")
        for _ in range(2):
            self.assertEqual(job.stdout.readline(), b"over\n")
        for pid in descendants_of(job.pid):
            if "pmd-pmix" in processes().get(pid, (0, "", ""))[2]:
                os.kill(pid, signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1)
        self.assertIn(b"pmd-pmix", err)

    def test_death_ends_the_job(self):
        for kind, program in self.programs.items():
            result = poe(program, "kill", "-procs", "4")
            self.assertEqual(result.returncode, 134, (kind, result.stderr))
            self.assertIn(b"SIGABRT", result.stderr)

    def test_mpmd_is_one_job(self):
        for kind, program in self.programs.items():
            with tempfile.NamedTemporaryFile("w") as commands:
                commands.write(f"{program}\nenv X=1 {program}\n")
                commands.flush()
                result = self.ok(poe("-procs", "2", "-pgmmodel", "mpmd", "-cmdfile", commands.name))
                self.assertEqual(len(result.stdout.splitlines()), 2, kind)

    def test_killed_jobs_leave_nothing(self):
        for kind, program in self.programs.items():
            job = start("sh", "-c", f"{program} && sleep 600 # {self.marker}", "-procs", "2")
            job.stdout.readline()
            job.send_signal(signal.SIGKILL)
            job.communicate(timeout=60)
            wait_for(lambda: not temporary_names() - self.names_before, f"the files of {kind} to be gone")


class Applications(LaunchTest):
    def test_hpcc(self):
        if shutil.which("hpcc") is None:
            self.skipTest("no hpcc; ./dev test installs it")
        example = next(pathlib.Path("/usr/share/doc/hpcc/examples").glob("_hpccinf.txt*"), None)
        with tempfile.TemporaryDirectory() as directory:
            read = "zcat" if example and example.suffix == ".gz" else "cat"
            text = subprocess.run([read, str(example)], capture_output=True, text=True, check=True).stdout
            lines = text.splitlines()
            for i, line in enumerate(lines):  # a small problem on a 2 x 2 grid
                if re.match(r"\d+\s+Ns$", line):
                    lines[i] = "200 Ns"
                if re.match(r"\d+\s+Ps$", line) or re.match(r"\d+\s+Qs$", line):
                    lines[i] = "2 " + line.split()[1]
            pathlib.Path(directory, "hpccinf.txt").write_text("\n".join(lines) + "\n")
            self.ok(poe("hpcc", "-procs", "4", cwd=directory, timeout=200))
            out = pathlib.Path(directory, "hpccoutf.txt").read_text()
        self.assertIn("Success=1", out)
        self.assertIn("CommWorldProcs=4", out)
        self.assertNotIn("FAILED", out.replace("0 tests completed and failed", ""))

    def test_python_program(self):
        code = "import os, sys; print(os.environ['MP_CHILD'], sys.stdin.read())"
        result = self.ok(poe(sys.executable, "-c", code, "-procs", "2", input=b"in"))
        self.assertEqual(sorted(result.stdout.splitlines()), [b"0 in", b"1 in"])


if __name__ == "__main__":
    main()
