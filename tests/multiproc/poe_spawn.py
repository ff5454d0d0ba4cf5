#!/usr/bin/env python3
"""Tasks that start more tasks: Open MPI through PMIx, and PMI-1 by a client of its own."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from launching import BUILD, SOURCE, LaunchTest, children_of, main, poe, processes, running, start, wait_for

CLIENT = BUILD / "bin" / "pmi_spawn_client"


def lines(result):
    return sorted(line for line in result.stdout.decode().splitlines() if line)


class Spawn(LaunchTest):
    @classmethod
    def setUpClass(cls):
        if shutil.which("mpicc.openmpi") is None:
            raise unittest.SkipTest("no mpicc.openmpi; ./dev test installs it")
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "spawn_tasks")
        subprocess.run(["mpicc.openmpi", str(SOURCE / "tests/multiproc/spawn_tasks.c"), "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def tearDown(self):
        super().tearDown()
        wait_for(lambda: not running(self.program), "the tasks to be gone")

    def test_spawned_tasks_take_part(self):
        result = self.ok(poe(self.program, "rounds", "5", "2", "-procs", "2"))
        self.assertEqual(lines(result), [f"round {i}: 4 tasks add up" for i in range(5)])
        self.assertEqual(result.stderr, b"")

    def test_spawned_tasks_spawn(self):
        result = self.ok(poe(self.program, "generations", "2"))
        self.assertEqual(lines(result), ["a generation and the next: 2 tasks add up"] * 2 +
                         [f"generation {i}" for i in range(3)])

    def test_several_programs_and_labels(self):
        result = self.ok(poe(self.program, "several", "-procs", "2", "-labelio", "yes"))
        for task, words in ((2, "0 of 3, program 0: one"), (3, "1 of 3, program 1: two words"), (4, "2 of 3, program 1: two words")):
            self.assertRegex(result.stdout.decode(), rf"(?m)^ *{task}:{words}$")

    def test_output_in_order_and_in_files(self):
        result = self.ok(poe(self.program, "several", "-procs", "2", "-stdoutmode", "ordered"))
        self.assertEqual([line for line in result.stdout.decode().splitlines() if "program" in line],
                         ["0 of 3, program 0: one", "1 of 3, program 1: two words", "2 of 3, program 1: two words"])
        pattern = os.path.join(self.directory.name, "out.%r")
        self.ok(poe(self.program, "several", "-procs", "2", "-outfile", pattern))
        with open(pattern.replace("%r", "3")) as file:
            self.assertEqual(file.read(), "1 of 3, program 1: two words\n")

    def test_working_directory(self):
        with tempfile.TemporaryDirectory() as place:
            result = self.ok(poe(self.program, "info", "wdir", place))
            self.assertEqual(len(re.findall(rf"\d of 2 on \S+ in {re.escape(os.path.realpath(place))}\n", result.stdout.decode())), 2)

    def test_what_cannot_be_spawned_is_an_error_to_the_program(self):
        result = self.ok(poe(self.program, "missing", "/nonexistent/program", "-procs", "2"))
        self.assertEqual(lines(result), ["refused", "those who are there: 2 tasks add up"])
        self.assertIn(b"task 0 asked to start more tasks (MPI_Comm_spawn), which failed", result.stderr)
        self.assertIn(b"/nonexistent/program", result.stderr)
        result = poe(self.program, "info", "host", "elsewhere")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(b"the host elsewhere is no node of the job", result.stderr)

    def test_the_spawned_go_on_without_who_has_spawned_them(self):
        self.assertEqual(lines(self.ok(poe(self.program, "leave"))), ["goes on"])

    def test_death_of_a_spawned_task_ends_all(self):
        result = poe(self.program, "die", "-procs", "2")
        self.assertEqual(result.returncode, 128 + signal.SIGKILL, result.stderr)
        self.assertIn(b"task 3 (node ", result.stderr)
        self.assertIn(b"SIGKILL", result.stderr)

    def test_abort_of_a_spawned_task_ends_all(self):
        result = poe(self.program, "abort", "-procs", "2")
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertRegex(result.stderr, rb"task [23] \(node .*aborted the job with code 7")

    def test_a_spawned_task_that_leaves_ends_all(self):
        result = poe(self.program, "left", "-procs", "2")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, rb"task [23] \(node .*without MPI_Finalize")

    def test_signals_end_all(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            job = start(self.program, "stay", "-procs", "2")
            while b"stay" not in job.stdout.readline():
                self.assertIsNone(job.poll())
            job.send_signal(number)
            _, err = job.communicate(timeout=60)
            self.assertEqual(job.returncode, status, err)

    def test_people_see_and_end_them(self):
        job = start(self.program, "stay", "-procs", "2")
        while b"stay" not in job.stdout.readline():
            self.assertIsNone(job.poll())
        listed = subprocess.run([BUILD / "bin" / "poestat"], capture_output=True, text=True, check=True).stdout
        mine = [line.split()[0] for line in listed.splitlines() if str(job.pid) in line.split()]
        self.assertEqual(len(mine), 2, listed)
        self.assertEqual(mine[1], mine[0] + "-s1")
        ended = subprocess.run([BUILD / "bin" / "poekill", mine[0][:-2]], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout), (0, f"job {mine[0]} has been ended\n"), ended.stderr)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 143, err)

    def test_death_of_a_spawned_jobs_daemon_ends_all(self):
        job = start(self.program, "stay", "-procs", "2")
        while b"stay" not in job.stdout.readline():
            self.assertIsNone(job.poll())
        daemons = wait_for(lambda: sorted(pid for pid in children_of(job.pid) if "pmd --channel" in processes()[pid][2]), "the daemons")
        self.assertEqual(len(daemons), 2)
        os.kill(daemons[-1], signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, err)
        self.assertIn(b"pmd", err)

    def test_killed_poe_leaves_nothing(self):
        job = start(self.program, "stay", "-procs", "2")
        while b"stay" not in job.stdout.readline():
            self.assertIsNone(job.poll())
        job.kill()
        job.communicate(timeout=60)

    def test_tasks_meet_by_a_name(self):
        self.assertEqual(lines(self.ok(poe(self.program, "meet", "-procs", "3"))), ["met: 2 tasks add up"])


class SpawnByPmi1(LaunchTest):
    def test_requests_put_together(self):
        result = self.ok(poe(CLIENT, "-procs", "2"))
        self.assertEqual(lines(result), ["first-0 is at port-0", "first: 0 of 3, program 0", "second-1 is at port-1",
                                         "second-2 is at port-2", "second: 1 of 3, program 1", "second: 2 of 3, program 1"])

    def test_refusals(self):
        result = self.ok(poe(CLIENT, "missing", "-procs", "2"))
        self.assertEqual(lines(result), ["refused"])
        self.assertIn(b"/nonexistent/program", result.stderr)
        result = self.ok(poe(CLIENT, "endless"))
        self.assertEqual(lines(result), ["refused"])
        self.assertIn(b"MPI_Comm_spawn", result.stderr)


if __name__ == "__main__":
    main()
