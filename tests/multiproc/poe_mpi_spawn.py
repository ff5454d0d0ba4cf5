#!/usr/bin/env python3
"""Tasks of MPI that start tasks, and jobs that connect with each other, on our own library."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from launching import BUILD, LaunchTest, clean_environment, main, poe, running, start, wait_for


class SpawnTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        # A copy, whose processes are those of this test.
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = shutil.copy(BUILD / "bin" / "mpi_spawn_tasks", cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def tearDown(self):
        super().tearDown()
        wait_for(lambda: not running(self.program), "the tasks to be gone")

    def run_ok(self, *arguments):
        result = self.ok(poe(self.program, *arguments))
        self.assertEqual(result.stdout, b"")
        return result


class Spawn(SpawnTest):
    def test_messages_collectives_and_communicators(self):
        for tasks in ("1", "2", "3"):
            self.run_ok("use", "-procs", tasks)

    def test_over_tcp(self):
        self.run_ok("use", "-procs", "2", "-euilib", "ip")

    def test_announced_messages_and_little_memory(self):
        self.run_ok("use", "-procs", "2", "-eager_limit", "0")
        self.run_ok("use", "-procs", "2", "-buffer_mem", "16384")

    def test_several_programs(self):
        for tasks in ("1", "2"):
            self.run_ok("several", "-procs", tasks)

    def test_three_generations_in_one_communicator(self):
        self.run_ok("generations", "-procs", "2")

    def test_windows_over_jobs(self):
        for options in (("-procs", "2"), ("-procs", "1"), ("-procs", "2", "-euilib", "ip"),
                        ("-procs", "2", "-buffer_mem", "16384")):
            self.run_ok("windows", *options)

    def test_jobs_that_a_third_one_connects(self):
        self.run_ok("bridge", "-procs", "2")

    def test_many_at_the_same_time(self):
        self.run_ok("many", "-procs", "3")

    def test_several_threads(self):
        self.run_ok("threads", "-procs", "2")

    def test_errors_say_why_and_the_job_goes_on(self):
        result = poe(self.program, "errors", "-procs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"/no/such/program", result.stderr)

    def test_children_that_end_before_mpi_init(self):
        for options in (("-procs", "2"), ("-procs", "1"), ("-procs", "2", "-euilib", "ip")):
            result = poe(self.program, "early", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            program = re.escape(self.program.encode())
            failures = re.findall(rb"which failed: (%s \(task \d+ on node \S+\)) (.*) before it had called MPI_Init" % program,
                                  result.stderr)
            self.assertEqual([how for _, how in failures], [b"exited with code 0", b"exited with code 3", b"exited with code 1",
                                                            b"exited with code 1", b"was killed by signal 9"], result.stderr)

    def test_a_child_that_dies_ends_the_job(self):
        result = poe(self.program, "die", "-procs", "2")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rb"task 0 of job \S+-s1 on \S+ was lost")
        self.assertRegex(result.stderr, rb"tasks 2,3 exited with code 7")


class Traces(SpawnTest):
    def test_guests_are_neither_counted_nor_blamed(self):
        with tempfile.TemporaryDirectory() as folder:
            for what in ("use", "windows"):
                self.ok(poe(self.program, what, "-procs", "2", "-tracelevel", "9", cwd=folder))
                told = subprocess.run([str(BUILD / "bin" / "vt"), "-summary", "-json", os.path.join(folder, "mpi_spawn_tasks.trc")],
                                      capture_output=True, text=True, check=True)
                summary = json.loads(told.stdout)
                self.assertGreater(summary["messages"] + summary["collective_messages"], 0)
                self.assertEqual((summary["unmatched"], summary["problems"]), (0, []), what)
                for each in summary["blame"] + summary["stalls"]:
                    self.assertLessEqual({each["task"], each["whom"]}, {0, 1})
                self.assertLessEqual({cause["task"] for cause in summary["root_causes"]}, {0, 1})


class Waits(SpawnTest):
    def test_a_wait_for_another_job_is_no_deadlock(self):
        result = self.ok(poe(self.program, "slow", "-procs", "2", env=clean_environment(MP_DEADLOCK_TIMEOUT=1)))
        self.assertEqual(result.stderr, b"")

    def test_poestat_shows_the_wait(self):
        job = start(self.program, "wait", "-procs", "1")

        def both_wait():
            shown = subprocess.run([str(BUILD / "bin" / "poestat"), str(job.pid)], capture_output=True, text=True, check=False)
            # The parent takes a message from any child, and its communicator has no name. A task tells a name when its wait
            # has lasted a while.
            wait = "MPI_Recv from (any tag 0, 4 B in communicator|another job tag 0, 4 B in MPI_COMM_PARENT)"
            return len(set(re.findall(wait, shown.stdout))) == 2 and shown.stdout

        try:
            shown = wait_for(both_wait, "both tasks to wait")
            self.assertNotIn("MPI_COMM_WORLD", shown)
            self.assertRegex(shown, r"(?m)^job \S+-s1: .*, 1 task on 1 node")
            listed = json.loads(subprocess.run([str(BUILD / "bin" / "poestat"), "-json", str(job.pid)], capture_output=True,
                                               text=True, check=True).stdout)
            self.assertEqual(listed["spawned"], [listed["job"] + "-s1"])
        finally:
            job.terminate()
            job.communicate(timeout=60)


    def test_pmarray_shows_spawned_tasks_as_rows_of_their_job(self):
        job = start(self.program, "wait", "-procs", "2")

        def shown(*arguments):
            done = subprocess.run([str(BUILD / "bin" / "pmarray"), "-once", "-json", *arguments], capture_output=True, text=True,
                                  check=False)
            return [json.loads(line) for line in done.stdout.splitlines()]

        def three_rows():
            lines = shown(str(job.pid))
            return len(lines) == 4 and all("pid" in row for row in lines[1:]) and lines

        try:
            # By itself pmarray shows the job, although the one of the spawned task is newer.
            facts, *rows = wait_for(three_rows, "the spawned task to be shown")
            self.assertEqual(facts["tasks"], 3)
            self.assertEqual([row["task"] for row in rows], [0, 1, 2])
            self.assertNotRegex(facts["job"], r"-s\d+$")
            spawned = shown(facts["job"] + "-s1")
            self.assertEqual((spawned[0]["tasks"], len(spawned)), (1, 2))
        finally:
            job.terminate()
            job.communicate(timeout=60)


class TwoJobs(SpawnTest):
    def connect(self, server, client, clients=1, **options):
        with tempfile.TemporaryDirectory() as folder:
            port = os.path.join(folder, "port")
            first = start(self.program, "serve", port, str(clients), *server)
            for _ in range(clients):
                self.ok(poe(self.program, "ask", port, *client, **options))
            output, errors = first.communicate(timeout=60)
            self.assertEqual((first.returncode, output, errors), (0, b"", b""))

    def test_two_jobs_connect(self):
        self.connect(["-procs", "2"], ["-procs", "3"])
        self.connect(["-procs", "1"], ["-procs", "1"])

    def test_jobs_with_different_settings(self):
        self.connect(["-procs", "2", "-eager_limit", "65536", "-buffer_mem", "1M"],
                     ["-procs", "2", "-eager_limit", "100", "-buffer_mem", "64K"])
        self.connect(["-procs", "2", "-euilib", "ip"], ["-procs", "2"])

    def test_several_clients_one_after_another(self):
        self.connect(["-procs", "2"], ["-procs", "1"], clients=3)


class Names(SpawnTest):
    """Names that another job has published."""

    def setUp(self):
        super().setUp()
        self.word = self.marker

    def known(self):
        return self.ok(poe(self.program, "seek", self.word, "-procs", "1")).stdout.decode().strip()

    def test_another_job_finds_a_service(self):
        for server, client in (("2", "1"), ("1", "2")):
            first = start(self.program, "publish", self.word, "found", "-procs", server)
            self.run_ok("find", self.word, "-procs", client)
            output, errors = first.communicate(timeout=60)
            self.assertEqual((first.returncode, output, errors), (0, b"", b""))
            self.assertEqual(self.known(), "0000")

    def test_names_vanish_when_their_poe_is_killed(self):
        job = start(self.program, "publish", self.word, "killed", "-procs", "1")
        wait_for(lambda: self.known() == "1111", "the names to be known")
        job.kill()
        job.communicate(timeout=60)
        self.assertEqual(self.known(), "0000")

    def test_names_vanish_when_their_job_is_ended(self):
        job = start(self.program, "publish", self.word, "killed", "-procs", "1")
        wait_for(lambda: self.known() == "1111", "the names to be known")
        job.terminate()
        job.communicate(timeout=60)
        self.assertEqual(self.known(), "0000")


if __name__ == "__main__":
    main()
