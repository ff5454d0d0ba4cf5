#!/usr/bin/env python3
"""The marker array of whole jobs: mp_marker.h in C and Fortran, mpmark in scripts, pmarray's lines, JSON
and table; the job is not disturbed by those who look."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from launching import BUILD, EXAMPLES, SOURCE, LaunchTest, clean_environment, main, poe, start, wait_for

PMARRAY = str(BUILD / "bin" / "pmarray")
MPMARK = str(BUILD / "bin" / "mpmark")


def environment(**changes):
    return clean_environment(LC_ALL="C.UTF-8", PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}", **changes)


def pmarray(*args, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([PMARRAY, *map(str, args)], capture_output=True, text=True, timeout=60, env=environment(), **options)


class MarkerTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "marker_tasks")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(SOURCE / "tests/multiproc/marker_tasks.c"), "-O1", "-o", cls.program],
                       check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @contextlib.contextmanager
    def running(self, *command, tasks=3, flags=()):
        """A job whose tasks have all said "ready"; its tasks go on when they get a line."""
        job = start(*command, self.marker, "-procs", str(tasks), *flags, stdin=subprocess.PIPE, env=environment())
        try:
            for _ in range(tasks):
                self.assertEqual(job.stdout.readline(), b"ready\n")
            yield job
        finally:
            if job.poll() is None:
                job.terminate()
            job.communicate(timeout=60)

    def rows(self, job):
        """task -> what pmarray -once -json says."""
        result = pmarray("-once", "-json", job.pid)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0]["tasks"], len(lines) - 1)
        return {line["task"]: line for line in lines[1:]}


class PlainPrograms(MarkerTest):
    def test_what_the_kernel_knows(self):
        """A program without MPL has processor time, memory and switches in its row; a shell's child counts with it."""
        script = "import time\nwhile True: sum(range(20000)); time.sleep(0.002)"
        job = start("sh", "-c", f"/usr/bin/python3 -c '{script}'; true", self.marker, "-procs", "1", env=environment())
        wait_for(lambda: pmarray("-once", "-json", job.pid).returncode == 0, "the job")
        display = subprocess.Popen([PMARRAY, "-json", str(job.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   env=environment())
        try:
            for line in display.stdout:
                row = json.loads(line)
                if "cpu_percent" in row and row.get("memory", 0) > 1 << 20 and row.get("switches_per_second", 0) > 0:
                    break
            else:
                self.fail("pmarray has ended")
        finally:
            job.terminate()
            job.communicate(timeout=60)
            display.communicate(timeout=60)


class Calls(MarkerTest):
    def test_lights_texts_and_progress(self):
        with self.running(self.program, "0") as job:
            rows = self.rows(job)
            for task in range(3):
                self.assertEqual(rows[task]["text"], f"task {task} says größer")
                self.assertEqual(rows[task]["progress"], {"done": task, "total": 4})
                lights = rows[task]["lights"]
                self.assertEqual((lights[0], lights[20], len(lights)), (25, 99, 21))
            self.assertEqual(rows[2]["lights"][2], 62)

    def test_number_of_lights(self):
        with self.running(self.program, "0", flags=("-pmlights", "2")) as job:
            self.assertEqual([row["lights"] for row in self.rows(job).values()], [[25], [25, 62], [25]])
        with self.running(self.program, "0", flags=("-pmlights", "0")) as job:
            self.assertEqual({(len(row["lights"]), row["text"]) for row in self.rows(job).values()}, {(0, "")})

    def test_fortran(self):
        source = os.path.join(self.directory.name, "lights.f90")
        program = os.path.join(self.directory.name, "lights")
        pathlib.Path(source).write_text("""
program lights
    use mpl
    integer :: n
    character(len=1) :: go
    call mp_nlights(n)
    call mp_marker(n - 1, 12, 'from Fortran   ')
    call mp_progress(1, 2)
    print '(a)', 'ready'
    flush(6)
    read *, go
end program lights
""")
        subprocess.run([str(BUILD / "bin" / "mpfort"), source, "-o", program], check=True)
        with self.running(program, tasks=1, flags=("-pmlights", "5")) as job:
            row = self.rows(job)[0]
            self.assertEqual((row["text"], row["lights"], row["progress"]),
                             ("from Fortran", [None] * 4 + [12], {"done": 1, "total": 2}))

    def test_scripts(self):
        with self.running("sh", "-c", "mpmark 1 red I am $MP_CHILD; mpmark 0 7; mpmark -progress 3 4; echo ready; read go") as job:
            for task, row in self.rows(job).items():
                self.assertEqual((row["text"], row["lights"], row["progress"]["done"]), (f"I am {task}", [7, 62], 3))

    def test_mistakes_of_scripts(self):
        for words, expected in (((), "a light and a colour"), (("x", "red"), "not the number of a light"), (("1",), "a colour is missing"),
                                (("1", "pink"), "not a colour"), (("-progress", "1"), "two whole numbers"),
                                (("-progress", "1", "x"), "two whole numbers")):
            result = subprocess.run([MPMARK, *words], capture_output=True, text=True, env=environment(), timeout=60)
            self.assertEqual(result.returncode, 2)
            self.assertIn(expected, result.stderr)
        self.assertEqual(subprocess.run([MPMARK, "1", "red", "text"], env=environment(), timeout=60).returncode, 0)
        broken = subprocess.run([MPMARK, "1", "red"], capture_output=True, text=True, timeout=60,
                                env=environment(MP_CHILD=0, MP_SEGMENT="/nowhere"))
        self.assertEqual(broken.returncode, 2)
        self.assertIn("/nowhere", broken.stderr)


class Lines(MarkerTest):
    def test_changes_until_the_end(self):
        with self.running(self.program, "crash") as job:
            with subprocess.Popen([PMARRAY, str(job.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=environment()) as watcher:
                self.assertIn("3 tasks", watcher.stdout.readline())
                self.assertIn("task 0  light 0 green", watcher.stdout.readline())
                job.stdin.write(b"go\n")
                job.stdin.flush()
                rest = watcher.stdout.read()
                errors = watcher.stderr.read()
            self.assertEqual((watcher.returncode, errors), (0, ""))
            self.assertIn('task 1  "task 1 says größer"', rest)
            self.assertIn('task 1  "the end"', rest)
            self.assertIn("task 1  killed by SIGABRT", rest)
            self.assertTrue(rest.endswith("the job has ended\n"), rest)

    def test_json_of_changes(self):
        with self.running(self.program, "3") as job:
            with subprocess.Popen([PMARRAY, "-json", str(job.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                  env=environment()) as watcher:
                first = json.loads(watcher.stdout.readline())
                self.assertEqual(first["tasks"], 3)
                job.stdin.write(b"go\n")
                job.stdin.flush()
                lines = [json.loads(line) for line in watcher.stdout.read().splitlines()]
            self.assertTrue(lines[-1]["ended"])
            last = {line["task"]: line for line in lines[:-1]}
            for task in range(3):
                self.assertEqual((last[task]["state"], last[task]["doing"], last[task]["text"]),
                                 ("failed", "ended with code 3", "the end"))

    def test_table(self):
        with self.running(self.program, "0") as job:
            text = pmarray("-once", "-filter", "rank=1-2", job.pid).stdout
            self.assertIn("marker_tasks  3 tasks", text)
            self.assertIn("task 2 says größer", text)
            self.assertNotIn("task 0 says", text)

    def test_nobody_reads(self):
        with self.running(self.program, "0") as job:
            watcher = subprocess.Popen([PMARRAY, str(job.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment())
            watcher.stdout.readline()
            watcher.stdout.close()
            self.assertEqual(watcher.wait(60), 2)

    def test_a_stopped_task(self):
        with self.running(self.program, "0") as job:
            pid = self.rows(job)[1]["pid"]
            os.kill(pid, signal.SIGSTOP)
            wait_for(lambda: self.rows(job)[1]["state"] == "stopped", "the task to stop")
            os.kill(pid, signal.SIGCONT)

    def test_wrong_arguments(self):
        for words, expected in ((("-onse",), "did you mean -once?"), (("no-such-job",), "no running job is called"),
                                (("-filter", "rank=x"), "is no range"), (("a", "b"), "one job at a time")):
            result = pmarray(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(expected, result.stderr)
        self.assertIn("Usage: pmarray", pmarray("-h").stdout)


class Disturbance(MarkerTest):
    def test_a_job_does_not_notice_who_looks(self):
        """Watchers that are killed or stopped; the job ends as always."""
        with self.running(self.program, "0") as job:
            watchers = [subprocess.Popen([PMARRAY, "-json", str(job.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         env=environment()) for _ in range(3)]
            for watcher in watchers:
                watcher.stdout.readline()
            watchers[0].kill()
            watchers[1].send_signal(signal.SIGSTOP)
            out, errors = job.communicate(b"go\n", timeout=60)
            self.assertEqual((job.returncode, out, errors), (0, b"", b""))
            watchers[1].send_signal(signal.SIGCONT)
            for watcher in watchers:
                watcher.communicate(timeout=60)
            self.assertEqual([watcher.returncode for watcher in watchers], [-signal.SIGKILL, 0, 0])

    def test_heat2d(self):
        """The same plate, to the last bit, on any number of tasks."""
        sums = set()
        for tasks in (1, 2, 3, 4, 6):
            result = self.ok(poe(str(EXAMPLES / "heat2d"), "32", "250", "-procs", str(tasks), env=environment()))
            sums.add(result.stdout.split()[-1])
        self.assertEqual(len(sums), 1, sums)

    def test_farm(self):
        result = self.ok(poe(str(SOURCE / "examples/farm.py"), "6", "-procs", "2", env=environment()))
        self.assertEqual(result.stdout.count(b" = "), 6)


if __name__ == "__main__":
    main()
