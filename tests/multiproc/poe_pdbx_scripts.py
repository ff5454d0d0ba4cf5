#!/usr/bin/env python3
"""pdbx and programs that a shell script starts, and programs of Python."""

import os
import signal
import subprocess
import sys

from debugging import PDBX, PdbxTest
from launching import BUILD, DEADLINE, clean_environment, main, processes, start, wait_for

RING = r"""
#include <mpproto.h>
#include <stdio.h>
static int passed(int value) { return value + 1; }
int main(int argc, char **argv) {
    int tasks, me, allgrp = 0, sum = 0, in;
    size_t got;
    in = passed(argc);
    mpc_environ(&tasks, &me);
    mpc_sync(allgrp);
    printf("task %d has %d\n", me, in + me);
    return in + me == 99;
}
"""

FORTRAN = r"""
program parts
  use mpi
  implicit none
  integer :: me, error, twice
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, me, error)
  twice = 2 * me
  call mpi_barrier(mpi_comm_world, error)
  print *, 'twice', twice
  call mpi_finalize(error)
end program
"""

PYTHON = """
import ctypes, os, sys
mpl = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
tasks, me = ctypes.c_int(), ctypes.c_int()
mpl.mpc_environ(ctypes.byref(tasks), ctypes.byref(me))
value = ctypes.c_int(me.value)
mpl.mpc_bcast(ctypes.byref(value), ctypes.c_size_t(4), 0, 0)
print("task", me.value, "of", tasks.value, "has", value.value, flush=True)
"""


class Scripts(PdbxTest):
    def script(self, *lines):
        place = self.folder / "run.sh"
        place.write_text("\n".join(lines) + "\n")
        return ["bash", place]

    def test_a_program_that_a_script_starts_stops_in_main(self):
        program = self.build("ring.c", RING, "mpcc")
        for tasks in (1, 4):
            said = self.pdbx(["break passed", "cont", "tasks", "cont", "print value", "up", "print argc", "delete", "cont"],
                             *self.script("echo before", f"ls / > /dev/null; {program} one two", "echo after $?"), "-procs", tasks)
            all_tasks = list(range(tasks))
            self.assertEqual(list(said.answers("tasks").values()), [all_tasks], said.text)
            self.assertIn("main at ring.c:6", list(said.answers("tasks"))[0])
            self.assertEqual(said.answers("print value"), {"3": all_tasks}, said.text)
            self.assertEqual(said.answers("print argc"), {"3": all_tasks}, said.text)
            self.assertEqual(sorted(line for line in said.output() if line.startswith("task")),
                             [f"task {task} has {4 + task}" for task in all_tasks])
            self.assertEqual(said.output().count("after 0"), tasks, said.text)
            self.assertEqual(said.status, 0, said.text)

    def test_two_programs_one_after_another(self):
        program = self.build("ring.c", RING, "mpcc")
        said = self.pdbx(["cont", "print argc", "cont", "print argc", "cont"],
                         *self.script(f"{self.plain()} a b c", f"{program}"), "-procs", "2")
        self.assertEqual(said.answers("print argc"), {"4": [0, 1], "1": [0, 1]}, said.text)
        self.assertEqual(len([line for line in said.output() if line.startswith("task")]), 2, said.text)

    def plain(self):
        """A program that has the library and does not call it."""
        return self.build("first.c", "int main(int argc, char **argv) { return argc + !argv - 4; }", "mpcc",
                          "-Wl,--no-as-needed")

    def test_a_program_in_fortran(self):
        program = self.build("parts.f90", FORTRAN, "mpifort.poe")
        said = self.pdbx(["cont", "where", "break 9", "cont", "print twice", "cont"], *self.script(f"{program}", "true"), "-procs", "2")
        self.assertIn("parts  parts.f90:6", "\n".join(said.lines("where")), said.text)
        self.assertEqual(said.answers("print twice"), {"0": [0], "2": [1]}, said.text)

    def test_a_script_that_replaces_itself(self):
        program = self.build("ring.c", RING, "mpcc")
        said = self.pdbx(["break passed", "cont", "print value", "cont"], *self.script(f"exec {program}"), "-procs", "2")
        self.assertEqual(said.answers("print value"), {"1": [0, 1]}, said.text)

    def test_a_script_without_such_a_program(self):
        said = self.pdbx(["cont"], *self.script("echo done", "exit 3"), "-procs", "2")
        self.assertEqual(said.output().count("done"), 2, said.text)
        self.assertEqual(said.status, 3, said.text)

    def test_on_failure_the_program_is_shown(self):
        program = self.build("ring.c", RING.replace("99", "3"), "mpcc")
        result = subprocess.run([BUILD / "bin" / "poe", *self.script(f"{program}; exit 0"), "-procs", "3", "-onfail", "pdbx"],
                                capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL, env=clean_environment())
        self.assertRegex(result.stdout, r"(?m)^1: exits with a code other than 0$")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_attaching_finds_the_program(self):
        program = self.build("waits.c", WAITS, "mpcc")
        go = self.folder / "go"
        job = start(*self.script(f"{program} {go} {self.marker}", "true"), "-procs", "2")
        self.addCleanup(lambda: (job.kill(), job.communicate()) if job.poll() is None else None)
        wait_for(lambda: job.stdout.readline(), "the tasks to call MPL")
        wait_for(lambda: job.stdout.readline(), "both tasks to call MPL")
        said = self.pdbx(["up", "on all print argc", "where", "quit"], "-a", job.pid)
        self.assertEqual(said.answers("on all print argc"), {"3": [0, 1]}, said.text)
        self.assertIn("main  waits.c", "\n".join(said.lines("where")))
        go.touch()
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 0)

    def test_a_pdbx_that_is_killed_lets_the_program_go(self):
        """Programs that wait for a debugger that has gone."""
        program = self.build("ring.c", RING, "mpcc")
        said = self.pdbx(["cont &", "detach"], *self.script(f"sleep 0.5; {program}", "echo after"), "-procs", "2")
        self.assertEqual(said.output().count("after"), 2, said.text)
        self.assertEqual(said.status, 0, said.text)


WAITS = r"""
#include <mpproto.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int tasks, me;
    mpc_environ(&tasks, &me);
    puts("here");
    fflush(stdout);
    while (access(argv[1], F_OK) != 0) usleep(10000);
    return 0;
}
"""


class Python(PdbxTest):
    def program(self):
        place = self.folder / "values.py"
        place.write_text(PYTHON)
        return [sys.executable, str(place), str(BUILD / "lib" / "libmpl.so.1")]

    def check(self, said):
        self.assertIn("mpc_bcast", "\n".join(said.lines("where full")), said.text)
        # The library has no debugging information: a word of the second argument, the number of bytes.
        self.assertEqual(said.answers("print (int)$rsi"), {"4": [0, 1, 2]}, said.text)
        self.assertEqual(sorted(line for line in said.output() if line.startswith("task")),
                         [f"task {task} of 3 has 0" for task in range(3)])
        self.assertEqual(said.status, 0, said.text)

    def test_python_as_the_program(self):
        self.check(self.pdbx(["catch call mpc_bcast", "cont", "where full", "print (int)$rsi", "delete", "cont"],
                             *self.program(), "-procs", "3"))

    def test_python_behind_a_script(self):
        place = self.folder / "run.sh"
        place.write_text(" ".join(self.program()) + "\ntrue\n")
        self.check(self.pdbx(["catch call mpc_bcast", "cont", "tasks", "cont", "where full", "print (int)$rsi", "delete", "cont"],
                             "bash", place, "-procs", "3"))


if __name__ == "__main__":
    main()
